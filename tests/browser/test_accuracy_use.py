"""The accuracy chart in use: pointing, keys, names, every screen, both themes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser

ALONE = "accuracy/index.html"
SHOWN = "stAccuracy.shown.map(run => run.id)"

Judge = Callable[..., list[str]]
Open = Callable[..., Any]
Points = dict[str, Any]


@pytest.fixture
def site(accuracy_site: str) -> str:
    """Serve the chart alone, so that these tests need no built site."""
    return accuracy_site


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


# ---- pointing and keys


def test_pointing_shows_a_run_and_clicking_keeps_it(
    open_page: Open, accuracy_points: Points
) -> None:
    page = open_page(ALONE, height=900).page
    # The lowest error stands nearly alone.
    run = min(accuracy_points["runs"], key=lambda one: one["errors"]["roofline"])
    name, said = run["id"], f"−{percent(-run['errors']['roofline'])}"
    for panel in ("data-run", "data-error"):
        x, y = page.evaluate(
            """selector => { const mark = document.querySelector(selector);
            const box = mark.ownerSVGElement.getBoundingClientRect();
            const [x, y] = mark.getAttribute('d').match(/[\\d.]+/g).map(Number);
            return [box.x + x, box.y + y]; }""",
            f'#accuracy path[{panel}="{name}"]',
        )
        page.mouse.move(x, y)
        assert said in page.inner_text("#accuracy .known")
        page.mouse.move(5, 5)
        assert said not in page.inner_text("#accuracy .known")
    page.mouse.click(x, y)
    page.mouse.move(5, 5)
    assert said in page.inner_text("#accuracy .known")
    assert f"a.r={name}" in page.evaluate("location.search")


def test_keys_move_from_run_to_run_and_stay_in_the_chart(open_page: Open) -> None:
    page = open_page(ALONE, height=500).page
    page.evaluate(
        "() => { window.escaped = [];"
        " document.addEventListener('keydown', event => escaped.push(event.key)); }"
    )
    page.focus("#accuracy .chart")
    order = page.evaluate(SHOWN)
    by_error = page.evaluate(
        "[...stAccuracy.shown].sort((a, b) => a.errors[0] - b.errors[0]).map(run => run.errors[0])"
    )
    run = "stAccuracy.state.r"
    scroll = page.evaluate("[scrollX, scrollY]")
    page.keyboard.press("Home")
    assert page.evaluate(run) == order[0]
    page.keyboard.press("ArrowRight")
    assert page.evaluate(run) == order[1]
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(run) == order[-2]
    error = "stAccuracy.shown.find(run => run.id === stAccuracy.state.r).errors[0]"
    before = page.evaluate(error)
    page.keyboard.press("ArrowUp")
    assert page.evaluate(error) >= before
    assert by_error.index(page.evaluate(error)) - by_error.index(before) <= 2
    page.keyboard.press("ArrowDown")
    assert page.evaluate(error) == before
    assert page.evaluate("[scrollX, scrollY]") == scroll
    assert page.evaluate("escaped") == []
    page.wait_for_timeout(700)
    assert "published" in page.inner_text("#accuracy .st-live")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body")
    assert page.evaluate(run) == ""


def test_tab_crosses_the_chart_in_few_stops_with_a_ring(open_page: Open) -> None:
    page = open_page(ALONE).page
    stops = []
    for _ in range(30):
        page.keyboard.press("Tab")
        inside, name, ring = page.evaluate(
            """() => { const e = document.activeElement;
            const r = e.type === 'radio' ? e.nextElementSibling : e;
            return [Boolean(e.closest('#accuracy')), e.name || e.className || e.tagName,
              parseFloat(getComputedStyle(r).outlineWidth)]; }"""
        )
        if not inside:
            break
        assert ring >= 2, name
        stops.append(name)
    assert 6 <= len(stops) <= 20, stops
    assert stops.count("chart") == 1


# ---- every screen


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_it_fits_every_screen(open_page: Open, width: int) -> None:
    watched = open_page(ALONE, width=width, height=740)
    page = watched.page
    for query in ("", "?a.m=share", "?a.k=2&a.g=h100&a.s=mpt", "?a.st=2&a.k=1"):
        page.evaluate(
            "q => { history.replaceState(null, '', q || location.pathname);"
            " dispatchEvent(new PopStateEvent('popstate')); }",
            query,
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        small = page.evaluate(
            """() => [...document.querySelectorAll(
              '#accuracy :is(button, select, summary, .opts label)')]
            .filter(e => e.checkVisibility()).map(e => [e.textContent.slice(0, 20),
              e.getBoundingClientRect()]).filter(([, b]) => b.width < 24 || b.height < 24
              || b.left < 0 || b.right > innerWidth).map(([name]) => name)"""
        )
        assert small == []
        texts = page.evaluate(
            """() => [...document.querySelectorAll('#accuracy .plot text')].map(e => {
            const b = e.getBoundingClientRect();
            return [e.textContent, parseFloat(getComputedStyle(e).fontSize),
              b.left, b.right, b.top, b.bottom]; })"""
        )
        assert all(one[1] >= 10 for one in texts)
        for one, two in itertools.combinations(texts, 2):
            apart = one[3] <= two[2] or two[3] <= one[2] or one[5] <= two[4] or two[5] <= one[4]
            assert apart, (one, two)
    watched.assert_clean()


def test_the_verdict_stays_in_sight(open_page: Open) -> None:
    page = open_page(ALONE, width=360, height=740).page
    for choose in (
        lambda: page.check('#accuracy input[value="baseline"]', force=True),
        lambda: page.select_option("#accuracy-g", "h100"),
        lambda: page.click('[data-story="5"]'),
    ):
        choose()
        assert 0 <= page.locator("#accuracy .verdict").bounding_box()["y"] < 700


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(open_page: Open, violations: Judge, theme: str) -> None:
    page = open_page(f"{ALONE}?a.st=3", theme=theme).page
    page.click("#accuracy .rows summary")
    page.wait_for_selector("#accuracy tbody tr")
    assert violations(page) == []


def test_names_tell_what_is_shown(open_page: Open) -> None:
    page = open_page(f"{ALONE}?a.k=2").page
    name = page.get_attribute("#accuracy .chart", "aria-label")
    assert page.inner_text('#accuracy [data-out="mean"]') in name
    assert "experts" in name
    assert page.locator("#accuracy [aria-live]").count() == 1
    unnamed = page.evaluate(
        "[...document.querySelectorAll('#accuracy :is(input, select)')]"
        ".filter(e => !e.labels.length || !e.labels[0].textContent.trim()).length"
    )
    assert unnamed == 0


def test_kinds_differ_by_shape_and_the_theme_switch_is_followed(open_page: Open) -> None:
    page = open_page(ALONE).page
    shapes = page.evaluate(
        "[0, 1, 2].map(k => document.querySelector(`#accuracy .marks .k${k}`)"
        ".getAttribute('d').replace(/^M[\\d.]+ [\\d.]+/, ''))"
    )
    assert len(set(shapes)) == 3
    fill = "getComputedStyle(document.querySelector('#accuracy .marks .k0')).fill"
    light = page.evaluate(fill)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert page.evaluate(fill) != light


def test_forced_colours_keep_outlines(open_page: Open) -> None:
    page = open_page(ALONE, forced_colors="active").page
    style = "getComputedStyle(document.querySelector('#accuracy .marks .k0'))"
    stroke, fill = page.evaluate(f"[{style}.stroke, {style}.fill]")
    assert stroke != fill


def test_nothing_moves_by_itself(open_page: Open) -> None:
    page = open_page(ALONE).page
    changes = page.evaluate(
        """() => new Promise(done => { let count = 0;
        new MutationObserver(list => { count += list.length; })
          .observe(document.body, {subtree: true, childList: true, attributes: true});
        setTimeout(() => done(count), 1500); })"""
    )
    assert changes == 0


@pytest.mark.timed
def test_a_change_is_quick_on_a_slow_machine(open_page: Open) -> None:
    page = open_page(ALONE).page
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    times = page.evaluate(
        """async () => { const times = [];
        for (const name of ['baseline', 'share', 'roofline', 'baseline', 'roofline']) {
          const began = performance.now();
          document.querySelector(`#accuracy input[value="${name}"]`).click();
          await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
          times.push(performance.now() - began);
        }
        return times; }"""
    )
    assert min(times) <= 100, times
