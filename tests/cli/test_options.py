"""Options are the same in every command: one flag, one help text, one order."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

typer = pytest.importorskip("typer")

from steptime.cli.main import every_command  # noqa: E402
from steptime.inputs.fields import FIELDS  # noqa: E402
from steptime.inputs.training_step import training_step  # noqa: E402

# Those that describe a job; a search tries lists, and a placement takes only the domain.
OF_A_JOB = ("predict", "memory", "search", "explain", "place")
OTHER_WORDS = {
    "search": {field.name for field in FIELDS if field.tried},
    "place": {"accelerator"},
}


def commands() -> dict[str, Any]:
    return dict(typer.main.get_command(every_command()).commands)


def test_a_flag_says_the_same_in_every_command_that_describes_a_job() -> None:
    seen: dict[str, tuple[str, tuple[str, ...]]] = {}
    for command in OF_A_JOB:
        for one in commands()[command].params:
            if one.name in OTHER_WORDS.get(command, ()):
                continue
            told = (one.help, tuple(one.opts))
            assert seen.setdefault(one.name, told) == told, (command, one.name)
    assert len(seen) > 30


@pytest.mark.parametrize("name", ["predict", "memory"])
def test_the_command_line_takes_what_python_takes(name: str) -> None:
    asked = inspect.signature(training_step).parameters
    given = {one.name: one for one in commands()[name].params}
    assert [one for one in given if one in asked] == list(asked)
    for parameter in asked.values():
        required = parameter.default is parameter.empty
        assert given[parameter.name].required == required
        assert required or given[parameter.name].default == parameter.default


def test_every_command_has_help_and_an_example() -> None:
    for name, command in commands().items():
        assert command.help, name
        assert f"`steptime {name}" in command.epilog, name
        for one in command.params:
            assert one.help, (name, one.name)


def test_every_command_prints_json_on_demand() -> None:
    for name, command in commands().items():
        assert "--json" in {flag for one in command.params for flag in one.opts}, name


def examples() -> list[str]:
    """Return the commands of all help texts that need no file and no device of one's own."""
    texts = [every_command().info.epilog, *(command.epilog for command in commands().values())]
    spans = [span for text in texts for span in re.findall(r"`(steptime [^`]+)`", text)]
    own = ("my_", "launch.sh", "train.toml", "plan.toml", "config.json", "measure", "COMMAND")
    return sorted({" ".join(span.split()) for span in spans if not any(x in span for x in own)})


@pytest.mark.parametrize("line", examples())
def test_every_example_runs(
    steptime: Callable[..., tuple[int, str, str]],
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line.partition(">")[0])[1:]
    status, out, err = steptime(*words)
    # A file of another program may lack a key for something: that is named, and no fault.
    faults = [one for one in err.splitlines() if not one.startswith("note: ")]
    assert (status, faults) == (0, [])
    assert out
