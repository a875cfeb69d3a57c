"""Software, month, network and single facts, as a reader states them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from steptime.answer import predict
from steptime.book.study.memory_cases import GPT3_SERVER

pytestmark = pytest.mark.browser

Open = Callable[..., Any]
CUT = GPT3_SERVER | {"pp": 8, "vpp": 1, "schedule": "1f1b", "micro_batch_size": 1, "etp": 1}
CUT |= {"predictor": "roofline"}
QUERY = "?l.pp=8&l.n=64"


def state_how(page: Any) -> None:
    """Open the controls of what the step runs on."""
    page.click(".how summary")
    page.wait_for_selector(".how-fields")


# --- invariant
def test_named_software_a_month_a_network_and_a_fact_give_pythons_answer(
    open_explorer: Open,
) -> None:
    seen = open_explorer(QUERY)
    page = seen.page
    state_how(page)
    page.select_option("[data-control=stack] select", "megatron")
    page.fill("[data-control=date] input", "2023-05")
    page.fill("[data-control=net] input", "100")
    page.keyboard.press("Enter")
    page.select_option("[data-control=facts] select", "overlap_dp")
    page.fill(".fact-value input", "0.5")
    page.keyboard.press("Enter")
    seen.settle()
    said = {"stack": "megatron", "date": "2023-05", "network_gbit": 100.0}
    found = predict(**CUT, **said, facts={"overlap_dp": 0.5})
    assert seen.value("step") == found.step_time_s
    assert seen.value("memory") == found.total_bytes
    for part in ("l.stack=megatron", "l.date=2023-05", "l.net=100", "l.facts=overlap_dp%3D0.5"):
        assert part in page.url
    before = seen.outs()
    again = open_explorer("?" + page.url.partition("?")[2])
    again.until("document.querySelector('[data-out=how]').textContent.includes('megatron')")
    assert again.outs() == before
    page.click(".facts button")
    seen.settle()
    assert seen.value("step") == predict(**CUT, **said).step_time_s
    seen.assert_clean()


def test_nothing_of_software_is_fetched_before_it_is_asked_for(open_explorer: Open) -> None:
    page = open_explorer(QUERY).page
    names = "performance.getEntriesByType('resource').map(e => e.name.split('/').pop())"
    assert "software.js" not in page.evaluate(names)
    state_how(page)
    assert "software.js" in page.evaluate(names)


def test_what_was_assumed_and_what_is_open_are_pythons(open_explorer: Open) -> None:
    seen = open_explorer(QUERY)
    page = seen.page
    # It is fetched when a reader comes near.
    page.locator(".told").scroll_into_view_if_needed()
    seen.until("document.querySelector('[data-told=narrow]')?.textContent")
    found = predict(**CUT)
    seen.open_details()
    seen.until("document.querySelector('[data-told=open-memory] li')")
    records = page.locator("[data-told=assumed] li").all_inner_texts()
    assert [one.partition(":")[0] for one in records] == [one.what for one in found.assumed]
    counts = f"({len(records)}), and what is open ({len(found.unstated)})"
    assert counts in page.inner_text(".told summary")
    most = found.unstated[0]
    assert f"Naming {most.says} would narrow this most" in page.inner_text("[data-told=narrow]")
    peaks = page.inner_text("[data-told=open-memory] li >> nth=0")
    assert peaks.startswith(found.unstated_of_memory[0].says)
    page.click(".told button")
    assert page.evaluate("document.activeElement.closest('[data-control]').dataset.control") == (
        "stack" if most.what == "stack" else "net"
    )
    assert seen.violations() == []
    seen.assert_clean()


# --- refusal
def test_a_list_of_what_is_open_says_where_nothing_is(open_explorer: Open) -> None:
    seen = open_explorer(QUERY + "&l.stack=torchtitan-2025&l.date=2025-12&l.net=400")
    page = seen.page
    page.locator(".told").scroll_into_view_if_needed()
    seen.until("document.querySelector('[data-told=narrow]')?.textContent")
    seen.open_details()
    seen.until("document.querySelector('[data-told=open-memory] li')")
    for key in ("open", "open-memory"):
        items = page.locator(f"[data-told={key}] > *").all_inner_texts()
        assert items == ["Nothing that would move it."]
        assert page.inner_text(f"[data-told={key}]").strip() == items[0]


def test_a_sharding_that_the_software_lacks_is_refused_with_a_way_out(open_explorer: Open) -> None:
    seen = open_explorer(QUERY + "&l.stack=megatron-2023&l.zero=3&l.n=128")
    seen.until("document.querySelector('.verdict').dataset.verdict === 'never'")
    assert "has no such sharding" in seen.page.inner_text("[data-out=detail]")
    seen.page.click("[data-out=way]")
    seen.settle()
    assert seen.page.get_attribute(".verdict", "data-verdict") != "never"


def test_software_that_is_in_no_table_is_left_out_and_said(open_explorer: Open) -> None:
    seen = open_explorer(QUERY + "&l.stack=mega&l.date=2099-01&l.facts=overlap=1")
    note = "document.querySelector('[data-out=note]').textContent"
    seen.until(f"{note}.includes('stack=mega, date=2099-01, facts=overlap=1')")
    assert seen.value("step") == predict(**CUT).step_time_s
    seen.assert_clean()


def test_a_fact_out_of_range_is_not_taken(open_explorer: Open) -> None:
    seen = open_explorer(QUERY)
    page = seen.page
    state_how(page)
    before = seen.value("step")
    page.select_option("[data-control=facts] select", "overlap_dp")
    page.fill(".fact-value input", "7")
    page.keyboard.press("Enter")
    assert "from 0 to 1" in page.inner_text("[data-control=facts] .idea")
    assert seen.value("step") == before
    assert "facts" not in page.url


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_the_controls_have_names_and_stay_inside_the_view(
    open_explorer: Open, width: int, scheme: str
) -> None:
    seen = open_explorer(QUERY + "&l.facts=overlap_dp=0.5", width=width, theme=scheme)
    state_how(seen.page)
    seen.page.select_option("[data-control=facts] select", "kernel")
    assert seen.violations() == []
    wide = seen.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]
