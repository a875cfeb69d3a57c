"""What a stated month does: beyond all runs, before its software, after an exact stack."""

from __future__ import annotations

from typing import Any

import pytest

from steptime.answer import predict
from steptime.answer.reach import BEYOND, dates_seen

ASKED: dict[str, Any] = {
    "model": "llama3-8b",
    "num_gpus": 64,
    "global_batch_size": 64,
    "seq_length": 4096,
    "recompute": "full",
}


def told(what: str, device: str = "h100", **said: str) -> list[str]:
    """Return why each record of a kind is there."""
    every = predict(**ASKED, accelerator=device, **said).assumed
    return [one.why for one in every if one.what == what]


# Runs on Hopper are of 2023-06 to 2026-08, on Ampere of 2021-06 to 2024-08 (data/reach.toml).
@pytest.mark.parametrize(
    ("device", "date", "why"),
    [
        ("h100", "2030-01", "no run after 2026-08 on its generation was compared"),
        ("h100", "2019-01", "no run before 2023-06 on its generation was compared"),
        ("h100", "2023-05", "no run before 2023-06 on its generation was compared"),
        ("h100", "2026-09", "no run after 2026-08 on its generation was compared"),
        ("h100", "2023-06", ""),
        ("h100", "2026-08", ""),
        ("a100-80gb", "2026-08", "no run after 2024-08 on its generation was compared"),
        ("gaudi2", "2030-01", "no run after"),
    ],
)
def test_a_month_beyond_all_runs_is_said(device: str, date: str, why: str) -> None:
    found = [
        one for one in told(BEYOND, device, date=date) if " run before" in one or "after" in one
    ]
    assert [one[: len(why)] for one in found] == ([why] if why else [])


def test_of_a_generation_without_runs_all_runs_count() -> None:
    assert dates_seen("") == (min(dates_seen("hopper"), dates_seen("ampere"))[0], "2026-08")
    found = told(BEYOND, "trainium2", date="2030-01")
    assert "no run after 2026-08 was compared" in found


def test_no_month_that_nobody_states_is_beyond() -> None:
    assert not [one for one in told(BEYOND, stack="megatron") if "no run after" in one]


def test_a_month_before_all_of_a_family_names_the_month_of_what_is_taken() -> None:
    (why,) = told("stack", stack="megatron", date="2019-01")
    assert why == "megatron-2021 (the oldest known of megatron, of 2021-04)"
    (why,) = told("stack", stack="megatron", date="2022-01")
    assert why == "megatron-2021 (current in 2022-01 of megatron)"


@pytest.mark.parametrize(
    ("date", "late"), [("2021-06", False), ("2022-04", False), ("2025-01", True)]
)
def test_an_exact_stack_in_a_later_month_says_what_the_month_does(date: str, late: bool) -> None:
    """megatron-2022 took its place in 2022-05."""
    found = told("date", stack="megatron-2021", date=date)
    assert bool(found) is late
    if late:
        assert found[0].startswith(
            "2025-01 (megatron-2021 was current until 2022-05: a later month"
        )
