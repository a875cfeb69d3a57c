"""`steptime sweep`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steptime.cli.main import run
from steptime.inputs.parquet import read_rows

PLAN = """
models = ["llama3-8b"]
accelerators = ["h100", "l40s"]
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


MORE = """
tp = [2, 4]
schedule = "all"
recompute = "none"
precision = "fp8"
memory_share = 0.9
fits_with = 0.5
"""


def test_a_plan_takes_what_a_search_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(PLAN.replace(', "l40s"', "").replace("[8]", "[8, 16]") + MORE)
    assert run(["sweep", str(plan), "--out", str(out), "--stack", "torchtitan"]) == 0
    assert f"pandas.read_parquet('{out}')" in "".join(capsys.readouterr().out.splitlines())
    line = ["search", "-m", "llama3-8b", "-a", "h100", "-n", "16", "-B", "64", "-s", "4k"]
    line += ["--tp", "2,4", "--schedule", "all", "--recompute", "none", "--precision", "fp8"]
    line += ["--memory-share", "0.9", "--fits-with", "0.5", "--stack", "torchtitan"]
    assert run([*line, "--json"]) == 0
    best = json.loads(capsys.readouterr().out)["layouts"][0]
    rows = [row for row in read_rows(out).to_pylist() if row["num_gpus"] == 16]
    first = next(row for row in rows if row["rank"] == 1)
    assert first["step_time_s"] == best["step_time_s"]
    assert first["fit_probability"] == best["fit_probability"]
    # What is left open, and how far it moves the best layout, stands beside it.
    assert first["best_step_time_low_s"] < first["step_time_s"] < first["best_step_time_high_s"]
    assert first["unstated"].startswith("--")
    assert first["unstated_low_s"] <= first["step_time_s"] <= first["unstated_high_s"]
    assert first["beyond"] == ""
    assert {row["tp"] for row in rows} <= {2, 4}
    names = sorted(path.name for path in out.iterdir())
    assert [name.rsplit("-", 1)[0] for name in names] == [
        "llama-3-8b-16xh100-b64-s4096-fp8",
        "llama-3-8b-8xh100-b64-s4096-fp8",
    ]
