"""One question put to the commands that ask many: a search of one layout, and a table of runs."""

from __future__ import annotations

import csv
import json
import shlex
import tomllib
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from door_questions import Asked, answered_questions, as_row, said, words_of

from steptime.answer import Prediction
from steptime.formulas.candidates import row_rule
from steptime.inputs.layout import SCHEDULES
from steptime.planning.cuts import schedules_for

NUM_COMMANDS = 40
ROOT = Path(__file__).parents[2]
CONFIGS = json.loads((ROOT / "tests/readers/hub_configs.json").read_text(encoding="utf-8"))
Answered = list[tuple[Asked, Prediction]]


@pytest.fixture(scope="module")
def answered() -> Answered:
    """Give random questions over models, devices, software and layouts, all with an answer."""
    return answered_questions(900, seed=12)


def is_searched(asked: Asked, found: Prediction) -> bool:
    """Return whether a search lists a layout: it fits, and is no other one under another name."""
    place, pp, vpp = SCHEDULES.index(asked["schedule"]), asked["pp"], asked["vpp"]
    cut = schedules_for([float(place)], pp, vpp, True) == [place] if pp > 1 else vpp == 1
    return found.fits and cut and row_rule(found.record) == 0.0


# Invariant


def test_a_search_of_one_layout_answers_as_python_does(
    answered: Answered, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = [one for one in answered if is_searched(*one)]
    assert len(listed) >= NUM_COMMANDS
    whole = 0
    for asked, found in listed[:NUM_COMMANDS]:
        gpus = str(found.step.layout.num_devices)
        words = ["search", *words_of(asked), "--gpus", gpus, "--fits-with", "0", "--json"]
        told = said(capsys, words)
        # Beside it stand other splits of its layers, where stages are cut unevenly.
        (own,) = (one for one in told["layouts"] if not one["first_stage_layers"])
        assert (own["step_time_s"], own["memory_bytes"], own["fit_probability"]) == (
            found.step_time_s,
            found.total_bytes,
            found.fit_probability,
        ), asked
        if own is not told["layouts"][0]:
            continue
        whole += 1
        assert told["best_breakdown_s"] == dict(found.breakdown_s)
        assert told["best_memory_bytes"] == dict(found.memory.fullest.parts_bytes)
        assert told["best_step_time_low_s"] == found.step_time_low_s
        assert told["best_step_time_high_s"] == found.step_time_high_s
        assert told["assumptions"] == [asdict(one) for one in found.assumed]
    assert whole > NUM_COMMANDS // 2


@pytest.mark.parametrize("predictor", ["roofline", "baseline"])
def test_a_table_of_runs_is_answered_as_python_does(
    predictor: str, answered: Answered, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = list(islice((one for one in answered if one[1].predictor == predictor), NUM_COMMANDS))
    assert len(some) == NUM_COMMANDS
    rows = [
        as_row(asked).model_dump(exclude_none=True) | {"id": f"mine-{place}"}
        for place, (asked, _) in enumerate(some)
    ]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    path = tmp_path / "mine.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns)
        table.writeheader()
        table.writerows(rows)
    told = said(capsys, ["validate", str(path), "--predictor", predictor, "--json"])
    assert (told["skipped"], len(told["rows"])) == ([], NUM_COMMANDS)
    for row, (asked, found) in zip(told["rows"], some, strict=True):
        assert row["step_time_s"] == found.step_time_s, asked
        assert row["breakdown_s"] == dict(found.breakdown_s), asked
        ends = (row["step_time_low_s"], row["step_time_high_s"])
        assert ends == (found.step_time_low_s, found.step_time_high_s), asked


def test_files_under_other_names_are_answered_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = tomllib.loads((ROOT / "data/accelerators.toml").read_text(encoding="utf-8"))["gb300"]
    words = shlex.split("--seq-length 4096 --global-batch-size 64 --json")
    for place, one in enumerate(CONFIGS):
        answers = set()
        for name, part in (("own-1", "own-2"), ("gloss-moe", "gb2000"), ("gpt-oss-20b", "v10")):
            model = tmp_path / str(place) / name / "config.json"
            model.parent.mkdir(parents=True)
            model.write_text(json.dumps(one["config"]), encoding="utf-8")
            device = tmp_path / f"{part}.toml"
            device.write_text(table(part, entry), encoding="utf-8")
            told = said(capsys, ["predict", "--model", str(model), "-a", str(device), *words])
            # What is said names the model and the device; nothing else may differ.
            answers.add(json.dumps(told).replace(name, "NAME").replace(part, "PART"))
        assert len(answers) == 1, one["name"]


def table(name: str, entry: dict[str, Any]) -> str:
    """Return a part's own file."""
    cells = {key: value for key, value in entry.items() if not isinstance(value, dict)}
    lines = [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in cells.items())]
    return "\n".join([*lines, f"[{name}.source]", 'default = "derived here"', ""])
