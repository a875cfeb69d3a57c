"""`steptime memory`: JSON, tables and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steptime.cli.main import run
from steptime.formulas.memory.total import PARTS

GPT3 = "memory -m gpt3-175b -a a100 --tp 8 -s 2048 -B 8".split()
LLAMA = "memory -m llama3-405b -a h100 --tp 8 --pp 16 --dp 64 -s 8192 -B 2048".split()
LLAMA += ["--stack", "megatron"]


def test_json_has_bytes_by_part_and_by_rank(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*LLAMA, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fits"] is True
    assert found["limit_bytes"] == 81559 * 2**20
    assert found["num_gpus"] == 8192
    # What is counted fits, but most such runs need more: what would help is told.
    assert found["outlook"] == "likely does not fit"
    assert found["nearest"]["fit_probability"] > 0.5 > found["fit_probability"]
    assert tuple(found["bytes"]) == PARTS
    assert sum(found["bytes"].values()) == pytest.approx(found["total_bytes"])
    assert sum(found["activations_bytes"].values()) == pytest.approx(found["bytes"]["activations"])
    assert len(found["ranks"]) == 16
    assert max(rank["total_bytes"] for rank in found["ranks"]) == found["total_bytes"]
    assert found["ranks"][found["rank"]]["bytes"] == found["bytes"]
    assert found["headroom_bytes"] == found["limit_bytes"] - found["total_bytes"]


def test_narrow_copies_of_weights_count_among_the_bytes_a_parameter(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for precision, states in (("bf16", 18), ("fp8", 20)):
        assert run([*LLAMA, "--precision", precision]) == 0
        assert f"an estimate: {states} bytes a parameter" in capsys.readouterr().out


def test_json_says_what_would_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*GPT3, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fits"] is False
    assert found["nearest"]["change"] == "--pp 8"
    assert found["nearest"]["fits"] is True
    assert found["reason"].startswith("does not fit: 42")
    assert found["would_help"][0] == found["nearest"]


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(GPT3) == 0
    shown = capsys.readouterr().out
    assert "Does not fit" in shown
    assert "What would help" in shown
    # Of unknown software: 2 of the weight, 12 of the optimizer, 3.657 and 1.2 of gradients.
    assert "18.9 bytes a parameter" in shown
    assert "--pp 8" in shown


def test_facts_change_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    totals = []
    # What is usual with each stack is stated: the facts alone differ.
    layout = ["--recompute", "none", "--sequence-parallel"]
    for extra in (
        ["--stack", "megatron"],
        ["--stack", "megatron-2021"],
        ["--stack", "megatron-2021", "--fact", "flash=1"],
    ):
        assert run([*GPT3, *layout, *extra, "--json"]) == 0
        totals.append(json.loads(capsys.readouterr().out)["total_bytes"])
    assert totals[0] < totals[2] < totals[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--stack", "megatrn"], "did you mean 'megatron'"),
        (["--stack", ""], "unknown stack ''; one of: "),
        (["--schedule", ""], "unknown schedule ''; one of: "),
        (["--fact", "dropout"], "--fact 'dropout' must be name=number"),
        (["--fact", "dropout=much"], "--fact 'dropout=much' must be name=number"),
        (["--fact", "dropout=nan"], "dropout must be a number"),
        (["--fact", "gravity=1"], "unknown fact 'gravity'; did you mean"),
        (["--zero", "4"], "zero_stage must be <= 3"),
        (["--tp", "7"], "tp=7 does not divide the 96 attention heads"),
        (["--pp", "97"], "pp=97 is over num_layers=96"),
        (["--recompute", "some"], "unknown recompute 'some'"),
    ],
)
def test_refusals_are_one_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*GPT3, *words]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["memory", "--help"]) == 0
    assert "steptime memory" in capsys.readouterr().out


def test_published_peaks_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate-memory", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["rows"]) == 174
    # Each of the others lacks a size that its source does not print, but one past its device.
    assert len(found["skipped"]) == 19
    assert {row["reason"].split()[0] for row in found["skipped"]} == {"seq_len", "gbs"}
    assert [one["id"] for one in found["kept_out"]] == ["colossal-097"]
    assert found["kept_out"][0]["reason"].startswith("mem_gb 157.3 GB is more than a device has")
    # A twentieth at the median; the mean has runs whose levers nobody puts in numbers.
    assert found["summary"]["median_fraction"] < 0.055
    assert found["summary"]["mean_fraction"] < 0.085
    for row in found["rows"]:
        share = row["memory_gb"] / row["published_memory_gb"] - 1
        assert row["error_fraction"] == pytest.approx(share)
        assert sum(row["bytes"].values()) == pytest.approx(row["total_bytes"])


def test_a_file_without_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "own.csv"
    own.write_text("model,gpu,gpus\nllama2-7b,h100,8\n")
    for more in ([], ["--json"]):
        assert run(["validate-memory", str(own), *more]) == 2
        told = capsys.readouterr().err
        assert told.endswith("no row could be compared: line-2: mem_gb is not stated\n"), told
