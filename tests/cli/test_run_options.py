"""What is told of a whole run is told alike to every command, and answered alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

import steptime as package
from steptime.planning.goodput import Failures

Call = Callable[..., tuple[int, str, str]]
STEP = "-m llama3-70b -a h100 --tp 8 --cp 1 --pp 4 -s 8192 -B 1024 -n 512 -b 1 --zero 1".split()
CUT = "--vpp 1 --recompute none --schedule 1f1b --sequence-parallel --fits-with 0".split()
WHOLE = "--tokens 15T --price-per-gpu-hour 2.5 --goodput --restart-minutes 20".split()
ASKED: dict[str, Any] = {
    **{"model": "llama3-70b", "accelerator": "h100", "num_gpus": 512, "tp": 8, "pp": 4},
    **{"seq_length": 8192, "global_batch_size": 1024, "micro_batch_size": 1, "zero_stage": 1},
}


# Invariant


def test_predict_says_of_a_run_what_search_and_python_say(steptime: Call) -> None:
    status, out, _ = steptime("predict", *STEP, *WHOLE, "--json")
    assert status == 0
    said = json.loads(out)["run"]
    status, out, _ = steptime("search", *STEP, *CUT, *WHOLE, "--json")
    assert status == 0
    (found,) = json.loads(out)["layouts"]
    assert {name: found[name] for name in found.keys() & said.keys()} == {
        name: said[name] for name in found.keys() & said.keys()
    }
    assert {"days", "days_low", "cost_high", "gpu_hours", "energy_mwh"} <= found.keys()
    step = package.predict(**ASKED)
    failures = Failures(restart_minutes=20.0)
    run = package.run_of(step, 15e12, price_per_gpu_hour=2.5, failures=failures)
    assert json.loads(json.dumps(asdict(run))) == said
    # 15e12 tokens in steps of 1,024 sequences of 8,192.
    assert run.num_steps == 15e12 / (1024 * 8192)
    bare = package.run_of(step, 15e12)
    assert bare.days == pytest.approx(run.num_steps * step.step_time_s / 86400.0)
    assert (bare.cost, bare.goodput) == (None, None)
    assert run.goodput is not None
    assert bare.days == pytest.approx(run.days * run.goodput.fraction)


def test_the_run_is_printed_where_it_is_asked_for(steptime: Call) -> None:
    _, out, _ = steptime("predict", *STEP, *WHOLE)
    assert "the whole run, 1,788,139 steps:" in out
    assert "goodput" in out
    _, out, _ = steptime("predict", *STEP)
    assert "the whole run" not in out


@pytest.mark.parametrize(
    ("tokens", "length"),
    [
        ("1k", "less than one step (8,388,608 tokens)"),
        ("8388607", "less than one step (8,388,608 tokens)"),
        ("8388608", "1 step"),
        ("16777216", "2 steps"),
    ],
)
def test_a_run_shorter_than_a_step_says_so(steptime: Call, tokens: str, length: str) -> None:
    """A step takes 1,024 sequences of 8,192 tokens."""
    status, out, _ = steptime("predict", *STEP, "--tokens", tokens)
    assert status == 0
    assert f"the whole run, {length}: " in " ".join(out.split())
    _, out, _ = steptime("search", *STEP, *CUT, "--tokens", tokens)
    less = length.startswith("less")
    assert (f"the whole run is {length}" in " ".join(out.split())) == less
    assert ("less than one step" in out) == less


# Refusal


@pytest.mark.parametrize("command", ["predict", "search"])
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--goodput"], "--goodput needs --tokens"),
        (["--restart-minutes", "5"], "--goodput needs --tokens"),
        (["--price-per-gpu-hour", "2"], "--price-per-gpu-hour needs --tokens"),
        (["--tokens", "0"], "tokens must be a number > 0"),
        (["--tokens", "many"], "many"),
        (["--tokens", "1T", "--price-per-gpu-hour", "-1"], "price_per_gpu_hour must be"),
    ],
)
def test_what_makes_no_run_is_refused(
    steptime: Call, command: str, words: list[str], told: str
) -> None:
    status, out, error = steptime(command, *STEP, *words)
    assert (status, out) == (2, "")
    assert told in error
