"""Every page, narrow and wide, light and dark: readable by all, and from one host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest

SITE = Path(__file__).resolve().parents[2] / "build" / "site"
VIEWPORTS = {"narrow": (360, 740), "wide": (1280, 800)}

pytestmark = pytest.mark.browser

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
PAGES = sorted(
    path.relative_to(SITE).as_posix()
    for path in SITE.rglob("*.html")
    if "_static" not in path.parts and path.name not in {"genindex.html", "search.html"}
)
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


def violations(page: Any) -> list[str]:
    """Return what axe finds, one line an element."""
    page.evaluate(AXE)
    found = page.evaluate("async () => (await axe.run()).violations")
    return [
        f"{one['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
        for one in found
        for node in one["nodes"]
    ]


def test_there_are_pages() -> None:
    assert len(PAGES) > 20, "no site: run `make site` first"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", sorted(VIEWPORTS))
@pytest.mark.parametrize("path", PAGES)
def test_page(open_page: Callable[..., Any], path: str, size: str, theme: str) -> None:
    width, height = VIEWPORTS[size]
    watched = open_page(path, width=width, height=height, theme=theme)
    watched.assert_clean()
    page = watched.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width, page.evaluate(
        OVERFLOWING
    )
    if page.evaluate("document.querySelector('main') !== null"):
        assert violations(page) == []
