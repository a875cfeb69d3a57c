"""Figures: same bytes each time, colours that follow the theme, and words for them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steptime.book import figures
from steptime.book.figures import colours

ROOT = Path(__file__).resolve().parents[2]


def drawing(caption: str = "", alt: str = "Time falls.") -> str:
    with figures.style():
        figure = figures.new()
        axes = figure.subplots()
        axes.plot([1, 2, 3], [3.00125, 2, 1], "o-", label="model")
        axes.set_xlabel("pipeline stages")
        axes.text(1, 1, "0.00125")
        axes.legend()
        return figures.show(figure, caption=caption, alt=alt)._repr_html_()


# Invariants


def test_same_figure_gives_same_bytes() -> None:
    assert drawing() == drawing()


def test_every_reference_has_its_one_target_and_two_figures_share_no_id() -> None:
    first, second = drawing(), drawing(alt="Time rises.")
    ids = re.findall(r' id="([^"]+)"', first)
    targets = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', first))
    assert len(ids) == len(set(ids))
    assert {a or b for a, b in targets} == set(ids)
    assert not set(ids) & set(re.findall(r' id="([^"]+)"', second))


def test_black_is_the_text_colour_and_series_are_css_variables() -> None:
    svg = drawing()
    assert "#000000" not in svg
    assert "currentColor" in svg
    assert "var(--st-forward, #2A5CAA)" in svg


def test_geometry_is_rounded_and_text_is_not() -> None:
    svg = drawing()
    assert ">0.00125<" in svg
    assert not re.search(r' d="[^"]*\d\.\d{3}', svg)


def test_no_style_sheet_reaches_the_page_and_no_blank_line_ends_the_block() -> None:
    svg = drawing(caption="What & why")
    assert "<style" not in svg
    assert "\n\n" not in svg
    assert "<figcaption>What &amp; why</figcaption>" in svg


def test_every_colour_has_a_variable_and_a_dark_partner() -> None:
    assert set(colours.CSS_NAMES) == set(colours.DARK)
    assert set(colours.CYCLE) <= set(colours.CSS_NAMES)


def test_mplstyle_and_style_sheet_hold_the_same_colours() -> None:
    style = (ROOT / "book" / "figures.mplstyle").read_text(encoding="utf-8")
    sheet = (ROOT / "book" / "_static" / "steptime.css").read_text(encoding="utf-8")
    assert ", ".join(f"'{colour[1:]}'" for colour in colours.CYCLE) in style
    for light, name in colours.CSS_NAMES.items():
        assert f"{name}: {light};" in sheet
        assert f"{name}: {colours.DARK[light]};" in sheet


# Refusals


def test_figure_without_words_is_refused() -> None:
    with pytest.raises(ValueError, match="alt= or caption="):
        drawing(alt="")
