"""`steptime sweep`."""

from __future__ import annotations

import json
from pathlib import Path

import pandas
import pyarrow.parquet as pq
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
        (PLAN + "nodes = [1]", "gpus and nodes say the same"),
        (PLAN.replace("gpus = [8]", 'nodes = ["many"]'), "'many' is not a valid integer"),
        (PLAN + 'tokens = "plenty"', "'plenty' is not a valid number"),
        (PLAN + "tokens = -1", "tokens must be a number > 0"),
        (PLAN + "goodput = true", "goodput needs tokens"),
        (PLAN + 'tokens = 1e12\ngoodput = "yes"', "goodput must be true or false"),
        (PLAN + "tokens = 1e12\nprice_per_gpu_hour = 0", "price_per_gpu_hour must be a number > 0"),
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


WHOLE = """
models = ["llama3-8b"]
accelerators = ["h100"]
nodes = [2]
global_batch_sizes = ["64"]
seq_lengths = ["4k"]
tp = "2,4"
schedule = "1f1b,zb-h1"
tokens = "2T"
price_per_gpu_hour = 2.5
"""


def test_a_plan_says_nodes_tokens_and_price_as_a_search_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(WHOLE + "goodput = true")
    assert run(["sweep", str(plan), "--out", str(out)]) == 0
    line = ["search", "-m", "llama3-8b", "-a", "h100", "--nodes", "2", "-B", "64", "-s", "4k"]
    line += ["--tp", "2,4", "--schedule", "1f1b,zb-h1", "--tokens", "2T", "--goodput"]
    capsys.readouterr()
    assert run([*line, "--price-per-gpu-hour", "2.5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    first = next(row for row in read_rows(out).to_pylist() if row["rank"] == 1)
    assert first["num_gpus"] == 16
    assert first["step_time_s"] == told["layouts"][0]["step_time_s"]
    named = ("days", "days_low", "days_high", "cost", "cost_low", "cost_high", "energy_mwh")
    assert {name: first[name] for name in named} == {
        name: told["layouts"][0][name] for name in named
    }
    assert first["goodput_fraction"] == told["goodput"]["fraction"] < 1.0
    # Another price is another answer, not the one that lies there.
    plan.write_text(WHOLE.replace("2.5", "3.5"))
    assert run(["sweep", str(plan), "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["done"] == 1


def test_the_line_that_a_sweep_prints_reads_answers_without_a_layout_too(tmp_path: Path) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    both = WHOLE.replace('"llama3-8b"', '"llama3-405b", "llama3-8b"')
    # Some files say no cost and one no layout: each column has its kind in all of them.
    for text in (both, both.replace("price_per_gpu_hour = 2.5", "")):
        plan.write_text(text)
        assert run(["sweep", str(plan), "--out", str(out)]) == 0
    read = pandas.read_parquet(str(out))
    assert sorted(read["model"][read["rank"].isna()]) == ["Llama 3 405B"] * 2
    best = read[read["rank"] == 1]
    assert list(best["model"]) == ["Llama 3 8B"] * 2
    assert sorted(best["cost"].isna()) == [False, True]
    kinds = {str(pq.read_schema(path).remove_metadata()) for path in out.iterdir()}
    assert len(kinds) == 1
    assert "null" not in kinds.pop()
