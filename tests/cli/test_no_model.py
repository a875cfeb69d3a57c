"""What is said of a launch file whose model is not known: the line that asks of another."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from steptime.cli.main import run as command

LITGPT = """
model_name: no-such-model
precision: bf16-mixed
devices: 4
num_nodes: 16
train:
  micro_batch_size: 4
  global_batch_size: 512
  max_seq_length: 2048
strategy: fsdp
"""


def offered(folder: Path, capsys: pytest.CaptureFixture[str], text: str, *words: str) -> list[str]:
    """Return the words of the line that is offered for a file."""
    path = folder / "train.yaml"
    path.write_text(text, encoding="utf-8")
    assert command(["explain", str(path), *words]) == 2
    told = capsys.readouterr().err
    assert "the model is not known" in told
    return shlex.split(told.partition("or ask: ")[2])


def test_the_line_asks_of_the_same_device_and_gpus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = offered(tmp_path, capsys, LITGPT, "-a", "b200")
    asked = dict(zip(words[2::2], words[3::2], strict=True))
    assert asked["--accelerator"] == "b200"
    # 16 servers of 4.
    assert (asked["--dp"], asked["--zero"], asked["--micro-batch-size"]) == ("64", "3", "4")
    # The line runs as it stands, with a model for its word.
    assert command([*words[1:3], "llama3-8b", *words[4:], "--json"]) == 0
    assert '"num_gpus": 64' in capsys.readouterr().out


def test_what_its_user_adds_counts_and_what_nobody_says_is_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = LITGPT.replace("  max_seq_length: 2048\n", "")
    words = offered(tmp_path, capsys, bare, "-a", "h200", "-n", "32", "-B", "256")
    asked = dict(zip(words[2::2], words[3::2], strict=True))
    assert (asked["--accelerator"], asked["--dp"]) == ("h200", "32")
    assert (asked["--global-batch-size"], asked["--seq-length"]) == ("256", "TOKENS")
