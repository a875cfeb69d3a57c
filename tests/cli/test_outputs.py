"""No command writes over what it reads."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from steptime.cli.main import every_command
from steptime.cli.outputs import writes

Call = Callable[..., tuple[int, str, str]]
RUNS = "model,gpu,gpus,tp,pp,mbs,gbs,seq_len,step_time_s\nllama3-8b,h100,8,1,1,1,16,8192,6\n"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "runs.csv"
    path.write_text(RUNS)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "config.json").write_text("{}")
    (tmp_path / "soft.csv").symlink_to(path)
    (tmp_path / "hard.csv").hardlink_to(path)
    return path


@pytest.mark.parametrize("option", ["--fit", "--csv"])
@pytest.mark.parametrize(
    "name", ["runs.csv", "./runs.csv", "../{here}/runs.csv", "soft.csv", "hard.csv"]
)
def test_a_file_of_runs_is_not_written_over(
    steptime: Call, runs: Path, option: str, name: str
) -> None:
    written = name.format(here=runs.parent.name)
    status, out, err = steptime("validate", "runs.csv", option, written)
    assert (status, out) == (2, "")
    assert err == f"steptime: FILE and {option} name the same file, {written}; give two\n"
    assert runs.read_text() == RUNS


@pytest.mark.parametrize(
    "words",
    [
        ("trace", "runs.csv", "--figure", "runs.csv"),
        ("trace", "other.json", "--launch", "runs.csv", "--figure", "soft.csv"),
        ("schedule", "1f1b", "--overlay", "runs.csv", "--svg", "hard.csv"),
        ("schedule", "--order", "runs.csv", "--trace", "./runs.csv"),
        ("measure", "--like", "runs.csv", "--out", "runs.csv"),
        ("sweep", "runs.csv", "--out", "runs.csv"),
        ("validate", "--constants", "runs.csv", "--csv", "runs.csv"),
        ("--constants", "runs.csv", "validate", "--csv", "runs.csv"),
        ("validate", "--fit", "new.csv", "--csv", "./new.csv"),
        ("trace", "t.json", "-m", "folder", "--figure", "folder/config.json"),
    ],
)
def test_nor_any_other_input(steptime: Call, runs: Path, words: tuple[str, ...]) -> None:
    status, _, err = steptime(*words)
    assert status == 2
    assert "name the same file" in err
    assert runs.read_text() == RUNS


def test_another_file_is_written(steptime: Call, runs: Path) -> None:
    copy = Path(shutil.copy(runs, "copy.csv"))
    status, _, _ = steptime("validate", "runs.csv", "--csv", "copy.csv")
    assert status == 0
    assert copy.read_text() != RUNS
    assert runs.read_text() == RUNS


def test_every_option_that_writes_says_so() -> None:
    group: Any = typer.main.get_command(every_command())
    found = {
        (name, max(one.opts, key=len))
        for name, command in group.commands.items()
        for one in command.params
        if writes(one)
    }
    told = {
        (name, max(one.opts, key=len))
        for name, command in group.commands.items()
        for one in command.params
        if one.param_type_name == "option" and not one.is_flag
        for word in ("write", "folder for")
        if word in (one.help or "").lower()
    }
    assert found == told
