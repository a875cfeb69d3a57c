"""The schedule figure in use: keys, names, pointing, motion."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser

ALONE = "schedule/index.html"

Judge = Callable[..., list[str]]
Open = Callable[..., Any]
Probe = Callable[..., Any]


@pytest.fixture
def site(schedule_site: str) -> str:
    """Serve the figure alone, so that these tests need no built site."""
    return schedule_site


# ---- keys


def test_tab_crosses_the_figure_without_a_trap(open_page: Open, probe: Probe) -> None:
    page = open_page(f"{ALONE}?c=gpipe").page
    stops = []
    for _ in range(40):
        page.keyboard.press("Tab")
        inside, tag, name, ring = probe(page, "focus")
        if not inside and stops:
            break
        if inside:
            assert ring >= 2, (tag, name, ring)
            stops.append((tag, name))
    assert 10 <= len(stops) <= 20, stops


def test_keys_move_in_the_chart_and_stay_there(open_page: Open) -> None:
    page = open_page(ALONE, height=500).page
    page.evaluate(
        "() => { window.escaped = [];"
        " document.addEventListener('keydown', event => escaped.push(event.key)); }"
    )
    page.focus("#sched .chart")
    seen = [page.inner_text("#sched .detail")]
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "End", "ArrowLeft", "Home", "ArrowUp"):
        before = page.evaluate("[scrollX, scrollY]")
        page.keyboard.press(key)
        assert page.evaluate("[scrollX, scrollY]") == before
        seen.append(page.inner_text("#sched .detail"))
    assert all(one != after for one, after in itertools.pairwise(seen))
    assert seen[1] == "GPU 0, 0 to 1: forward of micro-batch 1; needs nothing: the first stage."
    assert "GPU 1" in seen[3]
    assert "needs B8 of GPU 2, done at 29" in seen[4]
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert page.inner_text("#sched .detail").startswith("GPU 1, 29 to 31: backward")
    assert page.evaluate("escaped") == []
    page.keyboard.press(" ")
    assert page.get_attribute("#sched .play", "aria-label") == "Pause"
    page.keyboard.press(" ")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body")


def test_stories_and_play_work_by_key(open_page: Open) -> None:
    page = open_page(ALONE).page
    page.focus('[data-story="1"]')
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.get_attribute('[data-story="7"]', "aria-pressed") == "true"
    page.focus("#sched .play")
    page.keyboard.press("Enter")
    page.wait_for_timeout(150)
    page.keyboard.press("Enter")
    assert page.inner_text("#sched .detail").startswith("Time ")


# ---- names


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark")])
def test_axe_finds_nothing(open_page: Open, violations: Judge, width: int, theme: str) -> None:
    page = open_page(f"{ALONE}?p=2&m=2&c=gpipe&k=1", width=width, theme=theme).page
    page.evaluate("document.querySelectorAll('#sched details').forEach(d => { d.open = true; })")
    page.wait_for_timeout(50)
    assert violations(page, "#sched") == []


def test_everything_has_a_name_and_one_region_speaks(open_page: Open, probe: Probe) -> None:
    page = open_page(f"{ALONE}?s=gpipe&m=4").page
    assert page.locator("#sched [aria-live], #sched [role=status]").count() == 1
    picture = page.locator("#sched .chart:not([hidden]) svg[role=img]")
    assert "42.9 %" in picture.get_attribute("aria-label")
    assert probe(page, "unnamed") == []
    assert page.get_attribute("#sched .scrub", "aria-valuetext").startswith("time 21 of 21 units")


def spot(page: Any, gpu: int, time: float) -> tuple[float, float]:
    """Return where a moment of a GPU is on the screen, in the first wide picture."""
    frame = page.locator("#sched .plot").first.bounding_box()
    unit = frame["width"] / page.evaluate("stSchedule.runs[0].makespan")
    pitch = frame["height"] / page.evaluate("stSchedule.runs[0].p")
    return frame["x"] + time * unit, frame["y"] + gpu * pitch + 8


def test_the_region_speaks_at_most_twice_a_second(open_page: Open, probe: Probe) -> None:
    page = open_page(ALONE).page
    probe(page, "watch", "#sched .st-live")
    for i in range(20):
        page.mouse.move(*spot(page, 0, 1 + i * 1.5))
        page.wait_for_timeout(40)
    page.wait_for_timeout(600)
    seconds = page.evaluate("performance.now()") / 1000
    assert 1 <= page.evaluate("changes") <= 2 * seconds


def test_pointing_says_what_and_why(open_page: Open) -> None:
    page = open_page(ALONE).page
    page.mouse.move(*spot(page, 2, 6.5))
    assert page.inner_text("#sched .detail") == (
        "GPU 2, 6 to 8: backward of micro-batch 1; needs B1 of GPU 3, done at 6; the GPU waited 2."
    )
    assert page.get_attribute("#sched .need", "d")
    page.mouse.move(*spot(page, 2, 5))
    assert page.inner_text("#sched .detail") == (
        "GPU 2, 4 to 6: idle; B1 is next and needs B1 of GPU 3, which ends at 6."
    )
    page.mouse.move(5, 5)
    assert page.inner_text("#sched .detail").startswith("Idle GPU-units: 18 at the start")


def test_the_longest_chain_fills_the_step(open_page: Open) -> None:
    page = open_page(f"{ALONE}?k=1").page
    assert "33 of 33 units at work" in page.inner_text("#sched .detail")
    assert page.get_attribute("#sched path.crit", "d")


# ---- motion


def test_nothing_moves_untouched(open_page: Open, probe: Probe) -> None:
    page = open_page(ALONE).page
    probe(page, "watch", "#sched")
    page.wait_for_timeout(3000)
    assert page.evaluate("changes") == 0


def test_play_moves_the_playhead_alone_and_pause_stops_it(open_page: Open, probe: Probe) -> None:
    page = open_page(ALONE).page
    boxes = probe(page, "boxes")
    probe(page, "count_frames")
    page.evaluate("window.kept = document.querySelector('#sched rect[data-op]')")
    page.click("#sched .play")
    page.wait_for_timeout(1000)
    frames = page.evaluate("frameCount")
    page.click("#sched .play")
    page.wait_for_timeout(100)
    probe(page, "watch", "#sched")
    page.wait_for_timeout(300)
    assert page.evaluate("changes") == 0
    assert frames >= 15
    assert page.evaluate("kept.isConnected")
    assert probe(page, "boxes") == boxes
    assert 1 < float(page.input_value("#sched .scrub")) < 12
    assert "t=" in page.url


def test_play_ends_on_the_whole_picture(open_page: Open) -> None:
    page = open_page(f"{ALONE}?s=gpipe&p=2&m=1").page
    page.select_option("#sched .speed", "4")
    page.click("#sched .play")
    page.wait_for_selector('#sched .play[aria-label="Play"]', timeout=5000)
    assert page.get_attribute("#sched .veil", "width") == "0"
    assert "t=" not in page.url


def test_out_of_sight_nothing_is_drawn(open_page: Open, probe: Probe) -> None:
    page = open_page(ALONE).page
    page.evaluate("document.body.style.paddingBottom = '3000px'")
    probe(page, "count_frames")
    page.click("#sched .play")
    page.evaluate("scrollTo(0, 2500)")
    page.wait_for_timeout(1000)
    seen = page.evaluate("frameCount")
    page.wait_for_timeout(500)
    assert page.evaluate("frameCount") == seen


def test_reduced_motion_steps(open_page: Open, probe: Probe) -> None:
    page = open_page(ALONE, reduced_motion="reduce").page
    probe(page, "watch_times")
    page.click("#sched .play")
    page.wait_for_timeout(1900)
    times = [float(time) for time in page.evaluate("[...times]")]
    assert 2 <= len(times) <= 5, times
    assert all(time == int(time) for time in times)


def test_steps_go_from_event_to_event(open_page: Open) -> None:
    page = open_page(f"{ALONE}?s=interleaved-1f1b").page
    page.click('#sched button[aria-label="Start"]')
    found = []
    for _ in range(3):
        page.click('#sched button[aria-label="Step"]')
        found.append(float(page.input_value("#sched .scrub")))
    page.click('#sched button[aria-label="Step back"]')
    assert found == [0.5, 1.0, 1.5]
    assert float(page.input_value("#sched .scrub")) == 1.0


def test_the_scrubber_moves_the_address_too(open_page: Open) -> None:
    page = open_page(ALONE).page
    page.focus("#sched .scrub")
    page.evaluate(
        "() => { const scrub = document.querySelector('#sched .scrub'); scrub.value = 12;"
        " scrub.dispatchEvent(new Event('input')); }"
    )
    page.wait_for_timeout(150)
    assert "t=12" in page.url
    assert page.inner_text("#sched .detail").startswith("Time 12 of 33 units")
