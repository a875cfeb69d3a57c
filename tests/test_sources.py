"""Every source that is named exists, each that exists is used, and no datum lacks one."""

from __future__ import annotations

import ast
import csv
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steptime.inputs.fact import KINDS

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "data"
# The number of a commit or the digest of a file may hold a year between its letters: it is no key.
KEY = re.compile(r"\b(?![0-9a-f]{7,}\b)[a-z]+(?:19|20)\d\d[a-z0-9]*\b")
CITE = re.compile(r"\{cite(?::[a-z]+)?\}`([^`]+)`")
# What stands in place of a source where there is none to name.
OWN = ("assumed", "fitted", "derived here", "measured")


def bib() -> dict[str, str]:
    """Return each entry's text by its key."""
    text = (DATA / "references.bib").read_text(encoding="utf-8")
    starts = [(hit[1], hit.start()) for hit in re.finditer(r"^@\w+\{([^,\s]+)", text, re.MULTILINE)]
    ends = [start for _, start in starts[1:]] + [len(text)]
    keys = [key for key, _ in starts]
    assert len(keys) == len(set(keys)), "references.bib has a key twice"
    return {key: text[at:end] for (key, at), end in zip(starts, ends, strict=True)}


def docstring_references() -> Iterator[tuple[str, str]]:
    """Yield where a docstring names its sources, and the lines that do."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                text = ast.get_docstring(node) or ""
                name = getattr(node, "name", "module")
                if "References:" in text:
                    said = text.partition("References:")[2]
                    yield f"{path.relative_to(ROOT)}:{name}", said


def pages() -> Iterator[tuple[str, str]]:
    """Yield each page of the book and each notebook's prose."""
    for path in sorted((ROOT / "book").rglob("*.md")):
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        prose = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
        yield path.relative_to(ROOT).as_posix(), "\n".join(prose)


def toml_sources(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield every ``source`` in a TOML file, and where it stands."""
    if isinstance(value, list):
        for place_in, inner in enumerate(value):
            yield from toml_sources(inner, f"{place}.{place_in}")
    if not isinstance(value, dict):
        return
    for name, inner in value.items():
        if name in {"source", "sources"}:
            several = inner.items() if isinstance(inner, dict) else [("", inner)]
            yield from ((f"{place}.{name}.{one}".rstrip("."), text) for one, text in several)
        else:
            yield from toml_sources(inner, f"{place}.{name}")


# Every key that is named is there


def test_keys_in_docstrings_exist() -> None:
    known = bib()
    found = list(docstring_references())
    assert len(found) > 20
    wrong = [
        f"{where}: {key}" for where, text in found for key in KEY.findall(text) if key not in known
    ]
    assert wrong == []


def test_docstring_references_name_a_source_or_say_that_it_is_ours() -> None:
    wrong = [
        where
        for where, text in docstring_references()
        if not KEY.search(text) and not any(word in text.lower() for word in OWN)
    ]
    assert wrong == []


def test_keys_on_pages_and_in_notebooks_exist() -> None:
    known = bib()
    wrong = [
        f"{where}: {key.strip()}"
        for where, text in pages()
        for hit in CITE.findall(text)
        for key in hit.split(",")
        if key.strip() not in known
    ]
    assert wrong == []


# Files of this repository; a source's own files stand behind its key.
OUR_FILE = re.compile(r"\b(?:bench|book|data|notebooks|src|tests)/[\w./-]*\w\.\w+")


def missing_files(text: str) -> list[str]:
    return [name for name in OUR_FILE.findall(text) if not (ROOT / name).is_file()]


def test_files_in_references_exist() -> None:
    assert missing_files("derived here, book/model.md; book/roofline.md.") == ["book/model.md"]
    found = [(where, OUR_FILE.findall(text)) for where, text in docstring_references()]
    assert sum(map(len, (names for _, names in found))) > 5
    wrong = [f"{where}: {missing_files(text)}" for where, text in docstring_references()]
    assert [line for line in wrong if not line.endswith("[]")] == []


# Every datum has a source


@pytest.mark.parametrize("path", sorted(DATA.glob("*.toml")), ids=lambda path: path.name)
def test_every_source_in_a_toml_file_says_something_and_names_known_keys(path: Path) -> None:
    known = bib()
    found = list(toml_sources(tomllib.loads(path.read_text(encoding="utf-8")), path.name))
    assert found, "no source anywhere"
    unknown = [(where, key) for where, text in found for key in KEY.findall(str(text))]
    assert [(where, key) for where, key in unknown if key not in known] == []
    assert [where for where, text in found if len(str(text).strip()) < 6] == []


@pytest.mark.parametrize("name", ["accelerators.toml", "models.toml"])
def test_every_published_figure_names_a_key(name: str) -> None:
    content = tomllib.loads((DATA / name).read_text(encoding="utf-8"))
    wrong = [
        f"{where}: {text}"
        for where, text in toml_sources(content, name)
        if not KEY.search(str(text)) and not str(text).lower().startswith(OWN)
    ]
    assert wrong == []


def fact_lines() -> list[tuple[str, dict[str, Any]]]:
    """Return every line of facts in ``data/``, and where it stands."""
    found = []
    for name in ("stacks.toml", "precisions.toml", "models.toml", "model_types.toml"):
        for owner, entry in tomllib.loads((DATA / name).read_text(encoding="utf-8")).items():
            for fact, lines in entry.get("facts", {}).items():
                several = lines if isinstance(lines, list) else [lines]
                found += [(f"{name}: {owner}.{fact}", line) for line in several]
    return found


def test_every_fact_has_a_kind_and_a_place_or_what_it_was_inferred_from() -> None:
    lines = fact_lines()
    assert len(lines) > 150
    kinds = set(KINDS) - {"stated"}
    assert [where for where, line in lines if line["kind"] not in kinds] == []
    # What is inferred says from what; what was counted, printed or read off names its source.
    known = bib()
    unsaid = [
        where
        for where, line in lines
        if line["kind"] != "inferred" and not set(KEY.findall(line["source"])) & set(known)
    ]
    assert unsaid == []
    assert [where for where, line in lines if len(line["source"].split()) < 2] == []


def test_what_software_and_precisions_lack_names_a_source() -> None:
    said = [one["no_eight_bits"] for _, one in entries("stacks.toml") if "no_eight_bits" in one]
    said += [line["source"] for _, one in entries("abilities.toml") for line in one["limits"]]
    said += [one["since_source"] for _, one in entries("precisions.toml") if "since" in one]
    assert len(said) > 60
    assert all(set(KEY.findall(source)) & set(bib()) for source in said)


def entries(name: str) -> list[tuple[str, dict[str, Any]]]:
    return list(tomllib.loads((DATA / name).read_text(encoding="utf-8")).items())


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        (name, entry)
        for file in ("accelerators.toml", "models.toml")
        for name, entry in entries(file)
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_accelerator_and_model_has_a_source(name: str, entry: dict[str, Any]) -> None:
    source = entry.get("source")
    assert source, name
    if isinstance(source, dict):
        assert "default" in source, name


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_published_row_has_a_source_and_a_place_in_it() -> None:
    known = bib()
    listed = {row["key"] for row in rows(DATA / "sources.csv")}
    runs = rows(DATA / "published_runs.csv")
    assert len(runs) >= 448
    wrong = [
        row["id"]
        for row in runs
        if row["source"] not in listed or row["source"] not in known or not row["location"].strip()
    ]
    assert wrong == []
    ids = [row["id"] for row in runs]
    assert len(ids) == len(set(ids))


def test_every_run_source_is_used_and_every_sweep_names_its_own() -> None:
    used = {row["source"] for row in rows(DATA / "published_runs.csv")}
    listed = {row["key"] for row in rows(DATA / "sources.csv")}
    assert listed - used == set()
    said = (DATA / "README.md").read_text(encoding="utf-8")
    for path in (DATA / "sweeps").glob("*.csv"):
        hit = re.search(rf"`{re.escape(path.name)}` from `([a-z0-9]+)`", said)
        assert hit, f"data/README.md does not say where {path.name} is from"
        assert hit[1] in bib()


# No entry stands there for nothing


def test_every_entry_of_the_bibliography_is_used() -> None:
    texts = [text for _, text in pages()]
    for folder, endings in (("src", {".py"}), ("data", {".toml", ".csv", ".md"})):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in endings:
                texts.append(path.read_text(encoding="utf-8"))
    used = set(KEY.findall("\n".join(texts)))
    assert sorted(set(bib()) - used) == []


def test_every_key_of_the_bibliography_is_one_and_the_number_of_a_commit_is_none() -> None:
    assert all(KEY.fullmatch(key) for key in bib())
    assert KEY.findall("narayanan2021, train.py: came with e1993fa6 and e1993f") == [
        "narayanan2021",
        "e1993f",
    ]
    assert KEY.findall(f"digest {'e1993fa6' * 8}") == []


def test_every_entry_says_who_what_and_when() -> None:
    wrong = [
        key
        for key, text in bib().items()
        if not all(re.search(rf"^\s*{name}\s*=", text, re.MULTILINE) for name in ("title", "year"))
        or not re.search(r"^\s*(author|organization|editor)\s*=", text, re.MULTILINE)
    ]
    assert wrong == []
