"""`steptime explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steptime.cli.main import run

FILES = Path(__file__).parents[1] / "inputs" / "launch"


def explain(capsys: pytest.CaptureFixture[str], name: str, *arguments: str) -> dict[str, object]:
    assert run(["explain", str(FILES / name), "-a", "h100", "--json", *arguments]) == 0
    told = json.loads(capsys.readouterr().out)
    assert isinstance(told, dict)
    return told


def test_a_script_is_explained_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    told = explain(capsys, "llama70b.sh")
    assert told["kind"] == "megatron"
    assert told["num_gpus"] == 512
    parts, memory = told["breakdown_s"], told["memory_bytes"]
    assert isinstance(parts, dict)
    assert isinstance(memory, dict)
    assert sum(parts.values()) == pytest.approx(told["step_time_s"])
    assert sum(memory.values()) == pytest.approx(told["memory_total_bytes"])
    assert told["suggested_step_time_s"] <= told["step_time_s"]  # type: ignore[operator]
    assert 0.0 <= told["gain_fraction"] < 0.6  # type: ignore[operator]


def test_the_table_says_what_was_understood(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", str(FILES / "llama70b.sh"), "-a", "h100"]) == 0
    out = capsys.readouterr().out
    for text in ("line 38", "assumed", "a step (roofline model)", "where it goes", "GB on the"):
        assert text in out


def test_gaps_can_be_filled(capsys: pytest.CaptureFixture[str]) -> None:
    told = explain(capsys, "gpt175b.args", "--gpus", "1024")
    assert told["num_gpus"] == 1024
    told = explain(capsys, "llama405b.toml", "--gpus", "256", "-B", "512")
    assert told["model"] == "Llama 3 405B"
    told = explain(capsys, "deepseek.yaml", "--set", "TP=1")
    assert told["num_gpus"] == 1024


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gpt175b.args"], "does not give num_gpus"),
        (["gpt175b.args", "--gpus", "100"], "100 GPUs do not divide"),
        (["deepseek.yaml", "--set", "TP"], "--set needs NAME=VALUE, got 'TP'"),
        (["deepseek.yaml", "--set", "TP=3"], "1024 GPUs do not divide"),
        (["nothing.sh"], "No such file"),
    ],
)
def test_refusals(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    path, *more = arguments
    assert run(["explain", str(FILES / path), "-a", "h100", *more]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_a_model_file_is_sent_to_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads((FILES.parent / "hub_configs.json").read_text())
    path = tmp_path / "config.json"
    path.write_text(json.dumps(rows[0]["config"]))
    assert run(["explain", str(path), "-a", "h100"]) == 2
    assert "describes a model, not a run" in capsys.readouterr().err
