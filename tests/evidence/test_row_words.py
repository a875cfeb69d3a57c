"""The words that columns take: each is understood, in any spelling, and means one thing."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from steptime.evidence.row_network import network_gbit
from steptime.evidence.schema import PublishedRow
from steptime.inputs.device_words import preset_named
from steptime.inputs.fact import KINDS
from steptime.inputs.generation import ANY, generations
from steptime.inputs.layout import PRECISIONS, RECOMPUTE, SCHEDULES
from steptime.inputs.presets import accelerator_names
from steptime.inputs.run_words import (
    entries,
    folded,
    is_blank,
    list_of,
    pieces,
    word_of,
    words,
)
from steptime.inputs.stack import FACT_NAMES, families, stack_names

DATA = Path(__file__).parents[2] / "data"
TABLE = tomllib.loads((DATA / "run_words.toml").read_text(encoding="utf-8"))
COLUMNS = [name for name, value in TABLE.items() if isinstance(value, dict)]
BIB = (DATA / "references.bib").read_text(encoding="utf-8")
KEYS = set(re.findall(r"^@\w+\{([^,\s]+)", BIB, re.MULTILINE))
WORDS = [
    (column, key, text)
    for column in COLUMNS
    for key, entry in TABLE[column].items()
    for text in (*entry.get("words", ()), *entry.get("printed", ()))
]
VALUES = {
    "recompute": set(RECOMPUTE),
    "precision": {*PRECISIONS, "wider"},
    "zero": {"0", "1", "2", "3"},
    "schedule": set(SCHEDULES),
    "attention_kernel": {kernel for one in generations().values() for kernel in one.kernels}
    - {ANY},
    "flop_convention": {"hardware", "model", "causal", "parameters"},
}


@pytest.mark.parametrize(("column", "key", "text"), WORDS)
def test_each_word_is_understood_in_any_spelling(column: str, key: str, text: str) -> None:
    for spelling in (text, text.upper(), f"  {text.replace('-', ' ')} ", text.replace(" ", "_")):
        word = word_of(column, spelling)
        # Words that change nothing may be a single mark, which folds to none.
        assert word is not None or not folded(text)
        assert word is None or word.key == key


@pytest.mark.parametrize("column", COLUMNS)
def test_no_word_means_two_things(column: str) -> None:
    found: dict[str, str] = {}
    for key, entry in TABLE[column].items():
        for text in (key, *entry.get("words", ()), *entry.get("printed", ())):
            assert found.setdefault(folded(text), key) == key, text


@pytest.mark.parametrize("column", sorted(VALUES))
def test_words_mean_what_the_models_know(column: str) -> None:
    found = {word.value for word in words(column).values()}
    assert found == VALUES[column]


def test_every_column_is_one_of_the_rows_or_of_their_parts() -> None:
    assert set(COLUMNS) - set(PublishedRow.model_fields) == {"recompute_module"}
    for column in COLUMNS:
        for word in words(column).values():
            assert set(word.facts) <= set(FACT_NAMES)
            assert word.meaning


def test_every_word_for_software_means_a_stack_or_a_family() -> None:
    for entry in entries("software").values():
        assert entry["value"] in {*families(), *stack_names()}


def test_facts_of_a_precisions_word_have_a_kind_and_a_source() -> None:
    stating = [entry for entry in entries("precision").values() if "facts" in entry]
    assert len(stating) == 5
    for entry in stating:
        assert entry["kind"] in KINDS
        assert re.split("[:,]", entry["source"])[0] in KEYS


def test_every_preset_of_a_device_has_words() -> None:
    assert {word.key for word in words("gpu").values()} == {
        *accelerator_names(),
        *("beside", "other_parts"),
    }
    for name in accelerator_names():
        assert {preset_named(word) for word in entries("gpu")[name]["words"]} == {name}


@pytest.mark.parametrize(
    ("text", "preset"),
    [
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("h100 sxm5", "h100"),
        ("NVIDIA B300 SXM6 AC", "b300"),
        ("H100 PCIe", "h100-pcie"),
        ("H100 NVL", None),
        ("an H100 or so", None),
        ("beside", None),
        ("", None),
    ],
)
def test_a_device_is_known_by_its_whole_name(text: str, preset: str | None) -> None:
    assert preset_named(text) == preset


@pytest.mark.parametrize("text", TABLE["blank"])
def test_what_says_nothing_is_blank_and_no_word(text: str) -> None:
    assert is_blank(text)
    assert all(word_of(column, text) is None for column in VALUES)


@pytest.mark.parametrize("text", ["-1", "zero -1", "\N{MINUS SIGN}1", "\N{EN DASH} 2 or -3"])
def test_a_number_below_zero_is_no_word_of_one_above(text: str) -> None:
    assert word_of("zero", text) is None
    assert network_gbit(f"{text} Gb/s per GPU") is None
    assert word_of("zero", "ZeRO-1") is word_of("zero", "1")


def test_cells_are_cut_into_numbers_and_letters() -> None:
    assert pieces("8x HDR, 3.2Tb/s", "/") == ("8", "x", "HDR", "3.2", "Tb/s")
    known, unknown = list_of("overlap", "tp dp; async-tp+p2p, zigzag tp")
    assert [word.key for word in known] == ["tp", "dp", "tp", "pp"]
    assert unknown == ("zigzag tp",)
    assert list_of("overlap", "not-stated") == ((), ())


@pytest.mark.parametrize("unit", TABLE["network"]["units"]["gbit"])
def test_every_unit_of_the_network_is_read(unit: str) -> None:
    assert network_gbit(f"100 {unit}") == 100.0 * TABLE["network"]["units"]["gbit"][unit]


# ---- the page that describes them


def test_the_readme_names_every_column_and_every_meaning() -> None:
    said = (DATA / "README.md").read_text(encoding="utf-8")
    table = said.partition("## Words that columns take")[2].partition("\n## ")[0]
    rows = {
        line.split("|")[1]: line.split("|")[2] for line in table.splitlines() if "`" in line[:4]
    }
    for column in [*VALUES, "overlap", "dispatcher", "mem_unit", "mem_rank", "mem_reading"]:
        (cell,) = (text for head, text in rows.items() if f"`{column}`" in head)
        assert [key for key in TABLE[column] if key not in cell] == []
    described = said.partition("## Columns of")[2].partition("\n## ")[0]
    shown = set(PublishedRow.model_fields) - {"url_or_path", "derived_step_time_s"}
    assert {name for name in shown if f"`{name}`" not in described} == set()
