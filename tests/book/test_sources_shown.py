"""Sources as readers meet them: by name, with a link, in pages and in results.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steptime.book.references import Reference, references, url_of, who, with_names
from steptime.book.results.captions import captions, with_captions, with_leads
from steptime.book.results.notebooks import all_notebooks
from steptime.book.results.page import sources
from steptime.book.site import results_page
from steptime.book.site.citations import named

ROOT = Path(__file__).resolve().parents[2]
KEYS = frozenset(references())

# The bibliography


def test_every_entry_has_a_name_of_its_own_and_a_link() -> None:
    found = references()
    text = (ROOT / "data" / "references.bib").read_text(encoding="utf-8")
    assert list(found) != []
    assert set(found) == set(re.findall(r"^@\w+\{([^,\s]+)", text, re.MULTILINE))
    assert len({one.name for one in found.values()}) == len(found)
    assert [one.key for one in found.values() if not one.url.startswith("https://")] == []
    assert [one.key for one in found.values() if re.search(r"[{}\\]", one.name + one.title)] == []


@pytest.mark.parametrize(
    ("author", "name"),
    [
        ("Huang, Yanping", "Huang"),
        ("Liu, Hao and Abbeel, Pieter", "Liu and Abbeel"),
        ("Qi, P. and Wan, X. and Huang, G.", "Qi et al."),
        ("Grattafiori, Aaron and others", "Grattafiori et al."),
        ("NVIDIA", "NVIDIA"),
        ("Le Scao, Teven and Fan, Angela and others", "Le Scao et al."),
    ],
)
def test_people_are_named_as_in_a_sentence(author: str, name: str) -> None:
    assert who(author) == name


def test_names_that_would_be_the_same_get_a_letter_in_the_order_of_titles(tmp_path: Path) -> None:
    entry = "@misc{%s,\n  author = {Qi, P.},\n  title = {{%s}},\n  year = {2024}\n}\n"
    path = tmp_path / "some.bib"
    path.write_text(entry % ("first", "Zero Bubbles") + entry % ("second", "A Pipeline"))
    found = references(path)
    assert found["second"] == Reference("second", "Qi, 2024a", "A Pipeline", "")
    assert found["first"].name == "Qi, 2024b"


@pytest.mark.parametrize(
    ("fields", "url"),
    [
        ({"doi": "10.1/x", "note": "arXiv:2104.04473"}, "https://doi.org/10.1/x"),
        ({"note": "arXiv:2104.04473"}, "https://arxiv.org/abs/2104.04473"),
        ({"howpublished": "a-b/c.d@b5bcd76c, docs/"}, "https://github.com/a-b/c.d/tree/b5bcd76c"),
        ({"howpublished": "NVIDIA data sheet", "url": "https://e.org/"}, "https://e.org/"),
        ({"howpublished": "NVIDIA data sheet"}, ""),
    ],
)
def test_the_most_lasting_address_comes_first(fields: dict[str, str], url: str) -> None:
    assert url_of(fields) == url


# Keys in tables and in results.md


def test_known_keys_become_citations_and_code_stays_code() -> None:
    text = "| qi2023, Table 2 | -4.7 % | 8 × 1 × 16 | `qi2023` | own2020 | a-1 |"
    assert named(text, frozenset({"qi2023"})) == (
        "| {cite:t}`qi2023`, Table 2 | −4.7 % | 8\u00a0×\u00a01\u00a0×\u00a016 "
        "| `qi2023` | own2020 | a-1 |"
    )
    assert named("{cite:p}`qi2023,qi2024`", KEYS) == "{cite:p}`qi2023,qi2024`"


def test_results_end_with_the_sources_that_they_name_and_no_others() -> None:
    said = sources("measured [narayanan2021]; as qi2024, Sec. 3; own2020")
    assert re.findall(r"^- `(\w+)`: (.+?)\. \[", said, re.MULTILINE) == [
        ("narayanan2021", "Narayanan et al., 2021"),
        ("qi2024", "Qi et al., 2024a"),
    ]
    assert "(https://arxiv.org/abs/2104.04473)" in said
    assert sources("nothing") == ""


def test_results_page_has_question_answer_and_way_of_each_section_and_no_table() -> None:
    text = (
        "# Results\n\nMade by `make results`.\n\n## §11 A\n\nmeasured [narayanan2021, qi2024] "
        "[other2020].\n\n*What is in it.*\n\n| a |\n| --- |\n| 1 |\n\nExplained.\n\n"
        "**Reading.** It is so [qi2024].\n\n"
        "Notebook: [a.ipynb](notebooks/11_a.ipynb) · sources: narayanan2021, own2020.\n\n"
        "## Sources\n\n- `narayanan2021`: one.\n"
    )
    page = results_page.linked(text, KEYS)
    assert page.startswith(results_page.HEAD)
    assert page.removeprefix(results_page.HEAD) == (
        "\n## §11 A\n\nmeasured {cite:p}`narayanan2021,qi2024` [other2020].\n\n"
        ":::{admonition} In short\n:class: tip st-answer\nIt is so {cite:p}`qi2024`.\n:::\n\n"
        "{doc}`Tables, figures and code of §11 </build/notebooks/11_a>`\n"
    )


def test_each_section_of_results_leads_to_its_notebook() -> None:
    text = (ROOT / "results.md").read_text(encoding="utf-8")
    page = results_page.linked(text, KEYS)
    for one in all_notebooks():
        assert f"</build/notebooks/{one.name}>`" in page
        assert f"\n## §{one.section} " in page


# Captions


def test_captions_are_the_comments_that_a_cell_begins_with() -> None:
    assert captions("# One.\n#\n# Three.\nf(x)  # four\n# five") == ["One.", "", "Three."]
    assert captions("f(x)") == []


def test_each_table_gets_its_own_caption_and_sentences_stay() -> None:
    table = "| a | b |\n| --- | ---: |\n| 1 | 2 |"
    text = f"{table}\n\nSaid between:\n\n{table}\n\n{table}"
    done = with_captions(text, ["First", "", "Third"], lambda body, said: f"<{said}>{body}")
    assert done == f"<First>{table}\n\nSaid between:\n\n{table}\n\n<Third>{table}"


def test_a_sentence_that_leads_to_a_table_is_its_caption_and_others_are_not() -> None:
    table = "| a |\n| --- |\n| 1 |\n"
    text = f"Kept by one device:\n\n{table}\nA sentence.\n\n{table}\n:::{{table}} x:\n\n{table}"
    done = with_leads(text, lambda body, said: f"<{said}>{body}")
    assert done == (
        f"<Kept by one device.>{table}\nA sentence.\n\n{table}\n:::{{table}} x:\n\n{table}"
    )


def test_keys_become_names_and_other_words_stay() -> None:
    found = with_names("brown2020, Table 2.1; gpt2023; vocabulary padded as in narayanan2021")
    assert found == (
        "Brown et al. 2020, Table 2.1; gpt2023; vocabulary padded as in Narayanan et al. 2021"
    )
