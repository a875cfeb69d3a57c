"""Random questions, and the ways to ask each of them."""

from __future__ import annotations

import json
import random
import shlex
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from steptime.answer import Prediction, Question, answer, predict
from steptime.cli.main import run
from steptime.evidence.judge import run_result
from steptime.evidence.row_device import HOW_NETWORK
from steptime.evidence.row_question import question_of_run
from steptime.evidence.runs import run_of
from steptime.evidence.schema import PublishedRow
from steptime.inputs.ability import ability_of
from steptime.inputs.assumed import Assumed
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import PRECISIONS, RECOMPUTE, SCHEDULES
from steptime.inputs.presets import accelerator_names, model
from steptime.inputs.software import Said
from steptime.inputs.stack import families, stack_named, stack_names
from steptime.inputs.training_step import device_named, training_step
from steptime.planning.evaluate import (
    base_job,
    bytes_of,
    crossed_job,
    over_software,
    step_function,
    switches,
)
from steptime.planning.question import Question as Search
from steptime.planning.result import evaluated
from steptime.planning.space import ROW_FIELDS

MODELS = (
    *("gpt3-175b", "llama3-8b", "llama3-70b", "llama3-405b", "mixtral-8x7b", "mixtral-8x22b"),
    *("deepseek-v3", "gpt-oss-120b"),
)
SIZES = (1, 1, 1, 2, 2, 4, 8, 16)
SEED = 11
"""Of the questions that everybody is asked, and the page: test_one_door.py, test_page_door.py."""
Asked = dict[str, Any]


DATES = (None, None, "2021-05", "2022-09", "2024-11", "2026-07")


def no_sooner(stack: str | None, date: str | None) -> str | None:
    """Return a month, None where exact software was not there in it yet."""
    exact = stack is not None and Said(stack=stack).exact
    return None if exact and date and date < stack_named(stack).since else date


def drawn(draw: random.Random) -> Asked:
    """Return the inputs of one random question, legal or not."""
    mb, copies = draw.choice((1, 1, 2, 4)), draw.choice((1, 2, 3, 4, 8, 16, 64))
    vpp = draw.choice((1, 1, 2, 2, 3, 4))
    schedule = draw.choice(SCHEDULES if vpp < 3 else ("interleaved-1f1b", "looped-bfs"))
    said = draw.choice((None, None, None, *stack_names(), *families()))
    asked = {
        "model": draw.choice(MODELS),
        "accelerator": draw.choice(accelerator_names()),
        "seq_length": draw.choice((512, 2048, 4096, 8192, 131072)),
        "global_batch_size": copies * mb * draw.choice((1, 2, 5, 8, 64)),
        "micro_batch_size": mb,
        "tp": draw.choice(SIZES),
        "cp": draw.choice((1, 1, 1, 1, 2, 4)),
        "pp": draw.choice(SIZES),
        "vpp": vpp,
        "dp": copies,
        "dp_replicate": draw.choice((1, 1, 1, 1, 2, 4)),
        "ep": draw.choice((1, 1, 1, 2, 4, 8)),
        "etp": draw.choice((1, 1, 2)),
        "sequence_parallel": draw.random() < 0.5,
        "zero_stage": draw.randrange(4),
        "recompute": draw.choice(RECOMPUTE),
        "precision": draw.choice(("bf16", "bf16", "bf16", "bf16", *PRECISIONS)),
        "schedule": schedule,
        "nvlink_domain": draw.choice((None, None, None, 8, 36, 72)),
        "network_gbit": draw.choice((None, None, 100.0, 400.0)),
        "stack": said,
        "date": no_sooner(said, draw.choice(DATES)),
        "facts": draw.choice(({}, {}, {}, {"overlap_dp": 0.0}, {"gradient_bytes": 2.0})),
        "predictor": draw.choice((None, None, None, "roofline", "baseline")),
    }
    if asked["pp"] == 1 and draw.random() < 0.9:
        # No stage to cut into chunks; a tenth asks for some all the same.
        asked["vpp"] = 1
    # A dense model has no experts to cut.
    return asked if model(asked["model"]).experts else asked | {"etp": 1}


def answered_questions(count: int, seed: int) -> list[tuple[Asked, Prediction]]:
    """Return random questions that have an answer, with what `predict` says to each."""
    draw = random.Random(seed)
    found: list[tuple[Asked, Prediction]] = []
    while len(found) < count:
        asked = drawn(draw)
        try:
            found.append((asked, predict(**asked)))
        except ConfigError:
            continue
    return found


def legal_questions(count: int, seed: int) -> list[Asked]:
    """Return random questions that have an answer."""
    return [asked for asked, _ in answered_questions(count, seed)]


def step_of(asked: Asked) -> Any:
    return training_step(**{name: value for name, value in asked.items() if name != "predictor"})


def by_search(asked: Asked) -> tuple[float, float]:
    """Return step time and memory as a search's arrays give them, among other stages."""
    step = step_of(asked)
    layout, batch = step.layout, step.batch
    stages = tuple(dict.fromkeys((0, 1, 3, layout.zero_stage)))
    if step.said.stack is not None:
        stages = (layout.zero_stage,)
    question = search_of(asked, stages)
    row = {name: getattr(layout, name, batch.micro_batch_size) for name in ROW_FIELDS}
    row["schedule"] = SCHEDULES.index(layout.schedule)
    rows = np.array([[float(row[name]) for name in ROW_FIELDS]] * 2)
    choices = switches(question)
    record = crossed_job(base_job(question), rows, choices)
    shape = (2, *choices.shape)
    place = (
        1,
        question.recompute.index(layout.recompute),
        question.zero_stages.index(layout.zero_stage),
        question.sequence_parallel.index(layout.sequence_parallel),
    )
    times = over_software(question, record, choices, shape, step_function(question))
    memory = over_software(question, record, choices, shape, bytes_of)
    return float(times[place]), float(memory[place])


def search_of(asked: Asked, stages: tuple[int, ...]) -> Search:
    step = step_of(asked)
    return Search(
        model=step.model,
        accelerator=step.accelerator,
        num_devices=step.layout.num_devices,
        global_batch_size=step.batch.global_batch_size,
        seq_length=step.batch.seq_length,
        precision=step.layout.precision,
        zero_stages=stages,
        predictor=asked["predictor"],
        said=step.said,
        # What the software does not run is searched where it is asked for.
        beyond=tuple(ability_of(step.said).lacking(step.layout, step.batch)),
    )


def by_candidate(asked: Asked) -> tuple[float, float, float | None]:
    """Return step time, memory and the chance to fit as a search reports a layout."""
    step = step_of(asked)
    one = evaluated(search_of(asked, (step.layout.zero_stage,)), step.layout, step.batch)
    return one.step_time_s, one.memory_bytes, one.fit_probability


def by_step(asked: Asked) -> Prediction:
    """Return the answer for a step that another tool's file would give."""
    return answer(Question(step=step_of(asked), predictor=asked["predictor"]))


def as_row(asked: Asked) -> PublishedRow:
    """Return a question as a row of somebody's table."""
    facts = "; ".join(f"{name}={value}" for name, value in asked["facts"].items())
    network = asked["network_gbit"]
    cells = {
        "id": "mine-1",
        "model": asked["model"],
        "gpu": asked["accelerator"],
        "gpus": asked["tp"] * asked["cp"] * asked["pp"] * asked["dp"],
        "sp": "y" if asked["sequence_parallel"] else "n",
        "zero": str(asked["zero_stage"]),
        "mbs": asked["micro_batch_size"],
        "gbs": asked["global_batch_size"],
        "seq_len": asked["seq_length"],
        "recompute": asked["recompute"],
        "precision": asked["precision"],
        "schedule": asked["schedule"],
        "software": asked["stack"] or "",
        "date": asked["date"] or "",
        "facts": facts,
        "network": "" if network is None else f"{network:g} Gb/s per GPU",
        "nvlink_domain": asked["nvlink_domain"],
        "step_time_s": 1.0,
    }
    sizes = ("tp", "pp", "vpp", "cp", "ep", "etp", "dp", "dp_replicate")
    return PublishedRow.model_validate(cells | {name: asked[name] for name in sizes})


def by_row(asked: Asked) -> tuple[Prediction, Any]:
    """Return the answer for a row, and what `validate` says of it."""
    row = run_of(as_row(asked))
    found = question_of_run(row)
    told = answer(found.question(asked["predictor"]))
    return told, run_result(row, told.predictor)


def in_a_table(one: Assumed) -> Assumed:
    """Return a record as a row has it: its way to state a network is a column."""
    return replace(one, how=HOW_NETWORK) if one.what == "network" else one


def renamed(asked: Asked) -> Asked:
    """Return the question with its model and device under other names."""
    shape = replace(model(asked["model"]), name="gloss-moe", source="mine")
    device = replace(device_named(asked["accelerator"]), name="gb300-like", source="mine")
    return asked | {"model": shape, "accelerator": device}


def said_of(asked: Asked) -> Said:
    return step_of(asked).said


def words_of(asked: Asked) -> list[str]:
    """Return a question as the words of `steptime predict`."""
    flags = {"zero_stage": "--zero", "facts": "--fact"}
    words = []
    for name, value in asked.items():
        flag = flags.get(name, "--" + name.replace("_", "-"))
        if name == "facts":
            words += [part for key, number in value.items() for part in (flag, f"{key}={number}")]
        elif name == "sequence_parallel":
            words.append(flag if value else "--no-sequence-parallel")
        elif value is not None:
            words += [flag, str(value)]
    return words


def said(capsys: pytest.CaptureFixture[str], words: list[str]) -> dict[str, Any]:
    """Return what a command prints as JSON, which it must."""
    assert run(words) == 0, (shlex.join(words), capsys.readouterr().err)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found
