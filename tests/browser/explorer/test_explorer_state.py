"""The address, undo, and no choice that ends in nonsense."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from steptime.inputs.layout import SCHEDULES

pytestmark = pytest.mark.browser

PARTS = ("weights", "gradients", "optimizer", "activations", "logits", "buffers", "reserve")
BROKEN = re.compile(r"NaN|undefined|Infinity|\[object|null")

Open = Callable[..., Any]


# --- 7: the address
def test_twenty_changes_come_back_from_the_address(open_explorer: Open) -> None:
    seen = open_explorer()
    page = seen.page
    draw = random.Random(3)
    for _ in range(20):
        inputs = page.locator(".panel > fieldset input[type=radio]:not(:checked)")
        inputs.nth(draw.randrange(inputs.count())).evaluate("e => e.click()")
    page.select_option("[data-control=model] select", "mixtral-8x7b")
    page.fill("[data-control=seq] input", "32k")
    page.keyboard.press("Enter")
    seen.settle()
    before, address = seen.outs(), page.url
    again = open_explorer("?" + address.partition("?")[2])
    # A refused state draws the last good picture, which a fresh page does not have.
    if again.page.locator('.verdict[data-verdict="never"]').count():
        assert again.page.inner_text(".verdict-detail") == page.inner_text(".verdict-detail")
    else:
        assert again.outs() == before


def test_back_returns_to_the_story_before(open_explorer: Open) -> None:
    seen = open_explorer()
    page = seen.page
    page.click('[data-story="stages"]')
    before = seen.outs()
    page.click('[data-story="few"]')
    seen.choose("zero", 1)
    page.go_back()
    seen.settle()
    assert seen.outs() == before
    assert page.get_attribute('[data-story="stages"]', "aria-pressed") == "true"


@pytest.mark.parametrize(
    "query", ["?l.tp=banana&l.model=%3Cb%3E&l.what=1", "?l.pp=-3&l.n=1e99&l.own=1-2"]
)
def test_nonsense_in_the_address_leaves_the_default_and_says_so(
    open_explorer: Open, query: str
) -> None:
    seen = open_explorer(query)
    seen.assert_clean()
    assert seen.outs() == open_explorer().outs()
    assert "Not understood" in seen.page.inner_text('[data-out="note"]')


# --- 8: no dead ends
WALK = """queries => queries.map(query => {
  history.replaceState(null, '', '?' + query);
  dispatchEvent(new PopStateEvent('popstate'));
  const root = document.querySelector('#layout');
  const seen = [root.textContent];
  const before = root.querySelector('.verdict').dataset.verdict;
  const why = root.querySelector('[data-out=detail]').textContent;
  if (before === 'never') {
    root.querySelector('[data-out=way]').click();
    seen.push(root.textContent);
  }
  return [before, why, root.querySelector('.verdict').dataset.verdict, seen.join(' ')];
})"""


TABLED = "?l.n=64&l.tp=1&l.pp=8&l.schedule=v-half&l.batch=1536&l.model=llama3-8b&l.gpu=h100"
"""A schedule whose form is read from a table, which is fetched when it is asked for."""


def test_a_table_is_fetched_with_the_first_schedule_that_reads_it(open_explorer: Open) -> None:
    fetched = (
        "performance.getEntriesByType('resource').filter(e => e.name.includes('tables')).length"
    )
    plain = open_explorer()
    assert plain.page.evaluate(fetched) == 0
    # By an address, and by hand from another schedule, in one step or back and forth.
    opened = open_explorer(TABLED)
    opened.page.wait_for_selector('[data-out="verdict-rest"]:has-text("s")')
    opened.until("window.stExplorer.state().schedule === 'v-half'")
    opened.until(f"{fetched} === 1")
    opened.assert_clean()
    changed = open_explorer(TABLED.replace("v-half", "zb-v"))
    other = changed.outs()
    assert changed.page.evaluate(fetched) == 0
    changed.page.evaluate(
        "history.replaceState(null, '', location.search.replace('zb-v', 'v-half'));"
        "dispatchEvent(new PopStateEvent('popstate'))"
    )
    changed.until(f"{fetched} === 1")
    changed.page.wait_for_timeout(300)
    assert changed.outs() == opened.outs() != other


def test_no_offered_choice_ends_in_nonsense(open_explorer: Open) -> None:
    seen = open_explorer(TABLED)
    seen.until("'stTables' in window")
    seen.page.wait_for_timeout(300)
    draw = random.Random(5)
    offered: dict[str, list[Any]] = {
        "model": ["gpt3-175b", "llama3-405b", "mixtral-8x7b", "deepseek-v3"],
        "gpu": ["a100-80gb", "h100", "gb200", "a100-40gb"],
        "n": [1, 8, 64, 96, 512, 4096, 16384],
        "tp": [1, 2, 4, 8, 16, 32],
        "pp": [1, 2, 4, 8, 16, 64],
        "cp": [1, 1, 1, 2, 16],
        "ep": [1, 1, 8, 64],
        "etp": [1, 1, 1, 2, 8],
        "vpp": [1, 1, 2, 12],
        "schedule": list(SCHEDULES),
        "domain": [0, 8, 72, 5],
        "mb": [1, 2, 16],
        "seq": [2048, 131072],
        "batch": [1, 64, 1536, 4096],
        "zero": [0, 1, 2, 3],
        "recompute": ["none", "selective", "full"],
    }
    queries = [
        "&".join(
            f"l.{key}={draw.choice(some)}"
            # One of schedule and chunks follows the other where an address names one alone.
            for key, some in offered.items()
            if key not in ("vpp", "schedule") or draw.randrange(3)
        )
        for _ in range(500)
    ]
    # A layout that fits with a tenth to spare at most is rare: one is asked for by name.
    queries.append("l.pp=8&l.n=64&l.recompute=none")
    kinds = []
    for query, (before, why, after, text) in zip(
        queries, seen.page.evaluate(WALK, queries), strict=True
    ):
        assert not BROKEN.search(text), query
        assert len(why) > 20, query
        assert after != "never", query
        kinds.append(before)
    assert set(kinds) == {"never", "over", "unlikely", "fits", "tight"}
    assert seen.errors == []


def test_an_impossible_choice_says_why_and_keeps_the_last_good_picture(open_explorer: Open) -> None:
    seen = open_explorer()
    page = seen.page
    drawn = page.inner_html(".bars-memory")
    seen.settle()
    mark = page.locator('[data-control="pp"] label:has(input[value="4"])')
    assert mark.get_attribute("data-mark") == "never"
    assert "not possible" in mark.locator("input").get_attribute("aria-label")
    seen.choose("pp", 4)
    assert "cannot be cut" in page.inner_text('[data-out="detail"]')
    assert page.inner_html(".bars-memory") == drawn
    page.click('[data-out="way"]')
    assert page.get_attribute(".verdict", "data-verdict") in ("over", "fits", "tight")


@pytest.mark.parametrize(
    ("query", "says"),
    [
        (
            "?l.n=1",
            "1 GPU cannot be cut into t × c × p = 8 × 1 × 1; the nearest that can is 8.",
        ),
        (
            "?l.n=2048&l.batch=4000&l.tp=2&l.pp=16",
            "Batch B = 4,000 does not divide into d = 64 ranks × micro-batch b = 1; "
            "the nearest that does is 4,032.",
        ),
        (
            "?l.n=64&l.batch=10&l.mb=4",
            "Batch B = 10 does not divide into d = 8 ranks × micro-batch b = 4; "
            "the nearest that does is",
        ),
        (
            "?l.n=64&l.pp=8&l.vpp=13&l.schedule=interleaved-1f1b",
            "Chunks v = 13 leaves chunks without a layer: 96 layers over p = 8 "
            "allow chunks v ≤ 12.",
        ),
        (
            "?l.n=64&l.pp=8&l.batch=10&l.schedule=dualpipe",
            "DualPipe needs 2 p = 16 micro-batches, got 10; "
            "use a larger batch, a smaller d or p, or ZB-V.",
        ),
        (
            "?l.n=64&l.pp=8&l.batch=17&l.schedule=interleaved-zb",
            "Interleaved zero-bubble runs equal rounds of at least p = 8 micro-batches, and 17 "
            "do not fall into such; use 16 or 24.",
        ),
        (
            "?l.n=64&l.pp=8&l.schedule=zb-v&l.vpp=4",
            "ZB-V has two chunks a device; use chunks v = 2, got chunks v = 4.",
        ),
    ],
)
def test_a_refusal_names_the_fields_as_the_form_does(
    open_explorer: Open, query: str, says: str
) -> None:
    seen = open_explorer(query)
    assert seen.page.inner_text('[data-out="detail"]').startswith(says)
    seen.settle()
    # A row of which no choice would help is not marked as if it were to blame.
    rows = seen.page.evaluate(
        """() => [...document.querySelectorAll('#layout .options:has(.option)')]
          .map(row => [...row.children].map(one => one.dataset.mark))"""
    )
    assert len(rows) > 8
    assert not any(set(marks) == {"never"} for marks in rows)


def test_the_timeline_has_the_schedule_and_sizes_of_the_page(open_explorer: Open) -> None:
    seen = open_explorer("?l.pp=8&l.n=64")
    link = seen.page.locator("a.timeline")
    asked = {
        "l.pp=8&l.n=64": ("s=1f1b&p=8&m=512&v=1&ti=2", 512),
        "l.pp=8&l.n=64&l.batch=64": ("s=1f1b&p=8&m=64&v=1&ti=2", 64),
        "l.pp=8&l.n=64&l.batch=18&l.schedule=interleaved-1f1b&l.recompute=none": (
            "s=interleaved-1f1b&p=8&m=18&v=2",
            18,
        ),
        "l.pp=4&l.n=32&l.batch=18&l.schedule=dualpipe&l.recompute=none": (
            "s=dualpipe&p=4&m=18&v=1",
            18,
        ),
    }
    for query, (size, drawn) in asked.items():
        seen.page.evaluate(
            """query => {
              history.replaceState(null, '', '?' + query);
              dispatchEvent(new PopStateEvent('popstate'));
            }""",
            query,
        )
        assert link.get_attribute("href").endswith(f"?w=sched&{size}")
        less = f", drawn with {drawn} micro-batches" if drawn < seen.value("m") else ""
        assert link.inner_text() == f"See this bubble as a timeline{less}"
