import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Call = Callable[..., tuple[int, str, str]]


def process(*words: str, out: object = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "steptime", *words]
    return subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=False)  # type: ignore[call-overload,no-any-return]


# limit


def test_the_module_is_the_command() -> None:
    done = process("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("steptime ")


def test_no_command_shows_the_help(steptime: Call) -> None:
    status, out, _ = steptime()
    assert status == 2
    assert "predict" in out


# refusal


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = process("models", "--json", out=full)
    assert done.returncode == 2
    assert done.stderr == "steptime: cannot write the answer: No space left on device\n"


def test_a_reader_that_left_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as gone:
        done = process("models", "--json", out=gone)
    assert done.returncode == 0
    assert done.stderr == ""


def test_an_interrupt_says_nothing_even_while_importing() -> None:
    code = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'steptime.answer.answer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from steptime.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("text", ["a." * 4_000_000 + "a=1", "a." * 45_000 + "a=1", "[" * 90_000])
def test_a_hostile_description_is_refused_at_once(
    steptime: Call, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "dots.toml"
    path.write_text(text)
    status, _, err = steptime("predict", "-m", str(path), "-a", "h100", "-s", "1", "-B", "1")
    assert status == 2
    assert err.count("\n") == 1
    assert "too large" in err or "deep" in err


def test_a_folder_or_a_missing_file_is_named(steptime: Call, tmp_path: Path) -> None:
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    for path, reason in ((folder, "Is a directory"), (tmp_path / "none.toml", "No such file")):
        status, _, err = steptime("predict", "-m", str(path), "-a", "h100", "-s", "1", "-B", "1")
        assert status == 2
        assert f"cannot read {path}: {reason}" in err


@pytest.mark.parametrize("name", ["\x1b[31mred", "a" * 5000, "line\nbreak", "\u202egnidaer"])
def test_a_refusal_is_one_short_printable_line(steptime: Call, name: str) -> None:
    for words in (("schedule", "1f1b", "--order", name), ("validate", name), (name,)):
        status, out, err = steptime(*words)
        assert (status, out) == (2, "")
        assert err.endswith("\n")
        assert err[:-1].isprintable()
        assert len(err) < 700


def test_progress_never_mixes_with_the_answer(steptime: Call, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'models = ["llama3-8b"]\naccelerators = ["h100"]\ngpus = [8]\n'
        "global_batch_sizes = [8]\nseq_lengths = [2048]\n"
    )
    status, out, err = steptime("sweep", str(plan), "--out", str(tmp_path / "answers"))
    assert (status, err) == (0, "")
    assert out.startswith("1 answered, 0 were there already")
