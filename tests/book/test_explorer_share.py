"""What a reader copies from the explorer, run: the same numbers to the last digit."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from steptime.book.explorer_page import write_modules
from steptime.book.node import node_path
from steptime.cli.main import every_command
from steptime.inputs.layout import SCHEDULES
from steptime.pipeline.build import fixed_chunks

RUNNER = Path(__file__).with_name("explorer_share.mjs")
# The second of each kind says all that a file of a model can.
OWN = {
    "dense": [
        "40-5120-13824-40-8-64000-1-0-0-0-0-0",
        "40-5120-13824-40-8-64000-1-0-0-0-0-0-96-2048-1024-20-40-0-0-0-0-0-0-0",
    ],
    "experts": [
        "32-4096-11008-32-8-100000-1-1-64-6-1408-2",
        "32-4096-11008-32-32-100000-1-1-64-6-1408-2-128-0-0-0-3-8-4-1536-512-128-64-128",
    ],
}
PRESETS = {"dense": ["gpt3-175b", "llama3-405b"], "experts": ["mixtral-8x7b", "deepseek-v3"]}


def some_states() -> list[dict[str, Any]]:
    """Return states for each schedule, dense and experts, many of which cannot be cut."""
    draw = random.Random(12)
    states: list[dict[str, Any]] = []
    for schedule in SCHEDULES:
        for kind, presets in PRESETS.items():
            for _ in range(12):
                tp, pp, cp, copies = (draw.choice([1, 2, 4, 8]) for _ in range(4))
                model = draw.choice([*presets, "own"])
                mb = draw.choice([1, 2])
                experts = kind == "experts"
                states.append(
                    {
                        "kind": kind,
                        "model": model,
                        "own": draw.choice(OWN[kind]) if model == "own" else "",
                        "gpu": draw.choice(["a100-80gb", "h100", "gb200"]),
                        "n": tp * max(pp, 2) * cp * copies,
                        "tp": tp,
                        "pp": max(pp, 2),
                        "cp": cp,
                        "ep": draw.choice([2, 4, 8]) if experts else 1,
                        "etp": draw.choice([1, 2]) if experts else 1,
                        "vpp": fixed_chunks(schedule) or 2,
                        "schedule": schedule,
                        "mb": mb,
                        "batch": copies * mb * draw.choice([16, 32, 64]),
                        "seq": draw.choice([2048, 4096]),
                        "zero": draw.randrange(4),
                        "recompute": draw.choice(["none", "selective", "full"]),
                        "precision": draw.choice(["bf16", "bf16", "fp8"]),
                        "sp": draw.randrange(2),
                        "domain": draw.choice([0, 8, 72, 36]),
                        "net": draw.choice([0, 100, 800]),
                        "stack": draw.choice(["", "", "megatron", "nemo", "megatron-2023"]),
                        "date": draw.choice(["", "2024-11", "2026-07"]),
                        "facts": draw.choice(["", "", "overlap_dp=0.5,kernel=flash-2"]),
                        "by": draw.choice(["baseline", "roofline"]),
                    }
                )
    return states


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Give one legal state of each schedule and kind with what the page says of it."""
    folder: Path = tmp_path_factory.mktemp("share")
    write_modules(folder)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (folder / "states.json").write_text(json.dumps(some_states()), encoding="utf-8")
    shutil.copyfile(RUNNER, folder / "run.js")
    subprocess.run([node_path(), "run.js"], cwd=folder, check=True, timeout=60)
    rows = json.loads((folder / "said.json").read_text(encoding="utf-8"))
    first = {(row["state"]["schedule"], row["state"]["kind"]): row for row in reversed(rows)}
    assert len(first) == 2 * len(SCHEDULES)
    return list(first.values())


def same_numbers(row: dict[str, Any], answer: dict[str, Any]) -> None:
    """Check that a command's answer is the page's, bit for bit."""
    assert answer["step_time_s"] == row["step_s"], row["command"]
    assert answer["memory"]["total_bytes"] == row["memory_bytes"], row["command"]
    assert answer["fits"] == (row["memory_bytes"] <= row["limit_bytes"])


@pytest.mark.slow
# --- invariant
def test_the_copied_command_gives_the_numbers_of_the_page(
    said: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    for row in said:
        *file, command = row["command"].splitlines()
        if file:
            Path("my-model.toml").write_text("\n".join(file[1:-1]), encoding="utf-8")
        result = runner.invoke(every_command(), [*shlex.split(command)[1:], "--json"])
        assert result.exit_code == 0, result.output
        same_numbers(row, json.loads(result.output))


def test_it_runs_in_a_shell_with_its_own_model_in_a_file(
    said: list[dict[str, Any]], tmp_path: Path
) -> None:
    own = [row for row in said if row["state"]["model"] == "own"]
    pair = [next(row for row in own if row["state"]["kind"] == kind) for kind in PRESETS]
    script = "\n".join(f"{row['command']} --json" for row in pair)
    place = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": place},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    decoder, rest = json.JSONDecoder(), ran.stdout.strip()
    for row in pair:
        answer, end = decoder.raw_decode(rest)
        same_numbers(row, answer)
        rest = rest[end:].strip()


def test_the_copied_python_gives_the_numbers_of_the_page(said: list[dict[str, Any]]) -> None:
    for row in said:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(row["python"], "copied", "exec"), {})
        step_s, memory_bytes, fits = printed.getvalue().split()
        assert float(step_s) == row["step_s"], row["python"]
        assert float(memory_bytes) == row["memory_bytes"], row["python"]
        assert fits == str(row["memory_bytes"] <= row["limit_bytes"])


def test_the_copied_table_holds_inputs_parts_and_totals(said: list[dict[str, Any]]) -> None:
    for row in said:
        cells = list(csv.reader(io.StringIO(row["csv"])))
        assert {len(one) for one in cells} == {4}
        inputs = {name: value for name, of, value, _ in cells if of == "input"}
        state = row["state"]
        assert inputs["schedule"] == state["schedule"]
        assert [inputs[key] for key in ("tp", "pp", "cp", "vpp", "ep", "etp")] == [
            str(state[key]) for key in ("tp", "pp", "cp", "vpp", "ep", "etp")
        ]
        assert inputs.get("nvlink_domain", "0") == str(state["domain"])
        assert (inputs.get("stack", ""), inputs.get("date", "")) == (state["stack"], state["date"])
        assert inputs.get("fact kernel", "") == ("flash-2" if state["facts"] else "")
        totals = [float(one[2]) for one in cells if one[0] == "step total"]
        assert row["step_s"] in totals
        ranks = [float(one[2]) for one in cells if one[0] == "memory total"]
        assert len(ranks) == state["pp"]
        assert max(ranks) == row["memory_bytes"]


def test_the_address_brings_back_every_input(said: list[dict[str, Any]]) -> None:
    for row in said:
        state = {key: value for key, value in row["state"].items() if key != "kind"}
        assert row["back"] == state
