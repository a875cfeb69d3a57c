"""Where one token more or less would pass unseen: ends of intervals, ranks, a schedule's chunks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import yaml

from steptime.answer import Question, answer
from steptime.evidence.trace_beside import Row
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.presets import model
from steptime.inputs.training_step import TrainingStep, training_step
from steptime.pipeline.build import fixed_chunks
from steptime.planning.asked import search_question
from steptime.planning.causes import MOST_SHARE, Asker, causes_known, wide_slowdown
from steptime.planning.change import resized
from steptime.planning.cuts import settings_lost
from steptime.planning.emit import emitted
from steptime.planning.faster import _pipeline, _sizes
from steptime.planning.front import Kept
from steptime.planning.measured import compared, measured
from steptime.planning.part_causes import _part_s
from steptime.planning.placement import in_use
from steptime.planning.search import search
from steptime.planning.space import ROW_FIELDS, grids

BATCH = Batch(global_batch_size=64, seq_length=8192)


def step(**more: Any) -> TrainingStep:
    asked = {"model": "llama3-8b", "accelerator": "h100", "seq_length": 4096}
    return training_step(**{**asked, "global_batch_size": 64, "micro_batch_size": 1, **more})


# --- by hand


@pytest.mark.parametrize(
    ("sizes", "seq_length", "lost"),
    [
        # TP, CP, PP, DP, copies, EP, ETP; three ways to recompute, four to shard, two to cut.
        ([2, 2, 1, 4, 1, 1, 1], 8, 3 * 4 * 2),
        # Six tokens cannot be cut over 2 x 2 ranks, though over 2 / 2 they could.
        ([2, 2, 1, 4, 1, 1, 1], 6, 3 * 4),
        ([1, 2, 1, 4, 1, 1, 1], 8, 3 * 4),
        # Nobody to share with.
        ([2, 1, 1, 1, 1, 1, 1], 8, 3 * 2),
        ([2, 1, 1, 4, 4, 1, 1], 8, 3 * 2),
        ([2, 2, 1, 1, 1, 1, 1], 8, 3 * 4 * 2),
    ],
)
def test_layouts_that_sizes_stand_for(sizes: list[int], seq_length: int, lost: int) -> None:
    assert settings_lost(sizes, [3, 4, 2], seq_length, 0) == lost


@pytest.mark.parametrize(
    ("layout", "many"),
    [
        (Layout(dp=1), False),
        (Layout(dp=2), True),
        (Layout(cp=2), True),
        (Layout(dp=2, zero_stage=1), True),
    ],
)
def test_gradients_of_two_ranks_overlap_and_of_one_have_nobody_to_go_to(
    layout: Layout, many: bool
) -> None:
    told = yaml.safe_load(emitted("megatron-bridge", model("llama3-8b"), layout, BATCH))
    assert told["ddp"]["overlap_grad_reduce"] is many
    assert told["ddp"]["overlap_param_gather"] is (many and layout.zero_stage > 0)


def test_a_schedule_that_is_offered_has_its_own_number_of_chunks() -> None:
    offered = [change.stated for change in _pipeline(step(pp=4, schedule="1f1b"))]
    chunks = {stated["schedule"]: stated["vpp"] for stated in offered}
    assert {"zb-h1", "zb-v", "interleaved-1f1b"} == set(chunks)
    for name in ("zb-h1", "zb-v"):
        assert chunks[name] == fixed_chunks(name)
    assert [*_pipeline(step(dp=4))] == []


def test_the_ends_of_an_interval_are_inside_it() -> None:
    own = answer(Question(step=step(dp=8)))
    low, high = own.step_time_low_s, own.step_time_high_s
    assert low is not None
    assert high is not None
    found = measured(f"{own.step_time_s}s", own)
    beyond = (low * (1.0 - 1e-12), high * (1.0 + 1e-12))
    for time_s, inside in ((low, True), (high, True), *((one, False) for one in beyond)):
        assert compared(replace(found, step_time_s=time_s), own).inside is inside


@pytest.mark.parametrize(
    ("used", "domains", "devices", "words"),
    [
        (8, 1, 8, "8 GPUs in use"),
        (8, 2, 16, "8 GPUs in use in each"),
        (8, 2, 12, "8 GPUs in use in each, 4 in the last"),
    ],
)
def test_devices_in_use_by_hand(used: int, domains: int, devices: int, words: str) -> None:
    assert in_use(used, domains, devices) == words


def test_the_one_flag_saves_the_most_of_all() -> None:
    loose = {"flash": 0.0, "overlap_dp": 0.0, "eager": 1.0}
    slow = step(tp=8, dp=2, stack="megatron-core", recompute="none", facts=loose)
    asker = Asker(own=answer(Question(step=slow)), software="megatron")
    ways = [asker.without_cause(entry) for entry in causes_known().values()]
    saved = [1.0 - one.step_time_s / asker.own.step_time_s for one in ways if one and one.fits]
    assert len({one for one in saved if one > 0.01}) > 1
    assert asker.best_change()[1] == max(saved)


def test_between_the_best_and_the_fastest_stands_the_first_that_is_halfway_as_sure() -> None:
    asked = search_question(
        model="llama3-8b", accelerator="h100", num_gpus=8, global_batch_size=64, seq_length=4096
    )
    one = search(asked).best[0]
    sized = [
        replace(one, step_time_s=time_s, fit_probability=chance)
        for time_s, chance in ((1.0, 0.0), (2.0, 0.3), (3.0, 0.4), (4.0, 0.8))
    ]
    for place, each in enumerate(sized, 1):
        sized[place - 1] = replace(each, batch=replace(BATCH, global_batch_size=64 * place))
    found = replace(search(asked), best=(sized[3],), front=tuple(sized), num_fitting=0)
    # Half of 0 and 0.8 is 0.4.
    assert found.trade_off == (sized[3], sized[2], sized[0])
    # Where it is not known how sure one fits, it counts as not at all.
    unknown = (replace(sized[0], fit_probability=None), *sized[1:])
    assert replace(found, front=unknown).trade_off == (sized[3], sized[2], unknown[0])


@pytest.mark.parametrize(
    ("given", "sizes", "beside"),
    [
        # One rank has nobody to cut a sequence with; two have, and what is off stays off.
        ({"tp": 2, "sequence_parallel": True}, {"tp": 1}, {"sequence_parallel": False}),
        ({"tp": 2, "sequence_parallel": True}, {"tp": 4}, {}),
        ({"tp": 2, "sequence_parallel": False}, {"tp": 1}, {}),
        # What nobody stated needs no option.
        ({"tp": 2}, {"tp": 1}, {}),
        # Chunks and their schedule go with the last stage alone.
        (
            {"pp": 4, "vpp": 2, "schedule": "interleaved-1f1b"},
            {"pp": 1},
            {"vpp": 1, "schedule": "1f1b"},
        ),
        ({"pp": 4, "vpp": 2, "schedule": "interleaved-1f1b"}, {"pp": 2}, {}),
        ({"pp": 4, "schedule": "gpipe"}, {"pp": 2}, {}),
    ],
)
def test_what_cannot_stay_beside_another_size(
    given: dict[str, Any], sizes: dict[str, int], beside: dict[str, Any]
) -> None:
    stated = resized(step(**given, dp=4), **sizes).stated
    assert {name: one for name, one in stated.items() if name != "num_gpus"} == sizes | beside


def test_a_cause_counts_up_to_twice_the_gap_and_from_a_hundredth_of_the_step() -> None:
    own = answer(Question(step=step(dp=8, global_batch_size=512, stack="megatron-core")))
    asker = Asker(own=own, software="megatron")
    ways = {name: asker.with_cause(entry) for name, entry in causes_known().items()}
    times = {
        name: one if isinstance(one, float) else one.step_time_s
        for name, one in ways.items()
        if one is not None
    }
    least, small = 1.01 * own.step_time_s, 0.004 * own.step_time_s
    assert any(0.0 < one - own.step_time_s < small for one in times.values())
    assert [*asker.causes(own.step_time_s + small, is_rate=False)] == []
    name, time_s = max(times.items(), key=lambda one: one[1])
    assert time_s > least

    def named(gap_s: float) -> bool:
        return name in [one.name for one in asker.causes(own.step_time_s + gap_s, is_rate=False)]

    half = (time_s - own.step_time_s) / MOST_SHARE
    assert (named(0.999 * half), named(1.001 * half)) == (False, True)


def test_a_chance_to_fit_of_one_is_no_bound() -> None:
    asked = {"model": "llama3-8b", "accelerator": "h100", "num_gpus": 8, "seq_length": 4096}
    assert search_question(**asked, global_batch_size=64, fits_with=0.0).fits_with == 0.0
    with pytest.raises(ConfigError, match=r"fits_with must be in \[0, 1\), such as 0.9, got 1.0"):
        search_question(**asked, global_batch_size=64, fits_with=1.0)


@pytest.mark.parametrize(
    ("given", "offered"),
    [
        # Of one rank there is no half; of eight copies one can be taken for two stages.
        ({"dp": 8}, {("tp", 2), ("cp", 2), ("pp", 2)}),
        ({"dp": 1}, set()),
        ({"dp": 8, "tp": 2}, {("tp", 1), ("tp", 4), ("cp", 2), ("pp", 2)}),
        # Of three stages neither a half nor one that the copies would take up is offered.
        ({"dp": 8, "pp": 3}, {("pp", 6), ("tp", 2), ("cp", 2)}),
    ],
)
def test_sizes_that_are_offered_are_halves_and_doubles(
    given: dict[str, int], offered: set[tuple[str, int]]
) -> None:
    names = ("tp", "cp", "pp")
    changes = [change.stated for change in _sizes(step(**given))]
    assert {(name, one[name]) for one in changes for name in names if name in one} == offered


def test_what_the_file_itself_asks_for_gains_nothing_that_is_known() -> None:
    own = answer(Question(step=step(dp=8)))
    found = measured(f"{own.step_time_s}s", own)
    told = compared(found, own, asks_wide=True, software="megatron")
    assert (told.inside, told.change, told.gain_fraction) == (True, "--bf16", 0.0)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_of_layouts_alike_in_all_else_the_first_choice_of_each_switch_comes_first(
    place: int,
) -> None:
    switches = np.zeros((2, 3), dtype=int)
    switches[0, place] = 1
    kept = Kept(np.ones(2), np.ones(2), np.ones((2, 10)), switches)
    assert kept.order().tolist() == [1, 0]


@pytest.mark.parametrize(
    ("given", "sizes", "devices"),
    [
        # Who names devices is told how many a change takes, and only where it takes others.
        ({"num_gpus": 8}, {"dp": 16}, 16),
        ({"num_gpus": 8}, {"tp": 2, "dp": 4}, None),
        ({"dp": 8}, {"dp": 16}, None),
    ],
)
def test_devices_are_stated_anew_where_they_were_stated_and_change(
    given: dict[str, int], sizes: dict[str, int], devices: int | None
) -> None:
    assert resized(step(**given), **sizes).stated.get("num_gpus") == devices


def test_products_in_32_bits_slow_a_part_by_any_gap() -> None:
    asker = Asker(own=answer(Question(step=step(dp=8))), software="megatron")
    factor = wide_slowdown(asker.own)
    assert factor is not None
    for measured_s in (0.6, 3.0):
        row = Row(part="compute", title="", measured_s=measured_s, predicted_s=0.5, hidden_s=0.0)
        assert _part_s(row, asker, "fp32") == 0.5 * factor


def test_as_many_stages_as_layers_are_searched_and_no_more() -> None:
    # Llama 3 8B has 32 layers.
    asked = {"model": "llama3-8b", "accelerator": "h100", "num_gpus": 64, "seq_length": 4096}
    place = ROW_FIELDS.index("pp")
    every = grids(search_question(**asked, global_batch_size=64), 10_000)
    assert max(max(one.rows()[:, place]) for one in every) == 32
