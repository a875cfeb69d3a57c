"""Published memory peaks, and the wrapper that says whether a step fits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steptime.answer import Question, answer, predict
from steptime.answer.peak import Memory
from steptime.evidence.memory_left_out import left_out
from steptime.evidence.memory_reading import Reading, reading_of
from steptime.evidence.memory_rows import memory_row, memory_rows, memory_summary
from steptime.evidence.nanotron_sweep import nanotron_sweep
from steptime.evidence.row_question import question_of_run
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.formulas.memory import memory_bytes
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import SCHEDULES
from steptime.inputs.stack import stack_names
from steptime.inputs.training_step import TrainingStep, training_step


def llama(**changes: object) -> TrainingStep:
    asked = {"model": "llama3-405b", "accelerator": "h100", "tp": 8, "pp": 16, "dp": 64}
    asked |= {"seq_length": 8192, "global_batch_size": 2048}
    return training_step(**asked | changes)  # type: ignore[arg-type]


def memory(step: TrainingStep) -> Memory:
    return answer(Question(step=step)).memory


BY_ID = {row.id: row for row in published_rows()}
BLOOM = BY_ID["bloom-063"]


def reading(row: PublishedRow = BLOOM, **cells: object) -> Reading:
    return reading_of(question_of_run(run_of(row.model_copy(update=cells))))


# limit


def test_bridge_rows_say_their_modules_or_take_the_recipes() -> None:
    """megatronbridge2026: what a row names, what its recipe states, what waits on the host."""
    rows = {row.id: row for row in published_rows()}
    named = reading(rows["mbridge-118"], recompute="selective modules [mla_up_proj, layernorm]")
    assert (named.facts.recompute_up_projection, named.facts.recompute_norms) == (1.0, 1.0)
    none = reading(rows["mbridge-002"], recompute="core_attn")
    assert none.facts.recompute_up_projection == 0.0
    blank = reading(rows["mbridge-118"])
    assert blank.facts.recompute_up_projection == 1.0
    assert any("newest recipe" in str(one) for one in blank.inferred)
    waiting = reading(rows["mbridge-038"])
    assert (waiting.stack, waiting.facts.offloaded_layers) == ("megatron-bridge-fsdp", 20.0)


def test_a_run_that_ran_did_not_keep_more_than_the_device_has() -> None:
    """With micro-batches of 32 sequences all inputs would not fit, with 16 they do."""
    rows = {row.id: row for row in nanotron_sweep()}
    for line, share in ((517, 0.0), (518, 0.0), (519, 0.75)):
        found = memory_row(rows[f"sweep-{line:04d}"])
        assert found.reading.facts.gathered_inputs == share


def test_the_first_rank_is_read_where_the_source_reads_it() -> None:
    rows, _ = memory_rows(nanotron_sweep()[:50])
    assert all(row.counted is row.memory.ranks[0] for row in rows)
    assert all(row.reading.unit_bytes == 2**30 for row in rows)


@pytest.mark.parametrize(
    ("cells", "stack", "gradient_bytes"),
    [
        ({"precision": "bf16"}, "bloom", 4.0),
        ({}, "bloom", 2.0),
        ({"software": "Megatron-LM", "date": "2021", "zero": "0"}, "megatron-2021", 4.0),
        ({"software": "LLM Foundry", "zero": "3"}, "llm-foundry-2023", 4.0),
        ({"software": "", "zero": "FSDP2 (ZeRO-3)"}, "usual-sharded", 4.0),
        ({"software": "", "date": "2024"}, "usual", 3.657),
    ],
)
def test_stacks_are_told_by_the_columns(
    cells: dict[str, str], stack: str, gradient_bytes: float
) -> None:
    found = reading(**cells)
    assert (found.stack, found.facts.gradient_bytes) == (stack, gradient_bytes)


def test_time_and_memory_are_of_one_software() -> None:
    """No column names a second stack for the memory."""
    assert "memory_stack" not in PublishedRow.model_fields
    found = question_of_run(run_of(BLOOM))
    assert reading_of(found).stack == found.software.stack.name
    assert reading_of(found).facts == found.software.memory


def test_how_memory_was_read_is_stated_or_usual() -> None:
    first = reading(mem_unit="GiB", mem_rank="rank 0")
    assert (first.unit_bytes, first.first_rank) == (2.0**30, True)
    assert reading(mem_unit="", mem_rank="").unit_bytes == 1e9
    assert reading(mem_reading="max_memory_allocated").measures == "allocated"
    assert reading(mem_reading="").measures == "device"
    odd = reading(mem_unit="furlongs")
    assert [one.word for one in odd.inferred if one.word] == ["furlongs"]
    stated = reading(facts="gradient_bytes=3; stage_outputs=0")
    assert (stated.facts.gradient_bytes, stated.facts.stage_outputs) == (3.0, 0.0)
    with pytest.raises(Incomplete, match="unknown fact 'gradient_byte'"):
        reading(facts="gradient_byte=3")


def test_more_chunks_are_not_assumed_for_memory() -> None:
    found = memory(llama(vpp=1, schedule="1f1b"))
    assert found.fullest.in_flight == 15
    chosen = memory(llama(vpp=8, schedule="interleaved-1f1b"))
    assert chosen.fullest.in_flight > 16


def test_sharded_weights_are_of_other_software_where_nobody_names_it() -> None:
    usual = {"model": "llama3-405b", "accelerator": "h100", "tp": 8, "dp": 64}
    usual |= {"seq_length": 8192, "global_batch_size": 2048}
    assert predict(**usual, zero_stage=3).software.stack.name == "usual-sharded"
    assert predict(**usual).software.stack.name == "usual"


# invariant


def test_the_wrapper_says_what_the_formula_says() -> None:
    step = llama(vpp=1, schedule="1f1b", seq_length=2048)
    found = memory(step)
    parts = memory_bytes(step.job(), found.facts)
    assert found.total_bytes == parts["total"]
    assert found.fits is (parts["total"] <= step.accelerator.hbm_bytes)
    assert len(found.ranks) == 16
    assert max(rank.total_bytes for rank in found.ranks) == found.total_bytes
    assert not found.tight
    assert found.reason.startswith("fits: ")
    small = replace(step, accelerator=replace(step.accelerator, hbm_bytes=1.02 * found.total_bytes))
    assert memory(small).tight
    assert replace(memory(small), fit_probability=0.5).reason.startswith("fits tightly: ")
    rare = replace(memory(small), fit_probability=0.31)
    assert rare.reason.startswith("likely does not fit: ")
    assert f"pipeline rank {found.fullest.rank}" in found.reason


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(["gpt3-175b", "llama2-7b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-20b"]),
    sizes=st.fixed_dictionaries(
        {size: st.integers(1, 16) for size in ("tp", "cp", "pp", "dp", "ep", "etp")}
    ),
    seq_length=st.integers(1, 10**6),
    batch=st.integers(1, 4096),
    schedule=st.sampled_from([None, *SCHEDULES]),
    stack=st.sampled_from([None, *stack_names()]),
    zero=st.sampled_from([None, 0, 1, 2, 3]),
)
def test_any_input_is_refused_or_gives_a_finite_answer(
    name: str,
    sizes: dict[str, int],
    seq_length: int,
    batch: int,
    schedule: str | None,
    stack: str | None,
    zero: int | None,
) -> None:
    try:
        step = training_step(
            model=name,
            accelerator="h100",
            seq_length=seq_length,
            global_batch_size=batch,
            schedule=schedule,
            zero_stage=zero,
            stack=stack,
            **sizes,  # type: ignore[arg-type]
        )
        found = memory(step)
    except ConfigError:
        return
    for rank in found.ranks:
        assert all(0 <= part < float("inf") for part in rank.parts_bytes.values())
    assert found.total_bytes >= max(rank.total_bytes for rank in found.ranks) * 0.8


# refusal


def test_rows_that_cannot_be_compared_say_why() -> None:
    with pytest.raises(Incomplete, match="mem_gb is not stated"):
        memory_row(PublishedRow(id="a"))
    rows, skipped = memory_rows([PublishedRow(id="a", mem_gb=40), PublishedRow(id="b")])
    assert rows == ()
    assert skipped == (("a", "seq_len is not stated"),)
    assert memory_summary(rows) is None


def test_models_left_out_are_told_nearly_as_well() -> None:
    rows, _ = memory_rows(nanotron_sweep()[::3])
    found = left_out(rows)
    assert {one.model for one in found} == {
        f"Llama-like {size}B" for size in (1.34, 3.57, 8.86, 80)
    }
    assert sum(len(one.errors) for one in found) == sum(row.run.layout.tp <= 8 for row in rows)
    assert all(one.mean_fraction < 0.12 for one in found)
