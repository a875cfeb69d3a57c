"""Exchanges of tokens: how far they go, in how many bytes, and what hides them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from steptime.answer import Prediction, predict
from steptime.formulas.records import TimeFacts
from steptime.formulas.roofline.exchanges import EXCHANGE_SHARE, exchange_s, reached
from steptime.formulas.roofline.step import layer_parts
from steptime.formulas.schedule import SCHEDULES, entry_number, paired_share
from steptime.inputs.constants import published_constants
from steptime.inputs.errors import ConfigError
from steptime.inputs.model import Experts

CONSTANTS = published_constants().of("hopper")


def asked(**changes: Any) -> Prediction:
    given: dict[str, Any] = {
        "model": "deepseek-v3",
        "accelerator": "h800",
        "pp": 16,
        "dp": 128,
        "ep": 64,
        "seq_length": 4096,
        "global_batch_size": 15360,
        "precision": "fp8",
        "schedule": "dualpipe",
        "stack": "deepseek-v3",
    }
    return predict(**given | changes)


def facts_of(found: Prediction) -> TimeFacts:
    assert found.software.time is not None
    return found.software.time


# ---- derived by drawing: node-limited routing as deepseek2024, Sec. 2.1.2 and 4.2 describe it


@pytest.mark.parametrize(("domains", "tolerance"), [(8, 0.02), (64, 0.02), (4, 0.02)])
def test_tokens_reach_as_many_groups_as_routing_lets_them(domains: int, tolerance: float) -> None:
    scores = np.random.default_rng(7).random((20000, 8, 32))
    best_two = np.sort(scores, axis=2)[:, :, -2:].sum(axis=2)
    barred = best_two < np.sort(best_two, axis=1)[:, 4:5]
    open_scores = np.where(barred[:, :, None], -1.0, scores).reshape(len(scores), 256)
    picks = np.argsort(-open_scores, axis=1)[:, :8]
    held = np.sort(picks // (256 // domains), axis=1)
    drawn = 1.0 + (np.diff(held, axis=1) > 0).sum(axis=1).mean()
    assert reached(asked().record, float(domains)) == pytest.approx(drawn, rel=tolerance)


# ---- published: 8 bits out and 16 back (deepseek2024, Sec. 3.3.3), links both busy (Sec. 3.2.2)


def test_an_exchange_takes_the_longer_of_its_two_levels() -> None:
    found = asked()
    device, facts = found.step.accelerator, facts_of(found)
    one = exchange_s(found.record, facts, CONSTANTS, 4096.0)
    # Four servers a token of which an eighth is its own, 1.5 bytes a value on the way and back.
    far = 4 * 7 / 8 * 4096 * 7168 * 1.5 / (device.network_bytes_per_s * EXCHANGE_SHARE)
    assert one["shown"] + one["covered"] == pytest.approx(far + CONSTANTS.hop_s, rel=1e-9)
    fast = replace(found.record, network_bytes_per_s=1e15)
    assert 0.0 < exchange_s(fast, facts, CONSTANTS, 4096.0)["covered"] < one["covered"]


def test_a_domain_whose_link_is_slow_is_used_as_two() -> None:
    """Sixteen ranks in a domain: all copies over NVLink, or one for each part over the network."""
    facts = TimeFacts(dispatch_bytes=2.0)
    record = replace(asked().record, ep=16.0, max_groups=0.0, num_experts=256.0)
    copies, halves = reached(record, 16.0), reached(record, 2.0)
    near = replace(record, nvlink_domain=16.0, nvlink_bytes_per_s=1e9, network_bytes_per_s=1e9)
    size = 4096 * 7168 * 2 / EXCHANGE_SHARE / 1e9
    # A quarter of the domain sends most over NVLink still: as two or as four, the less of both.
    four = max(copies * 3 / 4, reached(record, 4.0) * 3 / 4)
    best = min(copies * 15 / 16, max(copies * 7 / 8, halves / 2), four)
    found = exchange_s(near, facts, replace(CONSTANTS, hop_s=0.0), 4096.0)
    assert found["shown"] + found["covered"] == pytest.approx(best * size, rel=1e-9)
    assert best < copies * 15 / 16
    # On a network of half that, four parts wait for it, and two still send less over NVLink.
    slow = replace(near, network_bytes_per_s=4e8)
    assert halves / 2 / 0.4 < copies * 7 / 8 < reached(record, 4.0) * 3 / 4 / 0.4
    found = exchange_s(slow, facts, replace(CONSTANTS, hop_s=0.0), 4096.0)
    assert found["shown"] + found["covered"] == pytest.approx(copies * 7 / 8 * size, rel=1e-9)
    fast = replace(near, nvlink_bytes_per_s=1e11)
    found = exchange_s(fast, facts, replace(CONSTANTS, hop_s=0.0), 4096.0)
    assert found["shown"] + found["covered"] == pytest.approx(copies * 15 / 16 * size / 100)


def test_dispatch_is_narrow_where_the_software_says_so_and_products_are() -> None:
    assert facts_of(asked()).dispatch_bytes == 1.0
    assert facts_of(asked(precision="bf16")).dispatch_bytes == 2.0
    assert facts_of(asked(stack="megatron-core")).dispatch_bytes == 2.0


# ---- invariant: what hides is a property of schedule and software


def test_schedules_that_pair_passes_are_those_whose_authors_run_pairs() -> None:
    able = {name for place, name in enumerate(SCHEDULES) if entry_number("pairs", place) > 0.0}
    assert able == {"interleaved-1f1b", "dualpipe", "dualpipe-v"}
    dualpipe, plain = float(SCHEDULES.index("dualpipe")), float(SCHEDULES.index("1f1b"))
    assert paired_share(dualpipe, 16.0, 120.0, 1.0) == pytest.approx(104 / 120)
    assert paired_share(plain, 16.0, 120.0, 1.0) == 0.0
    # Two passes of one chunk are never under way at once.
    chunks = float(SCHEDULES.index("interleaved-1f1b"))
    assert paired_share(chunks, 8.0, 64.0, 1.0) == 0.0
    assert paired_share(chunks, 8.0, 64.0, 2.0) == pytest.approx(56 / 64)
    # megatronlm2026, combined_1f1b.py: one forward first, one backward last.
    assert paired_share(plain, 1.0, 64.0, 1.0) == pytest.approx(63 / 64)


@pytest.mark.parametrize("pp", [4, 8, 16])
def test_a_middle_rank_of_dualpipe_leaves_as_many_passes_alone_as_there_are_ranks(pp: int) -> None:
    from steptime.formulas.schedules.dualpipe import dualpipe_order

    m = 4 * pp
    mark = m * (4 * pp + 1)
    order = dualpipe_order(pp, m, 1)[pp // 2 - 1]
    pairs = sum(code == mark for code in order)
    # The rank where both streams turn leaves its first pair apart, so that it ends sooner.
    assert m - pairs - 1 == pp


@pytest.mark.parametrize("stack", ["deepseek-v3", "megatron-core"])
def test_pairs_hide_what_other_schedules_show(stack: str) -> None:
    def layer_s(**changes: Any) -> float:
        found = asked(stack=stack, **changes)
        return float(layer_parts(found.record, facts_of(found), CONSTANTS, 120.0)["expert"])

    alone = layer_s(schedule="1f1b")
    assert layer_s(facts={"overlap_ep": 0.0}) == alone
    # All but the share of micro-batches that pass alone, and of what hides.
    shown = 1.0 - 104 / 120 * (1.0 - CONSTANTS.contention)
    assert layer_s() == pytest.approx(shown * alone, rel=1e-9)


def test_what_outlasts_its_pair_shows_in_full() -> None:
    found = asked(network_gbit=1.0)
    layer = layer_parts(found.record, facts_of(found), CONSTANTS, 120.0)
    slower = layer_parts(
        replace(found.record, network_bytes_per_s=0.5e9 / 8.0), facts_of(found), CONSTANTS, 120.0
    )
    assert slower["expert"] / layer["expert"] == pytest.approx(2.0, rel=0.02)


# ---- refusal


def test_more_groups_than_there_are_are_refused() -> None:
    with pytest.raises(ConfigError, match="max_groups=5 must be <= num_groups=4"):
        Experts(num_experts=8, top_k=2, expert_ffn_hidden_size=64, num_groups=4, max_groups=5)
