"""Layers of the ends of a pipeline: what stating them does, and the split that a search finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import steptime
from steptime.answer.answer import answer
from steptime.answer.question import Question as Asked
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import model
from steptime.planning.asked import search_question
from steptime.planning.emit import emitted
from steptime.planning.emit.best import emission
from steptime.planning.emit.read_back import read_back
from steptime.planning.result import answered
from steptime.planning.search import search
from steptime.planning.splits import LEAST_GAIN

STEP: dict[str, Any] = {
    **{"model": "llama3-8b", "accelerator": "h100", "seq_length": 4096},
    **{"global_batch_size": 256, "tp": 1, "pp": 4, "dp": 16, "zero_stage": 1, "recompute": "none"},
}
DEEPSEEK: dict[str, Any] = {
    **{"model": "deepseek-v3", "accelerator": "h100", "num_gpus": 2048, "seq_length": 4096},
    **{"global_batch_size": 15360, "tp": 2, "cp": 1, "pp": 8, "ep": 64, "etp": 1},
    **{"micro_batch_size": 1, "recompute": "none", "zero_stage": 1},
}


def test_a_lighter_last_rank_is_faster_where_the_head_is_heavy() -> None:
    # The head of 128 k words costs as much as two and a half of Llama 3 8B's 32 layers.
    even, lighter, heavier = (
        steptime.predict(**STEP, last_stage_layers=last).step_time_s for last in (0, 6, 10)
    )
    assert lighter < even < heavier
    # The slowest of 8, 9, 9 and 6 layers with the head are nine layers, of eight with it 10.4.
    assert lighter / even == pytest.approx(9.0 / 10.4, rel=0.05)


def test_the_fullest_rank_is_that_of_the_split() -> None:
    found = steptime.predict(**STEP, first_stage_layers=11, last_stage_layers=5)
    assert [one.num_layers for one in found.memory.ranks] == [11, 8, 8, 5]
    assert found.total_bytes > steptime.predict(**STEP).total_bytes
    assert found.memory.fullest.rank == 0


def test_the_cut_of_equal_stages_is_the_one_that_nobody_states() -> None:
    # 32 layers over 4 ranks are 8 each, said or not.
    stated = steptime.predict(**STEP, first_stage_layers=8, last_stage_layers=8)
    plain = steptime.predict(**STEP)
    assert stated.breakdown_s == plain.breakdown_s
    assert stated.total_bytes == plain.total_bytes
    chapter = {"predictor": "baseline"}
    assert (
        steptime.predict(**STEP, **chapter, first_stage_layers=8).step_time_s
        == steptime.predict(**STEP, **chapter).step_time_s
    )


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ({"first_stage_layers": 31}, "31 and last_stage_layers=0 .* 32 layers over pp=4"),
        ({"first_stage_layers": 16, "last_stage_layers": 16}, "each of the others needs a layer"),
        ({"first_stage_layers": -1}, "first_stage_layers=-1|first_stage_layers must"),
        ({"pp": 1, "dp": 64, "last_stage_layers": 4}, "use 0 for both to cut evenly"),
    ],
)
def test_what_cannot_be_cut_is_refused(ends: dict[str, int], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        steptime.predict(**STEP | ends)


@pytest.mark.parametrize("schedule", ["1f1b", "zb-v", "dualpipe"])
def test_every_schedule_takes_a_split(schedule: str) -> None:
    base = STEP | {"schedule": schedule, "global_batch_size": 512}
    heavy = steptime.predict(**base, first_stage_layers=14, last_stage_layers=2).step_time_s
    assert heavy > steptime.predict(**base).step_time_s


def test_a_search_finds_no_worse_split_than_trying_all() -> None:
    question = search_question(**DEEPSEEK)
    result = search(question)
    best = result.best[0]
    assert best.layout.first_stage_layers
    assert best.layout.last_stage_layers
    assert result.splits.timed > 0
    every = {}
    for first in range(1, 12):
        for last in range(1, 12):
            ends: dict[str, Any] = {"first_stage_layers": first, "last_stage_layers": last}
            ask = question.step(replace(best.layout, **ends), best.batch)
            every[first, last] = answer(Asked(step=ask)).step_time_s
    assert best.step_time_s <= min(every.values()) * (1.0 + LEAST_GAIN)
    # The layout as the software cuts it is listed too, behind.
    plain = [one for one in result.best if not one.layout.first_stage_layers]
    assert plain[0].step_time_s > best.step_time_s * (1.0 + LEAST_GAIN)


def test_a_split_found_is_answered_as_it_was_ranked() -> None:
    result = search(search_question(**DEEPSEEK))
    for one in result.best[:20]:
        found = answered(result.question, one)
        assert found.step_time_s == pytest.approx(one.step_time_s, rel=1e-12)
        assert found.total_bytes == pytest.approx(one.memory_bytes, rel=1e-12)


def test_stated_ends_hold_for_every_layout_of_a_search() -> None:
    result = search(search_question(**DEEPSEEK, first_stage_layers=6))
    assert {one.layout.first_stage_layers for one in result.best} == {6}
    assert result.splits.timed == 0


def test_software_that_cuts_by_cost_is_offered_no_split() -> None:
    asked = {"model": "llama3-8b", "accelerator": "h100", "num_gpus": 64, "seq_length": 4096}
    result = search(search_question(**asked, global_batch_size=256, pp=4, stack="nanotron"))
    assert result.splits.timed == 0


@pytest.mark.parametrize(
    ("kind", "ends", "says"),
    [
        ("megatron", (8, 6), "--decoder-first-pipeline-num-layers 8"),
        ("megatron", (8, 6), "--decoder-last-pipeline-num-layers 6"),
        # 32 - 5 over three ranks.
        ("megatron", (5, 0), "--decoder-first-pipeline-num-layers 5"),
        # The others come out unlike: 19 over two ranks.
        ("megatron", (7, 6), "--pipeline-model-parallel-layout 'Et*7|t*10|t*9|t*6L'"),
        ("megatron-bridge", (8, 6), "num_layers_in_first_pipeline_stage: 8"),
        # Its own default: 34 over four are 9, 9, 8 and 8, less one at both ends.
        ("torchtitan", (8, 7), "pipeline_parallel_last_stage_less_layers = 1"),
        # With three for the head 35 are 9, 9, 9 and 8.
        ("torchtitan", (9, 5), "pipeline_parallel_last_stage_less_layers = 3"),
    ],
)
def test_a_split_is_written_and_read_back(kind: str, ends: tuple[int, int], says: str) -> None:
    names = dict(zip(("first_stage_layers", "last_stage_layers"), ends, strict=True))
    stage = 2 if kind == "torchtitan" else 1
    asked = STEP | {"zero_stage": stage, "vpp": 1, "dp": None, "num_gpus": 64, "cp": 1}
    result = search(search_question(**asked, **names, stack=kind.partition("-")[0]))
    found = emission(kind, result)
    assert says in found.text
    own = answered(result.question, found.candidate)
    assert read_back(kind, found.text, own).step.layout == found.candidate.layout


def test_who_has_no_words_for_a_split_refuses_it() -> None:
    layout = replace(steptime.predict(**STEP).step.layout, last_stage_layers=6)
    batch = steptime.predict(**STEP).step.batch
    with pytest.raises(ConfigError, match="nanotron does not run last_stage_layers=6"):
        emitted("nanotron", model("llama3-8b"), layout, batch)
    # torchtitan's counts give the first ranks what is left over, never the last: it is written out.
    odd = replace(layout, first_stage_layers=1, last_stage_layers=13)
    text = emitted("torchtitan", model("llama3-8b"), replace(odd, zero_stage=2), batch)
    assert '["tok_embeddings", "layers.0"],' in text


def test_a_search_says_what_splits_that_it_did_not_try_would_have_to_save() -> None:
    open_: dict[str, Any] = {**DEEPSEEK, "pp": None, "tp": None}
    question = search_question(**open_)
    few, many = search(question, keep=200), search(question, keep=2000)
    assert few.splits.to_win is not None
    fastest = min(one.step_time_s for one in few.best)
    plain = search(question, keep=200, splits=False).best[-1].step_time_s
    assert few.splits.to_win == pytest.approx(1.0 - fastest / plain)
    # None of two thousand saves as much, so the best of fifty is the best of all of them.
    assert many.splits.most_saved < few.splits.to_win
    assert few.best[0] == many.best[0]
    assert 0.0 < few.splits.most_saved <= many.splits.most_saved < 1.0
    assert f"{100.0 * few.splits.to_win:.1f} % to win" in few.splits.remark


def test_where_every_layout_is_kept_no_other_split_could_win() -> None:
    question = search_question(**DEEPSEEK)
    found = search(question, keep=10_000)
    assert len(found.best) < 10_000
    assert (found.splits.to_win, found.splits.remark) == (None, "")
