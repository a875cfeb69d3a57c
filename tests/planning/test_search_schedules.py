"""The search among schedules that do not run at any size."""

from __future__ import annotations

from dataclasses import replace

from steptime.formulas.candidates import UNFIT, row_rule
from steptime.inputs.fields import SIZES
from steptime.inputs.layout import RULES, SCHEDULES, Layout
from steptime.inputs.presets import accelerator, model
from steptime.pipeline.build import refusal
from steptime.planning.evaluate import HEADS_LEFT, NO_ROUNDS, REASONS, base_job, rows_job
from steptime.planning.question import Question
from steptime.planning.result import evaluated
from steptime.planning.search import search
from steptime.planning.space import ROW_FIELDS, row_blocks

# refusal


def test_rules_of_rows_are_numbered_after_those_of_layouts() -> None:
    numbers = (UNFIT, HEADS_LEFT, NO_ROUNDS)
    assert numbers == tuple(float(len(RULES) + place) for place in (1, 2, 3))
    said = [REASONS[int(number) - 1].partition(":")[0] for number in numbers]
    assert said == ["schedule", "cp", "schedule"]


def test_search_leaves_out_sizes_that_a_schedule_cannot_run_at() -> None:
    asked = Question(
        model=model("llama3-70b"),
        accelerator=accelerator("h100"),
        num_devices=256,
        global_batch_size=256,
        seq_length=4096,
        schedules=("dualpipe", "dualpipe-v"),
    )
    base, reason = base_job(asked), UNFIT
    seen = 0
    for rows in row_blocks(asked, 10**6):
        rules = row_rule(rows_job(base, rows))
        for row, rule in zip(rows[::5], rules[::5], strict=True):
            named = dict(zip(ROW_FIELDS, (int(cell) for cell in row), strict=True))
            m = 256 // (named["dp"] * named["micro_batch_size"])
            if rule in (0.0, reason) and named["pp"] > 1:
                said = refusal(SCHEDULES[named["schedule"]], named["pp"], m, named["vpp"])
                assert bool(said) == (rule == reason), named
                seen += rule == reason
    assert seen
    assert any(name.startswith("schedule: ") for name in search(asked).dropped)


def test_a_v_is_searched_with_any_number_of_micro_batches_as_predict_answers_it() -> None:
    """13 micro-batches on 4 ranks make no equal rounds, which a V does not run in."""
    layout = Layout(tp=8, pp=4, vpp=2, dp=4, zero_stage=1, sequence_parallel=True)
    for schedule in ("zb-v", "v-half", "v-min", "interleaved-1f1b"):
        asked = Question(
            model=model("llama3-70b"),
            accelerator=accelerator("h100"),
            num_devices=128,
            global_batch_size=52,
            seq_length=4096,
            schedules=(schedule,),
            zero_stages=(1,),
            recompute=("none",),
            pinned=tuple((name, (getattr(layout, name),)) for name in SIZES),
            micro_batch_sizes=(1,),
            sequence_parallel=(True,),
            fits_with=0.0,
        )
        if schedule == "interleaved-1f1b":
            told = search(asked)
            assert (told.best, told.dropped) == ((), {REASONS[int(UNFIT) - 1]: 1})
            continue
        (found,) = search(asked).best
        own = evaluated(asked, replace(layout, schedule=schedule), found.batch)
        assert found.layout.schedule == schedule
        assert (found.step_time_s, found.memory_bytes) == (own.step_time_s, own.memory_bytes)
