"""One way to say things: counts, devices, precision, conventions, and lines that stay whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from steptime.cli.main import run
from steptime.formulas.flops import causal_flop_per_token, model_flop_per_token
from steptime.inputs.stack import FACT_NAMES

STEP = ["-m", "llama3-70b", "-a", "h100", "--tp", "8", "--pp", "4", "-s", "32k", "-B", "256"]


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert run([*words, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("command", ["predict", "memory"])
def test_devices_and_lengths_are_said_alike(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    short = told(capsys, command, *STEP, "--gpus", "512", "--precision", "BFloat16")
    words = [word.replace("32k", "32768") for word in STEP]
    assert told(capsys, command, *words, "--dp", "16") == short


def test_place_takes_the_devices_too(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--tp", "8", "--pp", "16"]
    assert told(capsys, "place", *sizes, "--gpus", "1152") == told(
        capsys, "place", *sizes, "--dp", "9"
    )


def test_nodes_are_devices_of_one_domain(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["search", "-m", "llama3-8b", "-s", "8k", "-B", "144", "--cp", "1"]
    assert told(capsys, *line, "-a", "h100", "--nodes", "2")["num_gpus"] == 16
    assert told(capsys, *line, "-a", "gb200", "--nodes", "2")["num_gpus"] == 144
    assert run([*line, "-a", "h100", "--nodes", "2", "--gpus", "16"]) == 2
    assert "--gpus and --nodes say the same" in capsys.readouterr().err
    assert run([*line, "-a", "h100"]) == 2
    assert "Missing option '--gpus'" in capsys.readouterr().err


def test_sizes_to_try_stand_with_commas_or_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["search", "-m", "llama3-8b", "-a", "h100", "-n", "16", "-s", "8k", "-B", "64"]
    found = told(capsys, *line, "--tp", "1,2", "--zero", "1", "--recompute", "none,full")
    again = told(
        capsys, *line, "--tp", "1", "--tp", "2", "--zero", "1",
        "--recompute", "none", "--recompute", "full",
    )  # fmt: skip
    assert found["layouts"] == again["layouts"]
    assert {one["tp"] for one in found["layouts"]} <= {1, 2}
    assert run([*line, "--tp", "two"]) == 2
    assert "'two' is not a valid integer" in capsys.readouterr().err


def test_utilisation_says_its_convention_and_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "predict", *STEP, "--gpus", "512")
    assert "attention in full" in found["mfu_convention"]
    from steptime.answer import predict

    record = predict(
        model="llama3-70b", accelerator="h100", tp=8, pp=4, dp=16, seq_length=32768,
        global_batch_size=256,
    ).record  # fmt: skip
    ratio = causal_flop_per_token(record) / model_flop_per_token(record)
    assert found["mfu_causal_fraction"] == pytest.approx(found["mfu_fraction"] * ratio)
    assert run(["predict", *STEP, "--gpus", "512"]) == 0
    line = " ".join(capsys.readouterr().out.split())
    full, causal = (100 * found[f"mfu_{name}fraction"] for name in ("", "causal_"))
    assert f"MFU {full:.1f} % of the 16-bit peak with attention in full ({causal:.1f} %" in line


def test_every_fact_says_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    meanings = told(capsys, "facts")["meanings"]
    assert set(meanings) == set(FACT_NAMES)
    assert all(len(text) > 15 and text.endswith(".") for text in meanings.values())


LONG = ["search", "-m", "llama3-70b", "-a", "h100", "-n", "512", "-B", "1k", "-s", "8k"]
LONG += ["--tokens", "15T", "--price-per-gpu-hour", "2.5", "--tp", "8", "--goodput"]


def test_money_stays_on_one_line_with_its_range(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, *LONG)
    first = found["layouts"][0]
    assert first["cost_low"] < first["cost"] < first["cost_high"]
    assert first["days_low"] < first["days"] < first["days_high"]
    assert run(LONG) == 0
    out = capsys.readouterr().out
    assert f"{first['cost'] / 1e6:,.2f}M" in out
    assert f"{first['cost_low'] / 1e6:,.2f}M to {first['cost_high'] / 1e6:,.2f}M" in out
    assert f"goodput {100 * found['goodput']['fraction']:.1f} %" in out


@pytest.mark.parametrize("columns", [60, 140])
def test_piped_output_follows_columns(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run(["predict", *STEP, "--gpus", "512"]) == 0
    widths = [len(line) for line in capsys.readouterr().out.splitlines()]
    assert columns - 25 < max(widths) <= columns


def test_failures_need_the_length_of_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*LONG[:11], "--goodput"]) == 2
    assert "--goodput needs --tokens" in capsys.readouterr().err


def test_layouts_that_differ_in_chunks_alone_share_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from steptime.cli.search_table import lines_of
    from steptime.planning.asked import search

    found = search(
        model="llama3-70b", accelerator="h100", num_gpus=64, seq_length=8192, global_batch_size=128
    )
    lines = lines_of(found.best, found.tie_fraction, 10)
    assert [line.choice for line in lines] == sorted({line.choice for line in lines})
    for line in lines:
        assert found.best[line.choice - 1] == line.one
    plain = [(line.one.layout.tp, line.one.layout.cp, line.one.layout.pp, line.one.layout.dp,
              line.one.layout.zero_stage, line.one.layout.recompute,
              line.one.layout.sequence_parallel, line.one.batch) for line in lines]  # fmt: skip
    assert len(set(plain)) == len(plain) == 10
    assert any(line.chunks for line in lines)
