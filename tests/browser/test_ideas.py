"""Small figures in Chromium: they follow their one control, stand without script, fit a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

FRAMES = ("columns", "ring", "exchange")
ALL = ("memory", "split", "cube", *FRAMES)
LARGEST = 60_000
"""Bytes of a figure's scripts, and as much again a third for its style and stand-in."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from steptime.book.cube_page import write_cube
    from steptime.book.frames_page import write_frames
    from steptime.book.memory_page import write_memory
    from steptime.book.split_page import write_split

    place = tmp_path_factory.mktemp("ideas")
    for write in (write_memory, write_split, write_cube, write_frames):
        write(place)
    return place


@pytest.fixture(scope="module")
def address(folder: Path, served: Callable[[Path], Any]) -> Iterator[str]:
    with served(folder) as found:
        yield found


@pytest.fixture
def open_idea(new_page: Callable[..., Page], address: str) -> Callable[..., Page]:
    def opener(name: str, width: int = 1280, **options: Any) -> Page:
        page = new_page(width, **options)
        page.goto(f"{address}/{name}/")
        return page

    return opener


def test_memory_follows_its_choice_and_the_bar_is_as_long_as_its_numbers(
    open_idea: Callable[..., Page],
) -> None:
    page = open_idea("memory", reduced_motion="reduce")
    seen = set()
    for label in page.locator(".opts label").all():
        label.click()
        total = float(page.locator("[data-out=total]").inner_text().split()[0])
        sizes = page.locator("[data-size]").all_inner_texts()
        assert sum(float(one.split()[0]) for one in sizes) == pytest.approx(total, abs=0.4)
        stack = page.locator(".stack").bounding_box()
        last = page.locator(".stack i").last.bounding_box()
        assert stack
        assert last
        scale = float(page.locator(".ticks span").last.inner_text().split()[0])
        share = (last["x"] + last["width"] - stack["x"]) / stack["width"]
        assert share * scale == pytest.approx(total, rel=0.01)
        seen.add(page.locator("[data-out=says]").inner_text())
    assert len(seen) == 6
    assert any("does not fit" in one for one in seen)


def test_a_part_shows_its_equation_by_mouse_and_by_key(open_idea: Callable[..., Page]) -> None:
    page = open_idea("split")
    assert page.locator(".panel:visible").count() == 1
    page.locator("[data-block=bubble]").click()
    assert page.locator(".panel:visible").get_attribute("data-panel") == "bubble"
    assert page.locator(".panel:visible math").count() == 1
    page.locator("[data-part=bubble]").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator(".panel:visible").get_attribute("data-panel") == "pipeline_sends"
    assert page.locator("[data-part=pipeline_sends]").get_attribute("aria-pressed") == "true"


def test_the_cube_joins_a_gpu_with_four_and_shows_an_axis(open_idea: Callable[..., Page]) -> None:
    page = open_idea("cube")
    page.locator("[data-rank='6']").click()
    assert page.locator("[data-out=says]").inner_text().startswith("GPU 6 is")
    assert page.locator(".near").count() == 4
    assert page.locator("path.on").count() == 4
    page.locator("[data-step='1']").click()
    assert page.locator("[data-out=says]").inner_text().startswith("GPU 7 is")
    page.locator("button[data-axis=dp]").click()
    assert page.locator("path.on").count() == 8
    assert page.locator("path.on:not(.dp)").count() == 0
    assert "0 and 8" in page.locator("[data-out=says]").inner_text()


@pytest.mark.parametrize("name", FRAMES)
def test_frames_step_there_and_back_and_play_to_the_end(
    open_idea: Callable[..., Page], name: str
) -> None:
    page = open_idea(name, reduced_motion="reduce")
    last = page.evaluate("stFrames.last")
    where = "[...document.querySelectorAll('[data-tile]')].map(t => t.outerHTML).join()"
    first = page.evaluate(where)
    page.wait_for_timeout(300)
    assert page.evaluate(where) == first
    for at in range(last):
        page.locator("[data-next]").click()
        assert page.locator(".told").inner_text().startswith(f"{at + 2} of {last + 1}")
    assert page.locator("[data-next]").is_disabled()
    assert page.locator("[data-play]").inner_text() == "↻ Again"
    for _ in range(last):
        page.locator("[data-back]").click()
    assert page.locator(".told").inner_text().startswith(f"1 of {last + 1}")
    page.evaluate(f"stFrames.go({last - 1})")
    page.locator("[data-play]").click()
    assert page.locator(".told").inner_text().startswith(f"{last + 1} of")


@pytest.mark.parametrize("name", ALL)
def test_it_stands_without_script(open_idea: Callable[..., Page], name: str) -> None:
    page = open_idea(name, java_script_enabled=False)
    if name in (*FRAMES, "cube"):
        assert page.locator("svg[role=img]").is_visible()
        assert page.locator("li").count() >= 4
    else:
        assert page.locator(".stack").is_visible()
        assert "GB" in page.locator("main").inner_text() or "s" in page.locator("main").inner_text()
    assert page.locator("[data-play]:visible").count() == 0


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark")])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_page(
    open_idea: Callable[..., Page],
    violations: Callable[..., list[str]],
    name: str,
    width: int,
    theme: str,
) -> None:
    page = open_idea(name, width, color_scheme=theme)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    heights = page.locator("svg text").evaluate_all(
        "texts => texts.filter(t => t.textContent).map(t => t.getBoundingClientRect().height)"
    )
    assert not heights or min(heights) >= 10


@pytest.mark.parametrize("name", ALL)
def test_a_figure_is_light(folder: Path, name: str) -> None:
    scripts = (folder / name / "index.js").stat().st_size
    style = (folder / name / "style.css").stat().st_size
    assert scripts <= LARGEST
    assert scripts + style + (folder / f"{name}.html").stat().st_size <= LARGEST * 4 / 3
