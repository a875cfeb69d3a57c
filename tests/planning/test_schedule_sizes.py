"""One rule of the sizes that a schedule runs at, whoever asks: all accept or all refuse."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from page_node import page_answers

from steptime import predict
from steptime.book.explorer_state import FIELD_KEYS
from steptime.cli.main import run
from steptime.inputs.errors import ConfigError
from steptime.inputs.fields import SIZES
from steptime.inputs.layout import SCHEDULES, Layout
from steptime.inputs.presets import accelerator, model
from steptime.pipeline.report import report
from steptime.pipeline.schedules import check_schedule, default_chunks
from steptime.pipeline.timeline import Work, simulate
from steptime.planning.question import Question
from steptime.planning.search import search

NUM_CASES, NUM_COMMANDS = 600, 12
Case = tuple[str, int, int, int]
KNOWN = (
    ("interleaved-1f1b", 4, 2, 13),
    ("interleaved-1f1b", 4, 2, 15),
    ("looped-bfs", 4, 2, 13),
    ("1f1b", 1, 3, 8),
    ("interleaved-zb", 4, 1, 8),
    ("zb-v", 1, 2, 8),
    ("zb-v", 1, 1, 8),
    ("dualpipe", 1, 1, 3),
)
"""Sizes that some of those who are asked here once took and others refused."""
ACCEPTED = (False, True, True, False, True, False, True, True)


def cases() -> list[Case]:
    """Return random sizes, of which a schedule may run at none."""
    draw = random.Random(23)
    names = [name for name in SCHEDULES if name != "zb-auto"]
    drawn = [
        (draw.choice(names), draw.choice((1, 2, 3, 4, 8)), draw.randint(1, 4), draw.randint(1, 24))
        for _ in range(NUM_CASES)
    ]
    return [*KNOWN, *drawn]


def asked_for(case: Case) -> dict[str, Any]:
    name, pp, vpp, m = case
    return {
        "model": "llama3-8b",
        "accelerator": "gb300",
        "seq_length": 2048,
        "global_batch_size": m,
        "micro_batch_size": 1,
        "pp": pp,
        "vpp": vpp,
        "schedule": name,
        "recompute": "full",
    }


def accepted(ask: Any, *arguments: Any, **named: Any) -> bool:
    try:
        ask(*arguments, **named)
    except ConfigError:
        return False
    return True


def listed(case: Case) -> bool:
    """Return whether a search that is pinned to these sizes has the layout."""
    name, pp, vpp, m = case
    layout = Layout(pp=pp, vpp=vpp)
    told = search(
        Question(
            model=model("llama3-8b"),
            accelerator=accelerator("gb300"),
            num_devices=pp,
            global_batch_size=m,
            seq_length=2048,
            schedules=(name,),
            recompute=("full",),
            zero_stages=(0,),
            sequence_parallel=(False,),
            micro_batch_sizes=(1,),
            pinned=tuple((size, (getattr(layout, size),)) for size in SIZES),
            fits_with=0.0,
        )
    )
    return any((one.layout.pp, one.layout.vpp) == (pp, vpp) for one in told.best)


# Invariant


def test_a_drawing_an_answer_and_a_search_take_the_same_sizes() -> None:
    known = []
    for case in cases():
        name, pp, vpp, m = case
        own = accepted(check_schedule, name, pp, m, vpp)
        assert own == accepted(predict, **asked_for(case)) == listed(case), case
        known.append(own)
    assert tuple(known[: len(KNOWN)]) == ACCEPTED
    assert 150 < sum(known) < len(known) - 150


def test_commands_take_the_same_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    for case in cases()[:NUM_COMMANDS]:
        name, pp, vpp, m = case
        own = accepted(check_schedule, name, pp, m, vpp)
        words = [f"--{key.replace('_', '-')}={value}" for key, value in asked_for(case).items()]
        drawn = ["schedule", name, "-p", str(pp), "-m", str(m), "--chunks", str(vpp), "--json"]
        for line in (["predict", *words], ["memory", *words], drawn):
            assert (run(line) != 2) == own, (case, line)
            lines = capsys.readouterr().err.count("\n")
            assert own or lines == 1, (case, line)


@pytest.mark.slow
def test_the_page_takes_the_same_sizes(tmp_path: Path) -> None:
    every = cases()
    told = page_answers([state(asked_for(case)) for case in every], tmp_path)
    for (name, pp, vpp, m), page in zip(every, told, strict=True):
        own = accepted(check_schedule, name, pp, m, vpp)
        assert ("refused" not in page) == own, (name, pp, vpp, m, page)


def state(asked: dict[str, Any]) -> dict[str, Any]:
    """Return a question as the choices of the page, with what it says of nothing else."""
    found = {key: asked[name] for name, key in FIELD_KEYS.items() if name in asked}
    sizes = {key: 1 for name, key in FIELD_KEYS.items() if name in SIZES and name not in asked}
    more = {"n": asked["pp"], "own": "", "by": "roofline", "tokens": 1e12, "domain": 0, "net": 0}
    said = {"stack": "", "date": "", "facts": "", "zero": 0, "sp": 0, "precision": "bf16"}
    return sizes | found | more | said


# Limit


def test_one_stage_runs_one_chunk_whatever_the_name() -> None:
    steps = {
        report(simulate(name, 1, 6, None, Work(forward=1, backward_input=1, backward_weight=1)))[
            "makespan"
        ]
        for name in SCHEDULES
        if default_chunks(name, 1) == 1
    }
    assert len(steps) == 1
    times = {
        (found.step_time_s, found.total_bytes)
        for found in (predict(**asked_for((name, 1, 1, 6))) for name in SCHEDULES)
    }
    assert len(times) == 1
