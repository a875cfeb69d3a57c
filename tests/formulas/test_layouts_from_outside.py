"""Ranks, links, rules and the baseline's parts by hand.

Every record is of small whole numbers; the comment at each shows the sum.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from made import job, small_job

from steptime.formulas import (
    baseline,
    candidates,
    placement,
    ranks,
    schedule,
    schedule_rules,
    stage_split,
)
from steptime.formulas.records import BaselineConstants, Job
from steptime.formulas.schedule import SCHEDULES
from steptime.formulas.schedules import forms, v_forms
from steptime.formulas.validity import nearest_multiple

GIGA = 1e9
FREE = BaselineConstants(eta=0.5, latency_s=0.0)


def place(name: str) -> float:
    return float(SCHEDULES.index(name))


def trained(**changed: float) -> Job:
    """Return 4 layers, 8 wide, trained on 8 sequences of 16 tokens, one a micro-batch."""
    sizes = {"seq_length": 16.0, "global_batch_size": 8.0, "micro_batch_size": 1.0}
    return small_job(**(sizes | {"peak_flop_per_s": 1000.0} | changed))


# ---- a sum on paper: the baseline's parts


def test_computing_at_half_of_the_peak() -> None:
    # A layer: attention 2 x 8 x 8 + 2 x 8 x 4 = 192 parameters, a gated network 3 x 8 x 10 = 240.
    # Forward: 2 x 4 x 432 = 3,456 FLOP a token; scores and sums of 4 layers over 16 keys, 2 x 2 x
    # 8 each, 2,048; logits 2 x 100 x 8 = 1,600. Three times 7,104 a token, 128 tokens, on two
    # devices of 1,000 FLOP/s, half of which is reached.
    one = trained(dp=2.0)
    assert baseline.compute_s(one, FREE) == 3 * 7104 * 128 / (2 * 500)


def test_all_reduces_of_two_tensor_ranks() -> None:
    # 16 tokens x 8 x 2 bytes = 256, of which a ring of two sends 256 again: 2.56 s at 100 a
    # second. Four a layer (shoeybi2019, Sec. 3), 4 layers, 8 micro-batches.
    one = trained(tp=2.0)
    assert baseline.tensor_parallel_s(one, FREE, 100.0) == pytest.approx(8 * 4 * 4 * 2.56)


def test_keys_and_values_of_two_context_ranks() -> None:
    # 2 x 16 tokens x 4 wide x 2 bytes = 256; a ring of two sends half. Out, and gradients back.
    one = trained(cp=2.0)
    assert baseline.context_parallel_s(one, FREE, 100.0) == pytest.approx(8 * 4 * 2 * 1.28)


def test_tokens_to_two_ranks_of_experts() -> None:
    # top 1: 256 bytes, half of them leave. Four exchanges a layer (lepikhin2020, Sec. 3).
    one = trained(ep=2.0, num_experts=4.0)
    assert baseline.expert_parallel_s(one, FREE, 100.0) == pytest.approx(8 * 4 * 4 * 1.28)


def test_sends_between_two_stages() -> None:
    # 256 bytes a message, 8 on and 8 back; a second of latency for each.
    late = replace(FREE, latency_s=1.0)
    assert baseline.pipeline_sends_s(trained(pp=2.0), late, 100.0) == pytest.approx(16 * 3.56)
    assert baseline.pipeline_sends_s(trained(), late, 100.0) == 0.0


def test_parts_at_a_pace() -> None:
    # Two stages of 8 micro-batches idle an eighth; the longest chunk is half as long again.
    rates = dict.fromkeys(("tensor", "context", "expert", "pipeline", "data"), 100.0)
    one = trained(pp=2.0)
    parts = baseline.parts_on(one, FREE, rates, 1.5, 1.0)  # type: ignore[arg-type]
    assert parts["compute"] == 1.5 * baseline.compute_s(one, FREE)
    assert parts["bubble"] == pytest.approx(parts["compute"] / 8)
    assert parts["data_parallel"] == 0.0


# ---- a sum on paper: ranks and links


def test_ranks_that_hold_and_share_parameters() -> None:
    assert ranks.weight_copies(job(pp=4.0, schedule=place("1f1b"))) == 1.0
    # deepseek2024, Table 2: twice the parameters.
    assert ranks.weight_copies(job(pp=4.0, schedule=place("dualpipe"))) == 2.0
    assert ranks.weight_copies(job(schedule=place("dualpipe"))) == 1.0
    assert ranks.sharding_stage(job(zero_stage=3.0)) == 0.0
    assert ranks.sharding_stage(job(zero_stage=3.0, dp=2.0)) == 3.0
    # Four tensor ranks hold each of two experts twice: those are shared out all the same.
    experts = job(zero_stage=3.0, tp=4.0, ep=2.0, num_experts=4.0)
    assert (ranks.sharding_stage(experts), ranks.stage_shared(experts)) == (0.0, 3.0)
    assert ranks.stage_shared(job(zero_stage=3.0)) == 0.0


def test_blocks_of_a_rack() -> None:
    # A group of 3 neighbours is cut by servers of 8; one of 4 is not; one server cuts nothing.
    # Of 72 used as 4 of 18 none is cut.
    assert placement.some_group_crosses(18.0, 144.0, 72.0, 1.0) == 0.0
    assert placement.some_group_crosses(3.0, 24.0, 8.0, 1.0) == 1.0
    assert placement.some_group_crosses(4.0, 24.0, 8.0, 1.0) == 0.0
    assert placement.some_group_crosses(3.0, 6.0, 8.0, 1.0) == 0.0


@pytest.mark.parametrize(
    ("size", "span", "rate"), [(1.0, 3.0, 100.0), (3.0, 3.0, 10.0), (4.0, 4.0, 100.0)]
)
def test_the_link_of_a_group(size: float, span: float, rate: float) -> None:
    one = small_job(tp=3.0, dp=8.0)
    assert placement.group_bytes_per_s(one, size, span, 8.0, 1.0) == rate


# ---- a sum on paper: what a search may try


def test_rows_of_a_search_by_hand() -> None:
    one = trained(pp=2.0, vpp=2.0, schedule=place("interleaved-1f1b"))
    assert candidates.row_rule(one) == 0.0
    # Seven micro-batches do not fall into equal rounds; three sequences not to two ranks.
    assert candidates.row_rule(replace(one, global_batch_size=7.0)) == candidates.UNFIT
    assert candidates.row_rule(replace(one, global_batch_size=3.0, dp=2.0)) == 1.0
    # DualPipe with fewer than two micro-batches a stage.
    few = replace(one, vpp=1.0, schedule=place("dualpipe"), global_batch_size=2.0)
    assert candidates.row_rule(few) == candidates.UNFIT


def test_switches_that_make_a_layout_of_their_own() -> None:
    # Sequence parallelism cuts 16 tokens over 2 ranks, not 15, and means nothing for one rank.
    on = trained(tp=2.0, sequence_parallel=1.0)
    assert candidates.own_sequence(on, 1.0, 2.0) == 1.0
    assert candidates.own_sequence(replace(on, seq_length=15.0), 1.0, 2.0) == 0.0
    assert candidates.own_sequence(replace(on, tp=1.0), 1.0, 2.0) == 0.0
    assert candidates.own_sequence(replace(on, tp=1.0), 0.0, 1.0) == 1.0
    assert candidates.own_sequence(replace(on, sequence_parallel=0.0), 0.0, 2.0) == 1.0
    # The first way to shard stands for all where a rank is alone.
    assert candidates.own_sharding(trained(), 0.0) == 1.0
    assert candidates.own_sharding(trained(), 1.0) == 0.0
    assert candidates.own_sharding(trained(dp=2.0), 1.0) == 1.0
    # Four tensor ranks share two ways of cutting experts: each expert is there twice.
    assert candidates.own_sharding(trained(tp=4.0, ep=2.0, num_experts=4.0), 1.0) == 1.0


def test_the_nearest_multiple() -> None:
    assert [nearest_multiple(a, 8.0) for a in (3.0, 11.0, 12.0, 20.0)] == [8.0, 8.0, 16.0, 24.0]


# ---- a sum on paper: schedules


def test_what_schedules_ask_for() -> None:
    names = ("1f1b", "zb-v", "interleaved-1f1b", "dualpipe")
    assert [schedule_rules.chunks_held(place(one)) for one in names] == [1.0, 2.0, 0.0, 1.0]
    # Interleaved 1F1B pairs passes once there are two chunks; DualPipe always; ZB-H1 never.
    assert schedule.runs_pairs(place("interleaved-1f1b"), 1.0) == 0.0
    assert schedule.runs_pairs(place("interleaved-1f1b"), 2.0) == 1.0
    assert schedule.runs_pairs(place("dualpipe"), 1.0) == 1.0
    assert schedule.runs_pairs(place("zb-h1"), 1.0) == 0.0
    # Ten micro-batches on four ranks: two rounds of five. Eleven do not fall into two.
    assert schedule.uneven_rounds(4.0, 10.0) == 0.0
    assert schedule.uneven_rounds(4.0, 11.0) == 1.0
    assert forms.round_size(4.0, 10.0) == 5.0
    assert forms.round_size(4.0, 3.0) == 3.0
    # Two chunks in rounds of three on four ranks: a rank waits one chunk's time for each more.
    assert forms.late_chunks(4.0, 3.0, 2.0) == 1.0
    assert forms.late_chunks(4.0, 3.0, 3.0) == 2.0
    assert forms.late_chunks(4.0, 4.0, 2.0) == 0.0


def test_the_highest_form() -> None:
    # 2 F + W = 7, 2 I = 10 and W - F = 1.
    rows = [[2.0, 0.0, 1.0], [0.0, 2.0, 0.0], [-1.0, 0.0, 1.0]]
    assert forms.highest(rows, 2.0, 5.0, 3.0) == 10.0
    assert forms.highest([[-1.0, 0.0, 0.0]], 2.0, 5.0, 3.0) == 0.0


def test_what_ranks_hold_as_a_line() -> None:
    # narayanan2021, Sec. 2.2.1: p on the first rank of 1F1B, one fewer on each after it.
    assert schedule.held_line(place("1f1b"), 4.0, 8.0, 1.0)["base"] == 4.0
    assert schedule.held_line(place("1f1b"), 4.0, 8.0, 1.0)["slope"] == 1.0


def test_sizes_of_a_table() -> None:
    # As many ranks less a multiple of six; V-Half settles after 1.5 p micro-batches: rows for
    # 1 + 2 numbers at 1 and 2 ranks come before the first of 3 ranks, and one of all others each.
    assert v_forms.as_if(40.0, 32.0) == 28.0
    assert v_forms.as_if(20.0, 32.0) == 20.0
    assert v_forms.settled_at(3.0, 1.5) == 5.0
    assert [v_forms.table_start(p, 1.5) for p in (1.0, 2.0, 3.0)] == [0.0, 2.0, 6.0]


# ---- a sum on paper: stages of stated length


def test_stages_with_stated_ends() -> None:
    # 61 layers on 16 ranks, four on the first and two on the last: 55 on the 14 between, three
    # each and one more on the first 13.
    one = job(num_layers=61.0, pp=16.0, first_stage_layers=4.0, last_stage_layers=2.0)
    split = stage_split.stated_split(one)
    assert split == {
        **{"stated": 1.0, "ahead": 1.0, "stages": 14.0, "rest": 55.0},
        **{"each": 3.0, "longer": 13.0},
    }
    assert stage_split.stated_longest(one) == {"first": 4.0, "middle": 4.0, "last": 2.0}
    assert [stage_split.stated_before(one, r) for r in (1.0, 2.0, 15.0)] == [4.0, 8.0, 59.0]
    assert stage_split.stated_most(one) == 4.0
    assert stage_split.stated_pace(one) == 64.0 / 61.0
    # Five of the 55 are over after two of the stages, 54 after the last.
    assert [stage_split.stages_before(split, n) for n in (5.0, 54.0)] == [2.0, 14.0]


@pytest.mark.parametrize(
    ("layers", "ranks", "first", "last", "fault"),
    [
        (61.0, 16.0, 4.0, 2.0, 0.0),
        # One rank has no ends; nine of ten leave one for three; two ends must have all.
        (10.0, 1.0, 4.0, 0.0, 1.0),
        (10.0, 4.0, 9.0, 0.0, 1.0),
        (10.0, 2.0, 4.0, 4.0, 1.0),
        (10.0, 2.0, 4.0, 6.0, 0.0),
        (10.0, 1.0, 0.0, 0.0, 0.0),
    ],
)
def test_stated_ends_that_cannot_be(
    layers: float, ranks: float, first: float, last: float, fault: float
) -> None:
    one = job(num_layers=layers, pp=ranks, first_stage_layers=first, last_stage_layers=last)
    assert stage_split.split_fault(one) == fault


@pytest.mark.parametrize(
    ("asked", "block"),
    [
        # 8 x 2 ranks of 72, with 64 of experts beside them or not; 8 of a server; 16 fit in none.
        ((72.0, 8.0, 2.0, 1.0, 0.0), 16.0),
        ((72.0, 8.0, 2.0, 64.0, 1.0), 64.0),
        ((8.0, 8.0, 2.0, 1.0, 0.0), 8.0),
        ((8.0, 16.0, 1.0, 1.0, 0.0), 1.0),
    ],
)
def test_ranks_that_a_domain_keeps_together(asked: tuple[float, ...], block: float) -> None:
    assert placement.kept_block(*asked) == block
