"""What the site makes of notebooks, links and worked examples, for readers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from steptime.book.figures.narrow import WIDE_ONLY, WIDTH_IN, narrowed
from steptime.book.results.notebooks import all_notebooks
from steptime.book.site import notebook_page, share
from steptime.book.site.card import HEIGHT_PX, NAME, WIDTH_PX, write_card
from steptime.book.study import examples

ROOT = Path(__file__).resolve().parents[2]
VALUE = re.compile(r"\{value\}`(\w+)`")

# Notebooks as pages


def executed() -> str:
    table = "| source | error |\n| --- | ---: |\n| qi2023, Table 2 | -4.7 % |"
    shown = {"output_type": "display_data", "data": {"text/markdown": [table]}, "metadata": {}}
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# §12 Title\n", "\n", "Why?"]},
        {
            "cell_type": "code",
            "metadata": {"tags": ["results"]},
            "source": ["# What it says.\n", "table(study)"],
            "outputs": [shown],
        },
        {
            "cell_type": "markdown",
            "metadata": {},
            "source": ["**Reading.** At worst {glue:text}`worst`."],
        },
    ]
    return json.dumps({"cells": cells, "metadata": {}})


def test_the_answer_follows_the_question_and_the_code_comes_last() -> None:
    text = notebook_page.page(executed(), frozenset({"qi2023"}), "12_bubble", {"p": [4, 8]})
    cells = json.loads(text)["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "markdown", "code", "markdown"]
    sources = ["".join(cell["source"]) for cell in cells]
    assert sources[0].startswith("# §12 Title\n\nWhy?")
    assert "{doc}`/book/pipeline`" in sources[0]
    assert "In short" in sources[1]
    assert "At worst {value}`worst`." in sources[1]
    assert "Reading" not in sources[1]
    assert "`p = [4, 8]`" in sources[3]
    assert "table(study)" in sources[3]
    assert "remove-input" in cells[2]["metadata"]["tags"]
    shown = cells[2]["outputs"][0]["data"]["text/markdown"]
    assert ":::{table} What it says." in shown
    assert "| {cite:t}`qi2023`, Table 2 | −4.7 % |" in shown
    ids = [cell["id"] for cell in cells if cell["cell_type"] == "markdown"]
    assert len(set(ids)) == 3


@pytest.mark.parametrize("notebook", all_notebooks(), ids=lambda one: one.name)
def test_every_section_leads_to_a_page_that_is_there(notebook: object) -> None:
    section = notebook.section  # type: ignore[attr-defined]
    story = notebook_page.READ_ON.get(section) or notebook_page.READ_ON[section.rstrip("abc")]
    assert (ROOT / "book" / f"{story}.md").is_file()


# What a link shows

PAGE = (
    "<html><head><title>Pipelines &#8212; steptime</title></head><body>"
    '<article class="bd-article"><h1>Pipelines</h1><p>Short.</p>'
    '<div id="sched" class="st-widget"><p>Idle: 27 % of the time, as long as it may be said here.'
    '</p></div><script defer src="x/index.js"></script>'
    "<p>A model that is too large for one GPU is <em>cut</em> into stages &amp; they wait.</p>"
    "</article></body></html>"
)


def test_a_page_says_its_title_and_its_first_sentence_to_those_who_share_it() -> None:
    page = share.shared(PAGE, "../", "book/pipeline.html", "https://example.org/")
    assert '<meta property="og:title" content="Pipelines">' in page
    said = "A model that is too large for one GPU is cut into stages &amp; they wait."
    assert f'<meta name="description" content="{said}">' in page
    assert f'<meta property="og:image" content="https://example.org/{NAME}">' in page
    assert '<meta property="og:url" content="https://example.org/book/pipeline.html">' in page
    assert share.shared(page, "../") == page


def test_without_an_address_the_picture_is_named_from_the_page() -> None:
    page = share.shared(PAGE, "../../")
    assert f'content="../../{NAME}"' in page
    assert "og:url" not in page


def test_a_long_description_ends_with_a_sentence_or_says_that_it_goes_on() -> None:
    for words, end in (("A sentence of its own. " * 20, "."), ("word " * 100, "…")):
        html = f'<article class="bd-article"><p>{words}</p></article>'
        text = share.description(html)
        assert len(text) <= share.LONGEST
        assert text.endswith(end)


def test_the_card_has_its_size_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    from matplotlib.image import imread

    write_card(tmp_path)
    first = (tmp_path / NAME).read_bytes()
    assert imread(tmp_path / NAME).shape[:2] == (HEIGHT_PX, WIDTH_PX)
    write_card(tmp_path)
    assert (tmp_path / NAME).read_bytes() == first
    assert len(first) < 150_000


# Figures on a phone


def test_a_figure_is_laid_out_anew_for_a_phone_with_its_text_as_large() -> None:
    from steptime.book import figures

    with figures.style():
        figure = figures.new()
        axes = figure.subplots()
        for name in ("a long name of a series", "another one", "third", "fourth"):
            axes.plot([1, 2], [1, 2], label=name)
        figure.legend(loc="outside lower center", ncols=4)
        markup = figures.show(figure, alt="Lines rise.").markup
        assert figure.get_size_inches()[0] == WIDTH_IN
    views = [float(one) for one in re.findall(r'viewBox="0 0 ([\d.]+)', markup)]
    assert views == [pytest.approx(460.8), pytest.approx(72 * WIDTH_IN)]
    assert 'class="st-figure st-narrow"' in markup
    assert "st-two" in markup
    sizes = [set(re.findall(r"font-size: ([\d.]+)px", part)) for part in markup.split("<svg")[1:]]
    assert sizes[0] == sizes[1]


def test_a_long_label_is_broken_where_the_column_is_narrow() -> None:
    from steptime.book import figures

    with figures.style():
        figure = figures.new()
        figure.subplots().set_xlabel("step time (% of that on the smaller domains)")
        markup = figures.show(figure, alt="Nothing.").markup
    wide, narrow = markup.split("<svg")[1:]
    assert "on the smaller domains)<" in wide
    assert ">step time (% of that on the<" in narrow
    assert ">smaller domains)<" in narrow


def test_a_figure_that_needs_its_width_stays_as_it_is() -> None:
    from steptime.book import figures

    with figures.style():
        figure = figures.new()
        figure.set_label(WIDE_ONLY)
        assert not narrowed(figure)
        assert figure.get_size_inches()[0] == pytest.approx(6.4)


# Worked examples


def test_every_example_is_on_a_page_and_none_takes_a_notebooks_name() -> None:
    values = examples.example_values()
    pages = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "book").glob("*.md"))
    assert set(values) - set(VALUE.findall(pages)) == set()
    assert all(name.startswith("ex_") for name in values)
    glued = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "notebooks").glob("*.ipynb"))
    assert not re.search(r'glue\(\\"ex_', glued)


@pytest.mark.parametrize(
    ("stages", "share", "chunks", "count"),
    [(16.0, 0.05, 1.0, 285), (4.0, 0.5, 1.0, 3), (4.0, 3.0 / 11.0, 1.0, 8), (2.0, 0.05, 2.0, 10)],
)
def test_micro_batches_for_an_idle_share(
    stages: float, share: float, chunks: float, count: int
) -> None:
    # (p - 1) / (v m + p - 1) solved for m by hand.
    assert examples.micro_batches_for(stages, share, chunks) == count


def test_examples_agree_with_what_papers_print() -> None:
    values = examples.example_values()
    # narayanan2021, Sec. 2.2: 1F1B holds p micro-batches, GPipe all m.
    assert (values["ex_pipe_held_gpipe"], values["ex_pipe_held_1f1b"]) == ("8", "4")
    # narayanan2021, Table 1, first and last row.
    assert (values["ex_rate_first"], values["ex_rate_last"]) == ("137", "163")
    # brown2020, Table 2.1; korthikanti2022, Eq. 2 and 4 with s b h = 2048 x 12288, t = 8.
    assert values["ex_layout_parameters"] == "175 billion"
    assert values["ex_seq_plain"] == f"{2048 * 12288 * (10 + 24 / 8) / 1e9:.2f} GB"
    assert values["ex_seq_split"] == f"{2048 * 12288 * 34 / 8 / 1e9:.2f} GB"
