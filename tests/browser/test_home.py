"""The front page's figure in Chromium: it stands, it plays, it answers, and asks no motion."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.fixture
def open_home(new_page: Callable[..., Page], site: str) -> Callable[..., Page]:
    def opener(width: int = 1280, **options: Any) -> Page:
        page = new_page(width, **options)
        page.goto(f"{site}/front/")
        return page

    return opener


def until(page: Page, condition: str) -> None:
    """Wait for it from outside: the page's policy lets no text be run inside."""
    for _ in range(100):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(condition)


def test_it_waits_to_be_played_then_plays_pauses_and_ends(open_home: Callable[..., Page]) -> None:
    page = open_home()
    before = page.evaluate("document.body.innerHTML")
    page.wait_for_timeout(1000)
    assert page.evaluate("document.body.innerHTML") == before
    says = page.locator("#home svg:visible .says")
    assert says.text_content() == "GPU 3 waits: nothing has reached it yet"
    button = page.locator("[data-play]")
    button.click()
    until(page, "stHome.time > 3.2")
    button.click()
    stopped = page.evaluate("stHome.time")
    assert button.inner_text() == "▶ Play"
    page.wait_for_timeout(200)
    assert page.evaluate("stHome.time") == stopped
    page.evaluate("stHome.go(32.9)")
    button.click()
    until(page, "!stHome.playing")
    assert button.inner_text() == "↻ Again"
    assert says.text_content() == ""


def test_every_moment_outlines_a_wait_inside_the_picture(open_home: Callable[..., Page]) -> None:
    for width in (1280, 360):
        page = open_home(width)
        for time in (0.5, 2.5, 5, 15, 25, 28, 32):
            page.evaluate(f"stHome.go({time})")
            box = page.locator("#home svg:visible").bounding_box()
            words = page.locator("#home svg:visible .says").bounding_box()
            assert box
            assert words
            assert words["x"] >= box["x"] - 1
            assert words["x"] + words["width"] <= box["x"] + box["width"] + 1, (width, time)


def test_without_motion_it_goes_from_moment_to_moment(open_home: Callable[..., Page]) -> None:
    page = open_home(reduced_motion="reduce")
    page.locator("[data-play]").click()
    page.wait_for_timeout(600)
    assert page.evaluate("stHome.time") == 2.5
    until(page, "stHome.time > 2.5")
    assert page.evaluate("stHome.time") == 3.5


def test_the_explorer_says_the_same_of_the_layout(open_home: Callable[..., Page]) -> None:
    page = open_home()
    for name, cluster in (("llama3-70b", "2"), ("deepseek-v3", "2"), ("llama3-8b", "5")):
        page.select_option("select[name=model]", name)
        page.select_option("select[name=cluster]", cluster)
        step = page.locator("[data-out=step]").inner_text()
        link = page.locator("[data-out=link]").get_attribute("href")
        assert link
        other = page.context.new_page()
        other.goto(page.url.replace("/front/", f"/explorer/index.html?{link.partition('?')[2]}"))
        other.wait_for_selector("#layout [data-out=step]")
        # Both print three digits, or fewer.
        told = other.locator("#layout [data-out=step]").first.inner_text()
        assert float(told.split()[0]) == pytest.approx(float(step.split()[0]), rel=0.006)
        other.close()


def test_what_does_not_fit_is_said_and_leads_to_the_explorer(
    open_home: Callable[..., Page],
) -> None:
    page = open_home()
    page.select_option("select[name=model]", "llama3-405b")
    page.select_option("select[name=cluster]", "0")
    assert page.locator("[data-out=step]").inner_text() == "Does not fit"
    assert re.fullmatch(
        r"needs [\d,]+ GB, a GPU has [\d.]+ GB", page.locator("[data-out=range]").inner_text()
    )
    assert "NaN" not in page.locator("#home").inner_text()
    assert "undefined" not in page.locator("#home").inner_text()


def test_without_a_script_picture_and_answer_stand(open_home: Callable[..., Page]) -> None:
    page = open_home(java_script_enabled=False)
    assert page.locator("#home svg:visible").count() == 1
    assert page.locator("[data-out=step]").inner_text().endswith("s")
    assert not page.locator("[data-play]").is_visible()
    assert not page.locator("#home select").first.is_visible()


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark")])
def test_axe_finds_nothing(
    open_home: Callable[..., Page], violations: Callable[..., list[str]], width: int, theme: str
) -> None:
    page = open_home(width, color_scheme=theme)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
