"""What the schedule figure keeps in the address, and what it does with sizes that cannot run."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from steptime.inputs.layout import SCHEDULES

pytestmark = pytest.mark.browser

ALONE = "schedule/index.html"

Open = Callable[..., Any]
Probe = Callable[..., Any]


@pytest.fixture
def site(schedule_site: str) -> str:
    """Serve the figure alone, so that these tests need no built site."""
    return schedule_site


def test_the_address_holds_everything(open_page: Open, probe: Probe) -> None:
    watched = open_page(ALONE)
    page = watched.page
    rng = random.Random(7)
    for _ in range(20):
        probe(page, "change", rng.randrange(10**6))
    fresh = open_page(f"schedule/{page.url.rsplit('/', 1)[1]}").page
    assert probe(fresh, "outs") == probe(page, "outs")
    assert probe(fresh, "boxes") == probe(page, "boxes")
    watched.assert_clean()


def test_back_returns_to_the_story_before(open_page: Open, probe: Probe) -> None:
    page = open_page(ALONE).page
    page.click('[data-story="2"]')
    before = probe(page, "outs")
    page.click('[data-story="6"]')
    page.go_back()
    assert probe(page, "outs") == before
    assert page.get_attribute('[data-story="2"]', "aria-pressed") == "true"
    page.go_back()
    assert probe(page, "outs")["idle"] == "27.3 %"


def test_nonsense_in_the_address_is_named_and_left_out(open_page: Open, probe: Probe) -> None:
    watched = open_page(f"{ALONE}?w=sched&s=magic&p=-3&m=1e99&t=x&other=1")
    note = watched.page.locator("#sched .note")
    assert note.is_visible()
    for part in ("s=magic", "p=-3", "m=1e99", "t=x"):
        assert part in note.inner_text()
    assert probe(watched.page, "outs")["idle"] == "27.3 %"
    watched.page.click('[data-story="1"]')
    assert "other=1" in watched.page.url
    watched.assert_clean()


def test_the_address_can_hold_a_moment(open_page: Open) -> None:
    page = open_page(f"{ALONE}?w=sched&s=1f1b&p=4&m=8&t=17").page
    assert page.input_value("#sched .scrub") == "17"
    assert page.inner_text("#sched .detail").startswith("Time 17 of 33 units")


def test_what_is_too_large_to_draw_says_so(open_page: Open, probe: Probe) -> None:
    page = open_page(f"{ALONE}?s=looped-bfs&p=64&m=512&v=8").page
    note = page.locator("#sched .note")
    assert "more actions than this page draws" in note.inner_text()
    note.locator("button").click()
    assert not note.is_visible()
    assert "looped" in page.inner_text("#sched .info").lower()


def test_every_offered_combination_has_a_picture_or_a_way_out(
    open_page: Open, probe: Probe
) -> None:
    watched = open_page(ALONE)
    rng = random.Random(8)
    cases = [
        [
            name,
            rng.choice([2, 4, 8]),
            rng.choice([1, 2, 3, 5, 8, 13, 16, 31]),
            rng.choice([1, 2, 4, 8]),
        ]
        for name in SCHEDULES
        for _ in range(15)
    ]
    assert probe(watched.page, "dead_ends", cases) == []
    watched.assert_clean()
