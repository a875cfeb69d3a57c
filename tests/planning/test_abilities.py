"""What software can run: said, searched, offered and written from one table."""

from __future__ import annotations

import random
from dataclasses import fields
from typing import Any

import pytest

from steptime.answer import predict
from steptime.answer.choices import choices_of
from steptime.evidence.row_question import question_of_run
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.schema import published_rows
from steptime.inputs.ability import EVERYTHING, NOT_RUN, Limit, ability_named, ability_of, not_had
from steptime.inputs.counted import COUNTED
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.fields import SIZES
from steptime.inputs.layout import RECOMPUTE, SCHEDULES, Batch, Layout
from steptime.inputs.precision import PRECISIONS
from steptime.inputs.said import Said
from steptime.inputs.stack import families
from steptime.planning.asked import search
from steptime.planning.emit.torchtitan import SCHEDULES as TORCHTITAN
from steptime.planning.explain import explained
from steptime.planning.faster import faster
from steptime.planning.remedy import remedies
from steptime.planning.result import answered
from steptime.planning.search import search as search_of

ASKED: dict[str, Any] = {
    "model": "llama3-8b",
    "accelerator": "h100",
    "num_gpus": 64,
    "global_batch_size": 128,
    "seq_length": 8192,
}
TABLE = data_table("abilities.toml")
FAMILIES = tuple(TABLE)
OWN = {"neuron": "trainium2", "mindspeed": "ascend-910b"}
"""A device of each family that starts on no GPU."""
BATCH = Batch(global_batch_size=64, seq_length=4096)
RUN = ("vpp", "schedule", "recompute")
"""Fields that nobody states here, and that some software limits."""
FORK = "qi2023"
"""The source whose runs are of a fork of Megatron-LM with schedules of its own."""


def on_own(family: str) -> dict[str, Any]:
    """Return what is asked, on a device on which a family starts."""
    return ASKED | {"accelerator": OWN.get(family, "h100")}


def lines() -> list[tuple[str, dict[str, Any]]]:
    """Return every limit, with its family."""
    table = data_table("abilities.toml")
    return [(family, line) for family, entry in table.items() for line in entry["limits"]]


# --- the table


def test_every_limit_is_of_a_family_and_a_field_and_can_be_broken() -> None:
    words = {"schedule": SCHEDULES, "recompute": RECOMPUTE, "precision": PRECISIONS}
    for family, line in lines():
        assert family in families()
        counts = line["of"] in COUNTED
        assert counts != (line["of"] in {field.name for field in fields(Layout)})
        assert ({"asks", "runs", "option"} <= {*line}) == counts
        where = line.get("where", ())
        assert {*([where] if isinstance(where, str) else where)} <= {*SIZES, "zero_stage"}
        assert ("one_of" in line) + ("most" in line) + ("least" in line) == 1
        if "one_of" in line:
            assert {*line["one_of"]} < {*words[line["of"]]}
        # A schedule and chunks mean nothing without stages.
        assert (line["of"] in ("schedule", "vpp")) <= (line.get("where") == "pp")
    assert {*ability_named("torchtitan").limits[0].one_of} == {*TORCHTITAN}


def test_published_runs_break_no_limit_but_by_code_of_their_own() -> None:
    """The table says nothing that a run in the data contradicts."""
    checked, told = 0, set()
    for row in published_rows():
        try:
            step = question_of_run(run_of(row)).step
        except (Incomplete, ConfigError):
            continue
        checked += ability_of(step.said) is not EVERYTHING
        for one in not_had(step.said, step.layout, step.batch):
            told.add((row.source, one.value.partition("=")[0], "models written for it" in one.why))
    assert checked > 700
    # Llama 3's own code does as Megatron-Core does, and shards as that learnt to later.
    # DeepSpeed around models with stages and tensor ranks of their own is no ready-made trainer.
    assert told == {
        (FORK, "schedule", False),
        ("grattafiori2024", "zero_stage", False),
        ("atorch2023", "pp", True),
        ("atorch2023", "tp", True),
    }


def test_software_can_what_it_learnt_unless_its_age_is_stated() -> None:
    plain = ability_of(Said(stack="megatron"))
    assert plain.runs("cp", 8)
    assert plain.runs("recompute", "selective")
    old = ability_of(Said(stack="megatron", date="2022-01"))
    assert not old.runs("cp", 2)
    assert not old.runs("recompute", "selective")
    # An exact stack is as young as its last month: the next came in 2023-01 and in 2024-03.
    assert not ability_of(Said(stack="megatron-2022")).runs("cp", 2)
    assert ability_of(Said(stack="megatron-2023")).runs("cp", 2)
    assert not ability_of(Said(stack="torchtitan-2025", date="2025-07")).runs(
        "schedule", "dualpipe-v"
    )
    for nobody in (Said(), Said(stack="usual"), Said(stack="usual-sharded")):
        assert ability_of(nobody) is EVERYTHING


def test_megatron_refused_fp16_beside_expert_ranks_until_2025_12() -> None:
    """megatronlm2026, arguments.py: from 9b0f86e0 to 4193f3aa."""
    layout = Layout(dp=8, ep=8, precision="fp16")
    old = not_had(Said(stack="megatron", date="2024-08"), layout, BATCH)
    assert [one.value for one in old] == ["precision=fp16"]
    assert "fp16 beside ep=8 before 2025-12" in old[0].why
    for said, one in (
        (Said(stack="megatron", date="2024-08"), Layout(dp=8, precision="fp16")),
        (Said(stack="megatron", date="2024-08"), Layout(dp=8, ep=8)),
        (Said(stack="megatron", date="2025-12"), layout),
        (Said(stack="megatron"), layout),
    ):
        assert not_had(said, one, BATCH) == ()


def test_nanotron_starts_no_context_ranks() -> None:
    told = not_had(Said(stack="nanotron"), Layout(cp=4), BATCH)
    assert [one.value for one in told] == ["cp=4"]
    result = search(model="llama3-70b", accelerator="h100", num_gpus=256, seq_length=8192,
        global_batch_size=512, stack="nanotron")  # fmt: skip
    assert {one.layout.cp for one in result.best} == {1}


def test_limits_hold_beside_the_size_that_they_name() -> None:
    two = Limit(of="zero_stage", most=1, where=("pp",))
    assert two.broken_by(Layout(pp=2, dp=2, zero_stage=2), BATCH)
    assert not two.broken_by(Layout(pp=1, dp=2, zero_stage=2), BATCH)
    assert not two.broken_by(Layout(pp=2, dp=2, zero_stage=1), BATCH)
    least = Limit(of="sequence_parallel", least=1, where=("tp",))
    assert least.broken_by(Layout(tp=2), BATCH)
    assert not least.broken_by(Layout(), BATCH)
    both = Limit(of="zero_stage", least=2, where=("dp", "tp"))
    assert both.broken_by(Layout(dp=2, tp=2), BATCH)
    assert not any(both.broken_by(Layout(**{one: 2}), BATCH) for one in ("dp", "tp"))


# --- answers


def test_an_answer_names_what_the_software_does_not_run() -> None:
    asked = {**ASKED, "pp": 4, "vpp": 2, "stack": "nanotron"}
    found = predict(**asked, schedule="interleaved-1f1b").assumed
    assert [one.why for one in found if one.what == NOT_RUN] == [
        "nanotron does not run schedule=interleaved-1f1b; it runs 1f1b or gpipe",
        "nanotron does not run vpp=2; it runs 1 at most",
    ]
    plain = predict(**{**ASKED, "pp": 4, "stack": "nanotron"}).assumed
    assert NOT_RUN not in [one.what for one in plain]
    nobody = predict(**{**asked, "stack": None}).assumed
    assert NOT_RUN not in [one.what for one in nobody]


def test_what_is_taken_where_nobody_says_it_is_run() -> None:
    for family in FAMILIES:
        for pp, vpp in ((1, 1), (4, 1), (4, 2)):
            sizes = {"tp": 2, "pp": pp, "vpp": vpp, "stack": family, "recompute": "full"}
            step = predict(**on_own(family), **sizes).step
            lacks = {*ability_of(step.said).lacking(step.layout, step.batch)}
            # Sizes were asked for; chunks that no schedule of it holds leave none to take.
            assert lacks <= {"tp", "pp", "vpp"} | ({"schedule"} if "vpp" in lacks else set())
    step = predict(**ASKED, pp=4, vpp=2, stack="maxtext").step
    assert step.layout.schedule == "looped-bfs"
    assert predict(**ASKED, pp=4, stack="paxml", recompute="full").step.layout.schedule == "gpipe"


# --- searches


@pytest.mark.parametrize("family", FAMILIES)
def test_a_search_of_everything_ranks_what_its_software_runs(family: str) -> None:
    found = search(**on_own(family), stack=family, schedule="all", micro_batch_size=(1, 2))
    runs = ability_of(Said(stack=family))
    assert found.best
    assert not [one.layout for one in found.best if runs.lacking(one.layout, one.batch)]


@pytest.mark.parametrize("family", ["gpt-neox", "torchtitan", "megatron-deepspeed"])
def test_no_layout_that_the_software_runs_is_lost(family: str) -> None:
    """What is left of the search without the limits, by their own words, is what is found."""
    asked: dict[str, Any] = {**ASKED, "num_gpus": 16, "micro_batch_size": 1, "stack": family}
    runs = ability_of(Said(stack=family))
    kept = search(**asked)
    question = kept.question
    open_again = type(question)(
        **{
            field.name: getattr(question, field.name)
            for field in fields(question)
            if field.name not in ("pinned", "beyond", "schedules", "recompute", "sequence_parallel")
        },
        beyond=tuple(limit.of for limit in runs.limits),
    )
    every = search_of(open_again, keep=100_000)
    run = [one for one in every.best if not runs.lacking(one.layout, one.batch)]
    best = search_of(question, keep=100_000).best
    assert 0 < len(best) < len(every.best)
    assert {(one.layout, one.batch) for one in best} == {(one.layout, one.batch) for one in run}


def test_what_is_asked_for_by_name_is_ranked_and_said() -> None:
    found = search(**ASKED, stack="nanotron", pp=4, vpp=2, schedule="interleaved-1f1b")
    assert {one.layout.vpp for one in found.best} == {2}
    said = [one for one in answered(found.question, found.best[0]).assumed if one.what == NOT_RUN]
    assert {one.value.partition("=")[0] for one in said} >= {"vpp", "schedule"}
    for more in ({"vpp": 2}, {"schedule": "interleaved-1f1b"}):
        alone = search(**ASKED, stack="nanotron", pp=4, **more)
        assert {one.layout.schedule for one in alone.best} == {"interleaved-1f1b"}
    neox = search(**ASKED, stack="gpt-neox", zero_stage=3, pp=2)
    assert {one.layout.zero_stage for one in neox.best} == {3}


# --- what is offered


def test_no_change_that_is_offered_is_beyond_the_software() -> None:
    draw = random.Random(8)
    offered = 0
    for _ in range(60):
        family = draw.choice(FAMILIES)
        sizes = {
            "tp": draw.choice([1, 2, 8]),
            "pp": draw.choice([1, 2, 4]),
            "cp": draw.choice([1, 1, 2]),
            "recompute": draw.choice(["none", "full"]),
        }
        name = draw.choice(["llama3-8b", "llama3-70b", "mixtral-8x7b"])
        try:
            own = predict(**{**on_own(family), "model": name}, **sizes, stack=family)
        except ConfigError:
            continue  # heads that do not fall to context ranks
        runs = ability_of(own.step.said)
        had = {*runs.lacking(own.step.layout, own.step.batch)}
        found = [one.found.step.layout for one in faster(own, own.question)]
        found += [one.step.layout for one in remedies(own)] if not own.fits else []
        best = explained(own.step).best
        found += [best.layout] if best else []
        for layout in found:
            assert {*runs.lacking(layout, own.step.batch)} <= had, (family, sizes, layout)
        offered += len(found)
    assert offered > 150


def test_what_is_open_is_ranked_by_what_the_software_runs() -> None:
    asked = {**ASKED, "pp": 4, "tp": 2}
    for family in ("nanotron", "megatron", "torchtitan", "gpt-neox"):
        own = predict(**asked, stack=family)
        runs = ability_of(own.step.said)
        for name, choices in choices_of(own.step, own.software).items():
            for choice in choices:
                value = choice.stated.get(name)
                assert name not in RUN or runs.runs(name, value), (family, name, value)
    free = predict(**asked)
    assert {*RUN} <= {*choices_of(free.step, free.software)}


def test_a_file_of_a_fork_keeps_its_own_schedule_open() -> None:
    own = predict(**ASKED, pp=4, vpp=1, schedule="zb-h1", stack="megatron")
    assert explained(own.step).question.beyond == ("schedule",)


def test_a_switch_that_software_lacks_is_told_with_its_option() -> None:
    layout = Layout(tp=8, dp=4, sequence_parallel=False)
    told = not_had(Said(stack="torchtitan-2025"), layout, BATCH)
    (one,) = (each for each in told if each.value.startswith("sequence_parallel"))
    assert one.why.endswith("; it runs sequence_parallel=True")
    assert one.how == "--sequence-parallel"
    off = Limit(of="sequence_parallel", most=0)
    assert (off.instead, off.how) == ("sequence_parallel=False", "--no-sequence-parallel")
    assert Limit(of="vpp", most=1).how == "--vpp: 1 at most"
