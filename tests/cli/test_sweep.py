"""`steptime sweep`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steptime.cli.main import run
from steptime.inputs.parquet import read_rows

PLAN = """
models = ["llama3-8b"]
accelerators = ["h100", "tpu-v5p"]
gpus = [8]
global_batch_sizes = [64]
seq_lengths = [4096]
"""


def test_a_plan_is_answered_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(PLAN)
    arguments = ["sweep", str(plan), "--out", str(out)]
    assert run([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["done"] == 2
    table = read_rows(out)
    assert {row["predictor"] for row in table.to_pylist()} == {"roofline", "baseline"}
    assert run(arguments) == 0
    assert "0 answered, 2 were there already" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models = []", "models must be a list"),
        (PLAN + 'colour = "red"', "unknown 'colour'"),
        (PLAN.replace("[8]", "[0]"), "num_gpus must be >= 1"),
        (PLAN.replace("llama3-8b", "llama9"), "unknown model"),
        ("models = [", "cannot be read as TOML"),
    ],
)
def test_bad_plans_are_refused(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(text)
    assert run(["sweep", str(plan), "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err
