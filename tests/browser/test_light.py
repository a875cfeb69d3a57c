"""One sheet, one script, nothing that jumps: what a page loads, and that all of it still works."""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steptime.book.site.search_index import WORDS

pytestmark = pytest.mark.browser

SITE = Path(__file__).resolve().parents[2] / "build" / "site"
JUMPY = (
    *("book/index.html", "book/pipeline.html", "book/layouts.html", "book/memory.html"),
    *("book/search.html", "book/accuracy.html", "book/explorer.html", "find/index.html"),
)
FIGURES = ("book/pipeline.html", "book/layouts.html", "book/accuracy.html", "book/explorer.html")
# What hangs on hovering, a click or a box drawn before or after an element is tried without it.
MISSED = """selectors => selectors.filter((one) => {
  const plain = one.replace(/::?[a-z-]+(?!\\(|[a-z-])/g, '') || '*';
  try { return document.querySelector(plain); } catch (odd) { return false; }
})"""


@pytest.fixture(scope="module")
def dropped() -> list[str]:
    """Return every selector that the site's sheet left out."""
    text = (SITE.parent / "dropped-selectors.json").read_text(encoding="utf-8")
    found: list[str] = json.loads(text)
    assert len(found) > 5000
    return found


OTHERS = (
    "book/index.html",
    "book/search.html",
    "search.html?q=bubble",
    "results.html",
    "build/notebooks/12_bubble.html",
    "build/pages/command-line.html",
)


@pytest.mark.parametrize("path", FIGURES + OTHERS)
def test_no_rule_that_was_left_out_fits_anything(
    open_page: Callable[..., Any], dropped: list[str], path: str
) -> None:
    page = open_page(path, width=360, height=740).page
    for button in (".primary-toggle", ".search-button"):
        if page.locator(button).count():
            page.locator(button).first.click()
            assert page.evaluate(MISSED, dropped) == []
            page.keyboard.press("Escape")


def test_the_look_for_missed_rules_sees_one(open_page: Callable[..., Any]) -> None:
    page = open_page("book/notation.html").page
    assert page.evaluate(MISSED, ["article.nowhere", "article h1:hover::after"]) == [
        "article h1:hover::after"
    ]


@pytest.mark.parametrize("size", [(1280, 800), (360, 740)])
@pytest.mark.parametrize("path", JUMPY)
def test_nothing_jumps_where_scripts_come_late(
    open_page: Callable[..., Any], path: str, size: tuple[int, int]
) -> None:
    watched = open_page("404.html", width=size[0], height=size[1])
    page = watched.page

    def late(route: Any) -> None:
        time.sleep(0.15)
        route.continue_()

    page.route(re.compile(r"\.(js|css)(\?.*)?$"), late)
    watched.open(path)
    assert page.evaluate("window.shifted ?? 0") < 0.02


def test_a_page_loads_one_sheet_and_one_script_beside_its_figure(
    open_page: Callable[..., Any],
) -> None:
    def loaded(path: str) -> list[tuple[str, int]]:
        entries = open_page(path).page.evaluate(
            """() => performance.getEntriesByType('resource')
              .map((one) => [new URL(one.name).pathname, one.decodedBodySize])
              .filter(([name]) => !name.endsWith('.svg'))"""
        )
        return sorted((name, size) for name, size in entries)

    plain = loaded("book/notation.html")
    assert [name for name, _ in plain] == [
        "/_static/site.css",
        "/_static/site.js",
        "/_static/theme-first.js",
    ]
    assert sum(size for _, size in plain) < 120_000
    more = {name for name, _ in loaded("book/pipeline.html")} - {name for name, _ in plain}
    assert more == {"/schedule/index.js", "/schedule/style.css"}
    # The words of all pages come when something is looked for, and on that page alone.
    assert "/_static/search-index.js" not in {name for name, _ in loaded("book/search.html")}
    assert "/_static/search-index.js" in {name for name, _ in loaded("search.html?q=ring")}


def test_side_bars_open_over_a_narrow_page_and_hide_on_a_wide_one(
    open_page: Callable[..., Any],
) -> None:
    page = open_page("book/pipeline.html", width=360, height=740).page
    for button, bar, link in (
        (".primary-toggle", "#pst-primary-sidebar-modal", "Tensor parallelism"),
        (".secondary-toggle", "#pst-secondary-sidebar-modal", "Newer orders"),
    ):
        page.locator(button).click()
        assert page.locator(bar).get_by_role("link", name=link, exact=True).is_visible()
        page.keyboard.press("Escape")
        page.locator(bar).wait_for(state="hidden")
        assert page.evaluate("s => document.activeElement.matches(s)", button)
    page.locator(".secondary-toggle").click()
    page.locator("#pst-secondary-sidebar-modal").get_by_role("link", name="Newer orders").click()
    assert page.url.endswith("#newer-orders")
    wide = open_page("book/pipeline.html").page
    wide.locator(".primary-toggle").click()
    wide.locator("#pst-primary-sidebar").wait_for(state="hidden")


def test_the_list_of_contents_follows_the_reader(open_page: Callable[..., Any]) -> None:
    page = open_page("book/pipeline.html").page
    page.locator("#newer-orders > h2").evaluate("h => h.scrollIntoView()")
    current = page.locator("#pst-page-toc-nav a[aria-current=true]")
    current.filter(has_text="Newer orders").wait_for()
    assert current.count() == 1


@pytest.fixture
def copied(open_page: Callable[..., Any]) -> Any:
    """Return a page that may use the clipboard."""
    options = {"permissions": ["clipboard-read", "clipboard-write"]}
    return open_page("book/search.html", **options).page


def test_code_is_copied_by_its_button(copied: Any) -> None:
    code = copied.locator("div.highlight").first
    code.hover()
    button = code.get_by_role("button", name="Copy the code")
    button.click()
    code.get_by_role("button", name="Copied").wait_for()
    text = copied.evaluate("navigator.clipboard.readText()")
    assert text == code.locator("pre").text_content().rstrip("\n")


def test_a_key_opens_the_search_and_the_magnifier_stands_before_the_words(
    open_page: Callable[..., Any],
) -> None:
    page = open_page("book/notation.html").page
    page.keyboard.press("Control+k")
    page.keyboard.type("ring attention")
    field = page.locator("#pst-search-dialog input")
    icon = page.locator("#pst-search-dialog .fa-magnifying-glass").bounding_box()
    begins = field.evaluate(
        "f => f.getBoundingClientRect().left + parseFloat(getComputedStyle(f).paddingLeft)"
    )
    assert icon["x"] + icon["width"] <= begins
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=ring+attention")
    assert page.locator("#search-results li a").first.inner_text().startswith("Context parallelism")


FOUND = {
    "ring attention": "book/sequence-context.html#context-parallelism",
    "checkpointing": "book/roofline.html#recomputation",
    "FSDP": "book/memory.html#weights-gradients-and-optimizer-states",
    "OOM": "book/memory.html",
    "bubbles": "book/pipeline.html#where-the-idle-time-comes-from",
    "steptime predict": "build/pages/command-line.html#steptime-predict",
    "bubble_fraction": "build/pages/python-formulas-bubble.html#bubble-fraction",
}


def test_the_search_explains_first_and_knows_other_words(open_page: Callable[..., Any]) -> None:
    page = open_page("search.html").page
    field = page.locator(".bd-article-container form.bd-search input")
    told = page.locator("#search-results [role=status]")
    order = tomllib.loads(WORDS.read_text(encoding="utf-8"))["parts"]
    for query, place in FOUND.items():
        field.fill(query)
        page.locator(f"#search-results li a[href='{place}']").first.wait_for()
        link = page.locator("#search-results li a").first
        assert link.get_attribute("href") == place, query
        where = page.locator("#search-results .st-where").all_inner_texts()
        parts = [order.index(one.partition(":")[0]) for one in where]
        # A name as code writes it may lead; after that the reference comes last.
        assert parts[1:] == sorted(parts[1:]), query
    field.fill("qwzx")
    told.filter(has_text="Nothing has all of").wait_for()
    # A name that markup would understand is shown as it is.
    field.fill("<img src=x onerror=alert(1)>")
    told.filter(has_text="onerror").wait_for()
    assert page.locator("#search-results img").count() == 0
