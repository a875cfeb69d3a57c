"""Small screens, big text, colours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser

Open = Callable[..., Any]


# --- 13: small screens
@pytest.mark.parametrize("width", [320, 360, 768])
def test_small_screens(open_explorer: Open, width: int) -> None:
    seen = open_explorer("?l.pp=8&l.n=64&l.batch=10", width=width, height=740)
    page = seen.page
    seen.open_details()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = page.evaluate(
        """() => [...document.querySelectorAll('#layout :is(button, select, input, summary)')]
        .map(e => [e.className, e.dataset.story ?? '', e.type === 'radio' ? e.parentElement : e])
        .map(([name, story, e]) => [name, story, e.getBoundingClientRect().toJSON()])
        .filter(([, , box]) => box.width)"""
    )
    assert len(boxes) > 60
    for name, story, box in boxes:
        assert box["left"] >= 0, name
        assert box["right"] <= width, name
        least = 40 if story else 24
        assert box["height"] >= least, name
        assert box["width"] >= 24, name
    assert small_or_overlapping_labels(page) == []
    for control, option in [("tp", 4), ("pp", 16), ("zero", 3), ("recompute", "none"), ("mb", 2)]:
        seen.choose(control, option)
        box = page.locator(".verdict").bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 740


@pytest.mark.parametrize("width", [360, 1280])
def test_fields_keep_their_room_at_text_twice_as_big(open_explorer: Open, width: int) -> None:
    page = open_explorer(width=width, height=740).page
    page.add_style_tag(content="html { font-size: 200% }")
    page.wait_for_timeout(100)
    room = page.evaluate(
        """() => [...document.querySelectorAll('#layout .panel :is(select, .field input)')]
        .filter(e => e.getClientRects().length)
        .map(e => [e.id, e.clientWidth / parseFloat(getComputedStyle(e).fontSize),
          e.closest('.panel').getBoundingClientRect().right
            - (e.closest('.field') ?? e).getBoundingClientRect().right,
          (e.nextElementSibling?.scrollWidth ?? 0) - (e.nextElementSibling?.clientWidth ?? 0)])"""
    )
    assert len(room) >= 5
    for name, ems, left, hangs in room:
        assert ems >= 3, name
        assert left >= 0, name
        assert hangs <= 0, name
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    check_verdict_stays_small(page)


def check_verdict_stays_small(page: Any) -> None:
    """Check that what stays of the verdict takes under a quarter of the window, and follows."""
    page.set_viewport_size({"width": 360, "height": 740})
    page.evaluate("document.querySelector('[data-control=zero]').scrollIntoView()")
    page.wait_for_timeout(100)
    covered = """() => [...Array(74).keys()].filter(at => {
        const hit = document.elementFromPoint(180, at * 10);
        return hit?.closest('.verdict, .verdict-bar');
    }).length / 74"""
    assert 0.01 < page.evaluate(covered) < 0.25
    # The verdict itself may be out of view: its text is there all the same.
    size = page.text_content('[data-out="verdict-rest"]').partition(" on ")[0]
    assert " of 85.9 GB" in size
    assert size in page.inner_text(".verdict-bar")
    page.evaluate("document.querySelector('[data-control=zero] input[value=\"3\"]').click()")
    assert page.inner_text('[data-out="verdict"]') in page.inner_text(".verdict-bar")
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(100)
    assert not page.locator(".verdict-bar p").is_visible()


def small_or_overlapping_labels(page: Any) -> list[str]:
    """Return chart labels under 10 px, and pairs of them that touch."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('#layout .pictures svg')].flatMap(svg => {
          const texts = [...svg.querySelectorAll('text')].filter(e => e.textContent);
          const small = texts.filter(e => parseFloat(getComputedStyle(e).fontSize) < 10);
          const touch = (e, f) => {
            const [a, b] = [e.getBoundingClientRect(), f.getBoundingClientRect()];
            const across = a.left < b.right - 1 && b.left < a.right - 1;
            return across && a.top + 3 < b.bottom - 3 && b.top + 3 < a.bottom - 3;
          };
          const both = texts.flatMap((e, i) => texts.slice(i + 1).filter(f => touch(e, f))
            .map(f => e.textContent + ' | ' + f.textContent));
          return [...small.map(e => 'small: ' + e.textContent), ...both];
        })"""
    )
    return found


# --- 14: colour
def test_theme_switch_changes_fills_without_a_reload(open_explorer: Open) -> None:
    seen = open_explorer()
    page = seen.page
    fill = "getComputedStyle(document.querySelector('.slot-m1 rect')).fill"
    light = page.evaluate(fill)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    dark = page.evaluate(fill)
    assert (light, dark) == ("rgb(51, 34, 136)", "rgb(138, 93, 234)")
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    assert page.evaluate(fill) == light


def test_forced_colors_keep_outlines(open_explorer: Open) -> None:
    seen = open_explorer(forced_colors="active")
    page = seen.page
    stroke = page.evaluate(
        """() => { const s = getComputedStyle(document.querySelector('.bars-memory .block rect'));
        return [s.stroke, parseFloat(s.strokeWidth)] }"""
    )
    assert stroke[0] != "none"
    assert stroke[1] >= 1
