"""The explorer inside the book's pages: under the theme's styles and below its header."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("path", ["book/explorer.html", "book/layouts.html"])
def test_the_verdict_stays_in_view_below_the_header(
    open_page: Callable[..., Any], path: str, width: int
) -> None:
    watched = open_page(path, width=width, height=760)
    page = watched.page
    watched.assert_clean()
    assert page.locator("#layout .st-static").count() == 0
    page.click('#layout [data-story="stages"]')
    page.click('#layout [data-control="zero"] label:has(input[value="3"])')
    verdict = page.locator("#layout .verdict").bounding_box()
    assert verdict["y"] >= 0
    assert verdict["y"] + verdict["height"] <= 760
    covered = page.evaluate(
        """() => {
          const box = document.querySelector('#layout .verdict-line').getBoundingClientRect();
          const top = document.elementFromPoint(box.left + 20, box.top + box.height / 2);
          return !top.closest('#layout .verdict');
        }"""
    )
    assert not covered
    assert page.evaluate("document.documentElement.scrollWidth") <= width
