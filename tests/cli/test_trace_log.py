"""`steptime trace` on a log whose step time, tokens and FLOP a second are not one run's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Call = Callable[..., tuple[int, str, str]]
LAUNCH = Path(__file__).parents[1] / "readers" / "launch" / "llama70b.sh"
# 128 sequences of 8192 tokens on 16 devices: 65,536 tokens each.
ASKED = ("-m", "llama3-8b", "-a", "h100", "--tp", "2", "--dp", "8", "-s", "8192", "-B", "128")
TOKENS, PARAMETERS = 65_536, 8.03e9
STEP_S = 13.0
SIX_N_TFLOPS = 6 * PARAMETERS * TOKENS / STEP_S / 1e12
SAID = "the log's numbers are not one run's as it is asked here: "


def megatron(step_s: float, tflops: float, batch: int = 128) -> str:
    """Return a log as Megatron-LM prints it."""
    line = (
        " [2025-01-01 00:00:01] iteration {:8d}/     100 | consumed samples: {:12d} | elapsed time "
        "per iteration (ms): {:.1f} | throughput per GPU (TFLOP/s/GPU): {:.1f} | learning rate: "
        "3.0E-05 | global batch size: {:5d} | lm loss: 8.0E+00 |\n"
    )
    return "".join(line.format(i, i * batch, 1e3 * step_s, tflops, batch) for i in range(1, 9))


def notes(steptime: Call, path: Path, text: str, *asked: str) -> list[str]:
    path.write_text(text, encoding="utf-8")
    status, out, err = steptime("trace", str(path), *asked, "--json")
    assert status == 0, err
    told: list[str] = json.loads(out)["notes"]
    return told


@pytest.mark.parametrize("factor", [1.0, 1.2, 0.96])
def test_any_way_of_counting_flop_explains_a_log(
    steptime: Call, tmp_path: Path, factor: float
) -> None:
    text = megatron(STEP_S, factor * SIX_N_TFLOPS)
    assert notes(steptime, tmp_path / "run.log", text, *ASKED) == []


@pytest.mark.parametrize("factor", [0.5, 2.0, 2.4])
def test_a_rate_that_no_way_of_counting_explains_is_named(
    steptime: Call, tmp_path: Path, factor: float
) -> None:
    rate = round(factor * SIX_N_TFLOPS, 1)
    (note,) = notes(steptime, tmp_path / "run.log", megatron(STEP_S, rate), *ASKED)
    assert note.startswith(f"{SAID}step_time_s 13 contradicts tflops_per_gpu {rate:g}: it ")
    assert "batch (-B), sequence length (-s) or number of GPUs than 16" in note
    _, out, _ = steptime("trace", str(tmp_path / "run.log"), *ASKED)
    assert SAID in " ".join(out.split()) + " "


def test_a_rate_of_few_digits_is_no_contradiction(steptime: Call, tmp_path: Path) -> None:
    # 0.2 is printed of 0.15 to 0.25; in 1,000 times as long a step 0.243 is counted and more.
    text = megatron(1000 * STEP_S, 0.2)
    assert notes(steptime, tmp_path / "run.log", text, *ASKED) == []
    assert notes(steptime, tmp_path / "run.log", megatron(1000 * STEP_S, 0.6), *ASKED) != []


def test_another_batch_is_said_instead(steptime: Call, tmp_path: Path) -> None:
    text = megatron(STEP_S, SIX_N_TFLOPS / 2, batch=64)
    (note,) = notes(steptime, tmp_path / "run.log", text, *ASKED)
    assert "the log says a global batch size of 64" in note


def test_tokens_that_contradict_the_step_are_named(steptime: Call, tmp_path: Path) -> None:
    line = "iteration: {} / 9 | elapsed_time_per_iteration_ms: 13K | tokens_per_sec_per_gpu: {} |\n"
    for rate, told in ((5041, False), (10_082, True)):
        text = "".join(line.format(i, rate) for i in range(1, 9))
        found = notes(steptime, tmp_path / "run.log", text, *ASKED)
        assert bool(found) == told
    assert "tokens_per_s_per_gpu 10082, which amounts to 6.5 s a step" in found[0]


def test_a_launch_file_is_the_question_too(steptime: Call, tmp_path: Path) -> None:
    """Llama 3 70B on 512 devices, 1024 sequences of 8192 tokens, 6 x 70.6e9 FLOP a token.

    In 19 s that is 365 TFLOP/s, and half of it in twice the time.
    """
    asked = ("--launch", str(LAUNCH), "-a", "h100")
    path = tmp_path / "run.log"
    assert notes(steptime, path, megatron(19.0, 365.0, 1024), *asked) == []
    (note,) = notes(steptime, path, megatron(38.0, 365.0, 1024), *asked)
    assert "step_time_s 38 contradicts tflops_per_gpu 365" in note
    assert note.endswith("or number of GPUs than 512")
