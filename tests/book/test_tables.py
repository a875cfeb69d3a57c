"""Tables: numbers that print the same everywhere, and Markdown that parses."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.book import tables


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (9.996, "10.0"),
        (99.96, "100"),
        (0.000123, "0.000123"),
        (1234567.0, "1,234,567"),
        (-0.0, "0"),
        (1e-9, "1.00e-09"),
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "∞"),
    ],
)
def test_number(value: float | None, text: str) -> None:
    assert tables.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.108, "+10.8 %"), (-0.021, "-2.1 %"), (-0.0001, "0.0 %"), (0.0, "0.0 %"), (None, "–")],
)
def test_signed_percent(value: float | None, text: str) -> None:
    assert tables.signed_percent(value) == text


@given(st.floats(min_value=1e-4, max_value=1e14))
def test_number_is_within_half_of_its_third_digit(value: float) -> None:
    printed = float(tables.number(value).replace(",", ""))
    assert abs(printed - value) <= 0.5000001 * 10 ** (math.floor(math.log10(value)) - 2)


def test_table_aligns_numbers_right_and_escapes_bars() -> None:
    text = tables.markdown_table(
        ["run", "error (%)"], [["a|b", 1.5], {"run": "c", "error (%)": None}]
    )
    assert text.splitlines() == [
        "| run | error (%) |",
        "| --- | ---: |",
        "| a\\|b | 1.50 |",
        "| c | – |",
    ]


def test_blocks_are_set_apart_by_one_blank_line() -> None:
    assert tables.show("a\n", "b")._repr_markdown_() == "a\n\nb"


@pytest.mark.parametrize("rows", [[["one"]], [["one", "two", "three"]]])
def test_row_of_the_wrong_length_is_refused(rows: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="cells for 2 columns"):
        tables.markdown_table(["a", "b"], rows)


def test_empty_head_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a head"):
        tables.markdown_table(["a", ""], [])
