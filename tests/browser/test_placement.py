"""The racks figure in Chromium: its numbers against the package, keys, names, small screens."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from steptime.inputs.layout import Layout
from steptime.planning.placement import place

pytestmark = pytest.mark.browser
KINDS = {"tensor", "context", "pipeline", "data", "expert"}


@pytest.fixture
def address(placement_site: str) -> str:
    return f"{placement_site}/placement/"


@pytest.fixture
def page(new_page: Callable[..., Page], address: str) -> Iterator[Page]:
    page = new_page(1280, 900)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(address)
    page.wait_for_selector("[data-out=verdict]")
    yield page
    assert faults == []


def counts(page: Page) -> dict[str, tuple[int, int]]:
    rows = page.eval_on_selector_all(
        ".rk-table tbody tr",
        "rows => rows.map(r => [r.dataset.kind, ...[...r.cells].slice(2).map(c => c.innerText)])",
    )
    return {kind: (int(a.replace(",", "")), int(b.replace(",", ""))) for kind, a, b in rows}


def expected(state: dict[str, Any]) -> dict[str, tuple[int, int]]:
    ranks = state["t"] * state["c"] * state["d"]
    layout = Layout(
        tp=state["t"],
        cp=state["c"],
        pp=state["p"],
        dp=state["d"],
        ep=state["e"] if ranks % state["e"] == 0 else 1,
    )
    placement = place(layout, domain_size=state["n"], order=state["o"])
    found = {one.kind: (one.inside, one.crossing) for one in placement.groups if one.kind in KINDS}
    if layout.pp > 1:
        found["pipeline hops"] = (placement.hops_inside, placement.hops_crossing)
    return found


def test_every_story_counts_as_the_package_does(page: Page) -> None:
    for button in page.query_selector_all("[data-story]"):
        button.click()
        state = page.evaluate("stRacks.state()")
        assert counts(page) == expected(state)
        assert button.get_attribute("aria-pressed") == "true"
        drawn = page.eval_on_selector_all("[data-rank]", "boxes => boxes.length")
        assert drawn > 0


def test_random_choices_count_as_the_package_does_and_survive_a_reload(
    page: Page, address: str
) -> None:
    draw = random.Random(3)
    for _ in range(15):
        page.evaluate(
            """draws => draws.forEach(([key, share]) => {
              const all = document.querySelectorAll(`input[name=rk-${key}]`);
              all[Math.floor(share * all.length)].click();
            })""",
            [[key, draw.random()] for key in "tcpdno"],
        )
        state = page.evaluate("stRacks.state()")
        assert counts(page) == expected(state)
    told = page.inner_text("[data-out=verdict]")
    page.goto(page.url)
    assert page.inner_text("[data-out=verdict]") == told
    page.goto(address + "?rk_t=7&rk_n=x")
    assert "made no sense" in page.inner_text(".rk-see")


def test_back_returns_to_the_story_before(page: Page) -> None:
    before = page.inner_text("[data-out=verdict]")
    page.click("[data-story='3']")
    assert page.inner_text("[data-out=verdict]") != before
    page.go_back()
    assert page.inner_text("[data-out=verdict]") == before


def test_keys_go_from_gpu_to_gpu(page: Page) -> None:
    page.focus(".rk-chart")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.inner_text("[data-out=detail]").startswith(
        "GPU 8 in domain 1: tensor rank 0, stage B"
    )
    assert page.eval_on_selector_all(".rk-mate", "boxes => boxes.length") > 5


def test_names_and_no_script(new_page: Callable[..., Page], address: str, page: Page) -> None:
    label = page.get_attribute(".rk-picture", "aria-label") or ""
    assert "Pipeline hops inside a domain: 960 of 1,080" in label
    for fieldset in page.query_selector_all("fieldset"):
        assert fieldset.query_selector("legend") is not None
    plain = new_page(java_script_enabled=False)
    plain.goto(address)
    assert "960 of 1,080" in plain.inner_text("#racks")
    assert plain.query_selector("svg[role=img]") is not None
    assert plain.inner_text("table caption").startswith("Groups inside")


@pytest.mark.parametrize("width", [320, 360, 768])
def test_small_screens_hold_everything(
    new_page: Callable[..., Page], address: str, width: int
) -> None:
    page = new_page(width, 740)
    page.goto(address)
    page.wait_for_selector("[data-out=verdict]")
    for button in page.query_selector_all("[data-story]"):
        button.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = page.eval_on_selector_all(
        ".rk-controls span, [data-story]",
        "all => all.map(e => e.getBoundingClientRect()).map(b => Math.min(b.width, b.height))",
    )
    assert min(sizes) >= 24
