"""Every page, narrow and wide, light and dark: readable by all, and from one host."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steptime.book.site.policy import META

SITE = Path(__file__).resolve().parents[2] / "build" / "site"
VIEWPORTS = {"narrow": (360, 740), "wide": (1280, 800)}

pytestmark = pytest.mark.browser

EVERY = sorted(
    path.relative_to(SITE).as_posix()
    for path in SITE.rglob("*.html")
    if "_static" not in path.parts
    # The front door only leads on: a test of its own.
    and path != SITE / "index.html"
)
PART = re.compile(r"build/pages/((?:formulas|python)-[a-z]+)-.*")


def _opened() -> list[str]:
    """Return the pages to open: of those cut from one page, which are alike, the longest."""
    whole = [one for one in EVERY if not PART.fullmatch(one)]
    longest: dict[str, str] = {}
    for one in EVERY:
        if cut := PART.fullmatch(one):
            size = (SITE / one).stat().st_size
            if cut[1] not in longest or size > (SITE / longest[cut[1]]).stat().st_size:
                longest[cut[1]] = one
    return sorted([*whole, *longest.values()])


PAGES = _opened()
SCROLL_WIDTH = "document.documentElement.scrollWidth"
OVERFLOWING = """() => [...document.querySelectorAll('body *')].filter(e => {
  const box = e.getBoundingClientRect();
  if (box.right <= innerWidth + 1 || box.width === 0) return false;
  for (let p = e; p; p = p.parentElement) {
    const style = getComputedStyle(p);
    if (style.position === 'fixed' || style.visibility === 'hidden') return false;
    if (p !== e && ['auto', 'scroll', 'hidden', 'clip'].includes(style.overflowX)) return false;
  }
  return true;
}).slice(0, 5).map(e => e.tagName + '.' + e.className)"""


def test_there_are_pages() -> None:
    assert len(PAGES) > 20, "no site: run `make site` first"


def test_every_page_has_the_policy_and_no_script_inside() -> None:
    # Playwright's pages run under it: what it stops is a console error, which they all watch for.
    # A page for any address can load no file of the site: its one script goes by its digest.
    assert "script-src 'sha256-" in (SITE / "404.html").read_text(encoding="utf-8")
    for name in sorted({*EVERY} - {"404.html"}):
        text = (SITE / name).read_text(encoding="utf-8")
        assert text.count(META) == 1, name
        assert not re.search(r"<script(?![^>]*\bsrc=)", text), name


def test_the_front_door_leads_to_the_book(open_page: Callable[..., Any]) -> None:
    page = open_page("index.html").page
    page.wait_for_url("**/book/index.html")
    assert page.locator("article h1").inner_text().startswith("steptime")


@pytest.mark.parametrize("size", sorted(VIEWPORTS))
@pytest.mark.parametrize("path", PAGES)
def test_page(
    open_page: Callable[..., Any], violations: Callable[..., list[str]], path: str, size: str
) -> None:
    width, height = VIEWPORTS[size]
    watched = open_page(path, width=width, height=height, theme="light", reduced_motion="reduce")
    page = watched.page
    assert page.evaluate("window.shifted ?? 0") < 0.02
    # axe judges each width and each theme once: structure hangs on the one, contrast on the other.
    judged = {"wide": "light", "narrow": "dark"}[size]
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        if page.evaluate("document.documentElement.dataset.mode") == "auto":
            page.wait_for_selector(f"html[data-theme={theme}]", state="attached")
        assert page.evaluate(SCROLL_WIDTH) <= width, page.evaluate(OVERFLOWING)
        if theme == judged:
            assert violations(page) == [], theme
    watched.assert_clean()


def test_the_judge_sees_a_pale_word_a_nameless_button_and_a_link_like_the_words_around_it(
    open_page: Callable[..., Any], violations: Callable[..., list[str]]
) -> None:
    page = open_page("book/notation.html").page
    page.evaluate(
        """() => { document.querySelector('article p').style.color = '#ccc';
        document.querySelector('article').append(document.createElement('button'));
        const words = document.createElement('p');
        words.innerHTML = 'Some words and <a href="#one">a link</a> among <b>them</b>.';
        words.firstElementChild.style = 'color: #345; text-decoration: none';
        document.querySelector('article').append(words); }"""
    )
    assert sorted(line.split(":")[0] for line in violations(page)) == [
        "button-name",
        "color-contrast",
        "link-in-text-block",
    ]


@pytest.mark.parametrize("path", ["book/pipeline.html", "book/notation.html"])
def test_print_shows_the_article_and_not_the_navigation(
    open_page: Callable[..., Any], path: str
) -> None:
    page = open_page(path).page
    page.emulate_media(media="print")
    assert page.locator("article h1").first.is_visible()
    assert not page.locator("#pst-primary-sidebar").is_visible()
    assert not page.locator("#pst-header").is_visible()


def test_without_a_script_the_pages_can_be_read_and_left(open_page: Callable[..., Any]) -> None:
    watched = open_page("book/index.html", java_script_enabled=False)
    watched.assert_clean()
    link = watched.page.locator("#pst-primary-sidebar").get_by_role(
        "link", name="Pipeline parallelism", exact=True
    )
    link.click()
    assert watched.page.locator("article h1").inner_text().startswith("Pipeline parallelism")


def test_theme_button_goes_through_its_three_modes_and_is_remembered(
    open_page: Callable[..., Any],
) -> None:
    page = open_page("book/index.html", theme="light").page
    button = page.locator(".theme-switch-button").first
    seen = set()
    for _ in range(3):
        button.click()
        seen.add(page.evaluate("document.documentElement.dataset.mode"))
    assert seen == {"light", "dark", "auto"}
    page.evaluate("localStorage.setItem('mode', 'dark')")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_only_pages_with_a_widget_load_its_script(open_page: Callable[..., Any]) -> None:
    def scripts(path: str) -> list[str]:
        page = open_page(path).page
        return page.evaluate("[...document.scripts].map(s => s.src).filter(s => s)")

    assert not [one for one in scripts("book/notation.html") if "/schedule/" in one]
    assert [one for one in scripts("book/pipeline.html") if "/schedule/" in one]
