"""Addresses that nobody wrote by hand, pages from a file, and readers with large letters."""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.browser

SITE = Path(__file__).resolve().parents[2] / "build" / "site"
BROKEN = re.compile(r"NaN|undefined|Infinity|\[object|> =|\bnull\b")
HOSTILE = (
    "", "0", "-1", "1e999", "NaN", "Infinity", "0x10", "1.5", " 8 ", "8;8", "٨", "null", "true",
    "constructor", "__proto__", "toString", "<img src=x onerror=alert(1)>", "javascript:alert(1)",
    "'\"`${1}", "\u0000", "\ud7ff\u202e", "9" * 400, "a" * 5000, "../../etc", "%", "[]", "{}",
)  # fmt: skip
KEYS = {
    "schedule": "s p m v c k tf ti tw ts tl th st t w __proto__ constructor".split(),
    "explorer": [
        f"l.{key}"
        for key in (
            "model gpu n tp pp cp ep etp zero recompute seq batch mb vpp schedule sp precision "
            "domain tokens by copies own was.tp was.model was.own was.__proto__ __proto__ was. "
            "constructor"
        ).split()
    ],
    "accuracy": "w v x a g h __proto__ constructor".split(),
}
ROOTS = {"schedule": "#sched", "explorer": "#layout", "accuracy": "#accuracy"}
WALK = """([root, queries]) => queries.map((query) => {
  history.replaceState(null, '', '?' + query);
  dispatchEvent(new PopStateEvent('popstate'));
  // The note that tells back what was not understood is the address's own words.
  const nodes = document.createTreeWalker(document.querySelector(root), NodeFilter.SHOW_TEXT);
  let text = '';
  while (nodes.nextNode()) {
    if (!/ot understood/.test(nodes.currentNode.data)) text += `${nodes.currentNode.data} `;
  }
  return text;
})"""
OUTS = """() => [...document.querySelectorAll('#layout .verdict, #layout [data-out]')]
  .filter((one) => !['note', 'change', 'changed', 'copied', 'map-line'].includes(one.dataset.out))
  .map((one) => `${one.dataset.out} ${one.textContent}`)"""
UNTOUCHED = """() => [({}).polluted, document.querySelectorAll('img, article script').length,
  Object.keys(Object.prototype).length]"""


def hostile_queries(keys: list[str], count: int = 150) -> list[str]:
    """Return queries of odd values: each value once for some key, then several keys at a time."""
    draw = random.Random(16)
    values = (*HOSTILE, "8", "64", "512", "gpipe", "own", "llama3-8b", "1f1b")

    def pair(key: str, value: str) -> str:
        return f"{quote(key)}={quote(value)}"

    single = [pair(draw.choice(keys), value) for value in HOSTILE]
    several = [
        "&".join(pair(key, draw.choice(values)) for key in draw.sample(keys, 4))
        for _ in range(count - len(single))
    ]
    return ["%", "&&&=", "=1", "#%00", *single, *several]


@pytest.mark.parametrize("name", sorted(KEYS))
def test_no_address_breaks_a_figure(open_page: Callable[..., Any], name: str) -> None:
    watched = open_page(f"{name}/index.html")
    page = watched.page
    queries = hostile_queries(KEYS[name])
    for query, text in zip(queries, page.evaluate(WALK, [ROOTS[name], queries]), strict=True):
        assert not BROKEN.search(text), query
    for query in queries[:3] + queries[-3:]:
        watched.open(f"{name}/index.html?{query}")
        assert page.locator(f"{ROOTS[name]} svg").count() > 0, query
    assert page.evaluate(UNTOUCHED) == [None, 0, 0]
    assert watched.errors == []
    # After all of it the plain address is the plain figure.
    page.evaluate(WALK, [ROOTS[name], [""]])
    assert "ot understood" not in page.inner_text(ROOTS[name])


@pytest.mark.parametrize("value", ["-1", "1e9", "<b>", "__proto__", "9" * 400])
def test_the_search_takes_nothing_odd_from_an_address(
    open_page: Callable[..., Any], value: str
) -> None:
    odd = quote(value)
    keys = ("model", "gpu", "n", "batch", "seq", "precision", "own")
    watched = open_page("find/index.html?" + "&".join(f"s.{key}={odd}" for key in keys))
    verdict = watched.page.locator("[data-out=verdict]").inner_text()
    assert not BROKEN.search(verdict)
    assert watched.page.locator("select[name=model]").input_value() != value
    assert watched.page.evaluate(UNTOUCHED) == [None, 0, 0]
    assert watched.errors == []


def test_a_refused_layout_reopens_as_it_was(open_page: Callable[..., Any]) -> None:
    page = open_page("explorer/index.html?l.zero=1").page
    page.locator("[data-control=tp] input[value='16']").evaluate("one => one.click()")
    page.wait_for_url("**l.was.tp=8**")
    assert page.get_attribute(".verdict", "data-verdict") == "never"
    again = open_page("explorer/index.html?" + page.url.partition("?")[2]).page
    assert len(again.evaluate(OUTS)) > 20
    assert again.evaluate(OUTS) == page.evaluate(OUTS)
    # What is possible again says nothing of what was before.
    page.locator("[data-control=tp] input[value='8']").evaluate("one => one.click()")
    page.wait_for_url(lambda url: "was" not in url)


def test_paper_shows_no_choice_that_was_not_made(open_page: Callable[..., Any]) -> None:
    for path in ("book/explorer.html", "book/pipeline.html", "book/search.html"):
        page = open_page(path).page
        page.emulate_media(media="print")
        shown = page.locator("article :is([aria-pressed=false], input, select):visible")
        assert shown.locator(":scope:not(.cell)").count() == 0, path


# Pages from a file


@pytest.mark.parametrize("name", ["schedule", "explorer", "accuracy", "placement", "find"])
def test_a_figure_runs_from_a_file(chromium: Browser, name: str) -> None:
    context = chromium.new_context()
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto((SITE / name / "index.html").as_uri())
    page.wait_for_timeout(100)
    assert page.locator("main button:visible, main select:visible").count() > 2
    assert faults == []
    context.close()


def test_the_book_and_its_search_run_from_a_file(chromium: Browser) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto((SITE / "book" / "pipeline.html").as_uri())
    page.locator("#sched button", has_text="Play").wait_for()
    page.goto(f"{(SITE / 'search.html').as_uri()}?q=ring+attention")
    first = page.locator("#search-results li a").first
    assert first.inner_text().startswith("Context parallelism")
    first.click()
    assert page.url.endswith("book/sequence-context.html#context-parallelism")
    context.close()


# Large letters


@pytest.fixture(scope="module")
def large(chromium: Browser, chromium_path: str) -> Iterator[BrowserContext]:
    """Return a browser whose letters are twice as large, as a reader sets it."""
    with tempfile.TemporaryDirectory() as profile:
        context = chromium.browser_type.launch_persistent_context(
            profile,
            executable_path=chromium_path,
            viewport={"width": 1280, "height": 800},
            args=["--no-sandbox", "--disable-dev-shm-usage", "--blink-settings=defaultFontSize=32"],
        )
        yield context
        context.close()


def test_letters_twice_as_large_leave_one_column(large: BrowserContext, site: str) -> None:
    page: Page = large.new_page()
    page.goto(f"{site}/book/pipeline.html")
    assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "32px"
    assert not page.locator("#pst-primary-sidebar").is_visible()
    assert not page.locator("#pst-secondary-sidebar").is_visible()
    article = page.locator("article").bounding_box()
    assert article is not None
    assert article["width"] > 1100
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.locator(".primary-toggle").click()
    assert page.get_by_role("link", name="Tensor parallelism").first.is_visible()
