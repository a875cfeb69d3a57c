"""Files that users name: devices, pipes, folders, files too large, text that is none."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from steptime.inputs.bounded import file_bytes, file_text
from steptime.inputs.datafiles import write_whole
from steptime.inputs.errors import ConfigError

# Each command that opens a file of the user's, with {} where its name goes.
COMMANDS = (
    "validate {}",
    "validate-memory {}",
    "--constants {} predict -m llama3-8b -a h100 -s 1 -B 8",
    "predict -m {} -a h100 -s 1 -B 8",
    "predict -m llama3-8b -a {} -s 1 -B 8",
    "memory -m {} -a h100 -s 1 -B 8",
    "memory -m llama3-8b -a {} -s 1 -B 8",
    "search -m {} -a h100 -n 8 -s 1 -B 8",
    "search -m llama3-8b -a {} -n 8 -s 1 -B 8",
    "search -m llama3-8b -a h100 -n 8 -s 1 -B 8 --constants {}",
    "memory -m llama3-8b -a h100 -s 1 -B 8 --constants {}",
    "place -a {}",
    "place --tp 8 -m {} -a h100 -s 64 -B 8",
    "place --tp 8 -m llama3-8b -a h100 -s 64 -B 8 --constants {}",
    "sweep {} -o out",
    "sweep plan.toml -o out --constants {}",
    "schedule --order {}",
    "explain {} -a h100",
    "explain launch.sh -a {}",
    "explain launch.sh -a h100 -m {}",
    "explain launch.sh -a h100 --constants {}",
    "trace {}",
    "trace log.txt --launch {} -a h100",
    "trace log.txt -m {} -a h100 -s 1 -B 8",
    "trace log.txt -m llama3-8b -a {} -s 1 -B 8",
    "trace log.txt -m llama3-8b -a h100 -s 1 -B 8 --constants {}",
    "validate --constants {}",
    "validate-memory --constants {}",
)
# Files that are written, and numbers that a file's run may have measured.
WRITTEN = {"--out", "--csv", "--measured"}
# What the others stand beside: each could be read.
BESIDE = {
    "launch.sh": "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 "
    "--num-attention-heads 4 --vocab-size 1000 --seq-length 64 --global-batch-size 8\n",
    "plan.toml": 'models = ["llama3-8b"]\naccelerators = ["h100"]\ngpus = [8]\n'
    "global_batch_sizes = [8]\nseq_lengths = [64]\n",
    "log.txt": " iteration 1/ 9 | elapsed time per iteration (ms): 100.0 |\n" * 3,
}


# --- limit


def test_a_file_of_the_largest_size_is_read_and_one_byte_more_is_not(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbfabc")
    assert file_bytes(path, most=6) == b"\xef\xbb\xbfabc"
    assert file_text(path, most=6) == "abc"
    with pytest.raises(ConfigError, match="file: over 5 bytes, too large for a description"):
        file_bytes(path, most=5)


def test_every_option_that_names_a_file_is_tried() -> None:
    """Those whose help speaks of a file, of every command; what is written is tried elsewhere."""
    pytest.importorskip("typer")
    from typer.main import get_command

    from steptime.cli.main import every_command

    application: Any = get_command(every_command())
    tried = set()
    for words in map(str.split, COMMANDS):
        before = words[words.index("{}") - 1]
        name = next(word for word in words if word in application.commands)
        tried.add((name, before if before.startswith("-") else ""))
    left = [
        (name, option.opts)
        for name, command in application.commands.items()
        for option in command.params
        if re.search(r"\bfile\b|\.toml\b", str(getattr(option, "help", "")).lower())
        and not WRITTEN & set(option.opts)
        and not any((name, word) in tried for word in option.opts)
        and not (option.param_type_name == "argument" and (name, "") in tried)
    ]
    assert left == []


# --- refusal


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_waits_for_a_pipe_or_swallows_a_device(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("typer")
    from steptime.cli.main import run

    monkeypatch.chdir(tmp_path)
    for name, text in BESIDE.items():
        (tmp_path / name).write_text(text)
    pipe, device = tmp_path / "pipe.toml", tmp_path / "device.toml"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    for path in (pipe, device):
        assert run([word.format(path) for word in command.split()]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert f"cannot read {path}: it is not a regular file" in err


def test_what_cannot_be_opened_or_decoded_is_named(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"ab\xff")
    with pytest.raises(ConfigError, match="file: byte 2 is not UTF-8 text"):
        file_text(path, most=10)
    for name, reason in (
        (tmp_path, "Is a directory"),
        (tmp_path / "none", "No such file"),
        ("a\0b", "not a usable path"),
    ):
        with pytest.raises(ConfigError, match=reason):
            file_bytes(name, most=10)
    with pytest.raises(ConfigError, match=r"cannot read a{317}\.\.\."):
        file_bytes("a" * 5000, most=10)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are opened otherwise there")
def test_writing_into_a_pipe_that_nobody_reads_fails_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="No such device"):
        write_whole(pipe, "text")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
