"""Logs of Megatron-LM, torchtitan and nanotron, as their own code prints a step."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers.trace.run_log import number_after, read_log

RED, END = "\x1b[31m", "\x1b[39m"


def megatron(step: int, ms: float, tflops: float) -> str:
    return (
        f" [2026-01-01 10:00:0{step}] iteration {step:8d}/{100:8d} | consumed samples: {64:12d} |"
        f" elapsed time per iteration (ms): {ms:.1f} | throughput per GPU (TFLOP/s/GPU): "
        f"{tflops:.1f} | learning rate: 3.0E-04 | global batch size:   256 |"
    )


def torchtitan(step: int, tps: int, tflops: float) -> str:
    return (
        f"[rank0]:[titan] 2026-01-01 10:00:00,000 - root - INFO - {RED}step: {step:2}  "
        f"\x1b[32mloss: 12.2421  \x1b[33mmemory: 43.15GiB(45.41%)  \x1b[34mtps: {tps:,}  "
        f"\x1b[36mtflops: {tflops:,.2f}  \x1b[35mmfu: 33.10%{END}"
    )


def nanotron(step: int, ms: str, rate: str) -> str:
    return (
        f"01/01/2026 10:00:00 [INFO|DP=0|PP=0|TP=0|node]: iteration: {step} / 30 | "
        f"consumed_tokens: 4.19M | elapsed_time_per_iteration_ms: {ms} | tokens_per_sec: 1.7M | "
        f"tokens_per_sec_per_gpu: {rate} | global_batch_size: 1.02K | lm_loss: 12 | "
        "model_tflops_per_gpu: 94.1 | hardware_tflops_per_gpu: 99.9 |"
    )


def log(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "run.log"
    path.write_text("\n".join(["torchrun", *lines, "done"]))
    return path


# published: the words that each training loop prints


def test_megatron(tmp_path: Path) -> None:
    lines = [megatron(1, 9000, 100), *(megatron(i, 5000 + i, 400 + i) for i in (2, 3, 4))]
    found = read_log(log(tmp_path, *lines))
    assert (found.kind, found.lines) == ("megatron", 3)
    assert found.step_time_s == pytest.approx(5.003)
    assert found.flop_per_s_per_gpu == pytest.approx(403e12)
    assert found.tokens_per_s_per_gpu is None


def test_torchtitan_with_its_colours(tmp_path: Path) -> None:
    lines = [torchtitan(1, 900, 50.0), torchtitan(10, 5762, 331.1), torchtitan(20, 5764, 333.1)]
    found = read_log(log(tmp_path, *lines))
    assert (found.kind, found.step_time_s) == ("torchtitan", None)
    assert found.tokens_per_s_per_gpu == pytest.approx(5763)
    assert found.flop_per_s_per_gpu == pytest.approx(332.1e12)


def test_nanotron_with_its_letters(tmp_path: Path) -> None:
    lines = [nanotron(1, "9.1K", "900"), nanotron(2, "1.24K", "13.2K"), nanotron(3, "998", "16K")]
    found = read_log(log(tmp_path, *lines))
    assert (found.kind, found.lines) == ("nanotron", 2)
    assert found.step_time_s == pytest.approx((1.24 + 0.998) / 2)
    assert found.tokens_per_s_per_gpu == pytest.approx(14_600)
    assert found.flop_per_s_per_gpu == pytest.approx(94.1e12)


# invariant


def test_a_packed_log_reads_alike(tmp_path: Path) -> None:
    path = log(tmp_path, *(megatron(i, 5000, 400) for i in range(1, 5)))
    packed = tmp_path / "run.log.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_log(packed).step_time_s == read_log(path).step_time_s == pytest.approx(5.0)


def test_words_are_whole() -> None:
    assert number_after("per_device_tps: 7 tps: 12", "tps:", {}) == 12
    assert number_after("x tps: -- tps: 1.5K", "tps:", {"K": 1e3}) == 1500
    assert number_after("tps: nan", "tps:", {}) is None


# refusal


@pytest.mark.parametrize(
    "text", ["hello\n" * 3, "step: 3 loss: 2", "\x1b[31m\0\xff", "a" * 500_000, "iteration 4 | x"]
)
def test_no_log_of_a_run_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no line of a step of Megatron-LM, torchtitan, nanotron"):
        read_log(log(tmp_path, text))


@pytest.mark.parametrize("ms", ["1e400", "1e35"])
def test_a_step_that_takes_for_ever_is_refused(ms: str, tmp_path: Path) -> None:
    line = f"iteration 7/ 9 | elapsed time per iteration (ms): {ms} |"
    with pytest.raises(ConfigError, match=r"step_time_s of step 7 is .* nobody measured"):
        read_log(log(tmp_path, megatron(1, 5000, 400), line))


def test_a_log_says_its_batch_and_what_was_left_out(tmp_path: Path) -> None:
    found = read_log(log(tmp_path, *(megatron(i, 5000, 400) for i in range(1, 5))))
    assert (found.global_batch_size, found.warm_up_lines, found.first_alone) == (256, 1, False)
    one = read_log(log(tmp_path, megatron(1, 189_000, 4)))
    assert (one.lines, one.warm_up_lines, one.first_alone) == (1, 0, True)
    later = read_log(log(tmp_path, megatron(7, 5000, 400)))
    assert (later.lines, later.warm_up_lines, later.first_alone) == (1, 0, False)


def test_a_line_with_a_batch_alone_is_none_of_a_step(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no line of a step"):
        read_log(log(tmp_path, "iteration 4 | global batch size: 256 |"))
