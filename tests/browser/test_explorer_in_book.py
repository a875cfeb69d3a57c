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


def test_a_schedule_of_the_figure_opens_in_the_explorer(open_page: Callable[..., Any]) -> None:
    watched = open_page("book/pipeline.html?w=sched&s=zb-v&p=4&m=16")
    page = watched.page
    page.click("#sched .foot a:has-text('layout explorer')")
    page.wait_for_selector("#layout .verdict")
    state = page.evaluate("stExplorer.state()")
    assert {key: state[key] for key in ("schedule", "pp", "vpp", "n", "batch")} == {
        "schedule": "zb-v",
        "pp": 4,
        "vpp": 2,
        "n": 32,
        "batch": 16,
    }
    link = page.get_attribute("#layout a.timeline", "href")
    assert "s=zb-v&p=4&m=16&v=2" in link
    watched.assert_clean()
