"""What the page says was assumed, and what is open: the records of Python, for random questions."""

from __future__ import annotations

import random
from dataclasses import asdict
from typing import Any

import pytest
from door_questions import Asked, drawn
from page_node import bits, page_answers
from test_page_door import state

from steptime.answer import predict
from steptime.book.explorer_assumed import PAGE_MODELS

pytestmark = pytest.mark.slow

NUM_QUESTIONS = 6000
NUM_RANKED = 900
"""Of the first so many, legal or not, what is open is ranked too."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Asked, Any]]:
    """Give random questions that the page answers by the model asked for, with what it says."""
    draw = random.Random(29)
    questions = [drawn(draw) for _ in range(NUM_QUESTIONS)]
    states = [state(asked) | {"ranks": place < NUM_RANKED} for place, asked in enumerate(questions)]
    answers = page_answers(states, tmp_path_factory.mktemp("assumed"))
    pairs = zip(questions, answers, strict=True)
    return [
        (asked | {"predictor": shown(asked, page)}, page)
        for asked, page in pairs
        if "refused" not in page and asked["predictor"] in (None, *page["models"])
    ]


def shown(asked: Asked, page: Any) -> str:
    """Return the model whose answer the page shows."""
    return str(asked["predictor"] or next(iter(page["models"])))


# --- invariant
def test_the_page_assumes_what_python_does_in_its_words(told: list[tuple[Asked, Any]]) -> None:
    seen = set()
    for asked, page in told:
        found = predict(**asked).assumed
        fields = ("what", "value", "why", "how")
        ours = [{name: getattr(one, name) for name in fields} for one in found]
        assert page["assumed"] == ours, asked
        seen |= {one.what for one in found}
    assert len(told) > NUM_QUESTIONS / 5
    # Every kind of record was among them, or the test shows too little.
    assert seen >= {
        *("stack", "date", "network", "efficiency", "accelerator", "not run", "sequence"),
        *("beyond the data", "sharding", "cp_comm_type", "load of experts"),
        *("multi-token prediction", "overlap_tp"),
    }


def test_the_page_ranks_what_is_open_as_python_does(told: list[tuple[Asked, Any]]) -> None:
    ranked = [(asked, page) for asked, page in told if "open" in page]
    seen = set()
    for asked, page in ranked[:60]:
        found = predict(**asked)
        for of, spans in (("open", found.unstated), ("open_of_memory", found.unstated_of_memory)):
            ours = [as_span(asdict(one)) for one in spans]
            shown = [{**one, "change": pytest.approx(one["change"])} for one in page[of]]
            assert ours == shown, (asked, of)
            seen |= {(of, one["what"]) for one in ours}
    assert {("open", "network_gbit"), ("open", "stack"), ("open", "date")} <= seen
    assert {("open", "kernel"), ("open_of_memory", "gradient_bytes")} <= seen


def as_span(one: dict[str, Any]) -> dict[str, Any]:
    """Return what Python says of an open thing in the page's names; numbers as their bits."""
    low, high = one.get("low_s", one.get("low_bytes")), one.get("high_s", one.get("high_bytes"))
    kept = {name: one[name] for name in ("what", "says", "how", "choices", "change")}
    kept["outside"] = one.get("outside", 0)
    ends = {"least": one.get("fastest", one.get("leanest")), "low": bits(low), "high": bits(high)}
    return kept | ends | {"most": one.get("slowest", one.get("fullest"))}


def test_both_models_of_the_page_are_asked(told: list[tuple[Asked, Any]]) -> None:
    assert {asked["predictor"] for asked, _ in told} == set(PAGE_MODELS)
