"""Files that users name: devices, pipes, folders, files too large, text that is none."""

from __future__ import annotations

import os
import sys
from pathlib import Path

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
    "search -m llama3-8b -a {} -n 8 -s 1 -B 8",
    "place -a {}",
    "sweep {} -o out",
    "schedule --order {}",
    "explain {} -a h100",
)


# --- limit


def test_a_file_of_the_largest_size_is_read_and_one_byte_more_is_not(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbfabc")
    assert file_bytes(path, most=6) == b"\xef\xbb\xbfabc"
    assert file_text(path, most=6) == "abc"
    with pytest.raises(ConfigError, match="file: over 5 bytes, too large for a description"):
        file_bytes(path, most=5)


# --- refusal


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_waits_for_a_pipe_or_swallows_a_device(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("typer")
    from steptime.cli.main import run

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
