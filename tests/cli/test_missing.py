"""With a group of packages missing: what needs none of it runs, the rest names the group."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

STEP = ["-m", "llama3-8b", "-a", "h100", "--gpus", "8", "-s", "8k", "-B", "8"]
BEYOND_CLI = ("numpy", "scipy", "pandas", "pyarrow", "dask", "distributed", "matplotlib", "jax")
WITHOUT_SEARCH = [
    ["predict", *STEP],
    ["memory", *STEP],
    ["place", "--tp", "8", "--gpus", "64"],
    ["schedule", "1f1b"],
    ["schedules"],
    ["models"],
    ["accelerators"],
    ["stacks"],
    ["facts"],
    ["validate"],
    ["validate-memory"],
]


GATE = """
import contextlib, io, json, sys
class Gate:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {modules!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Gate())
sys.argv = ["steptime", *{words!r}]
from steptime.cli import main
"""
MANY = """
told = []
for words in {many!r}:
    out, err, sys.argv = io.StringIO(), io.StringIO(), ["steptime", *words]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main()
        except SystemExit as end:
            status = end.code
    told.append([status or 0, out.getvalue(), err.getvalue()])
print(json.dumps(told))
"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def without(modules: tuple[str, ...], words: list[str]) -> tuple[int, str, str]:
    """Return status, output and errors of a command where some packages are missing."""
    done = python(GATE.format(modules=modules, words=words) + "main()")
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def told() -> dict[str, tuple[int, str, str]]:
    """Give what each command says in one process that has the command line's packages alone."""
    many = [[*words, "--json"] for words in WITHOUT_SEARCH]
    done = python(GATE.format(modules=BEYOND_CLI, words=[]) + MANY.format(many=many))
    assert done.stderr == ""
    names = [words[0] for words in WITHOUT_SEARCH]
    return dict(zip(names, map(tuple, json.loads(done.stdout)), strict=True))


@pytest.mark.parametrize("name", [words[0] for words in WITHOUT_SEARCH])
def test_a_command_needs_no_package_that_it_has_no_use_for(
    name: str, told: dict[str, tuple[int, str, str]]
) -> None:
    status, out, err = told[name]
    assert (status, err) == (0, "")
    assert json.loads(out)


@pytest.mark.parametrize("name", ["search", "sweep", "explain"])
def test_what_is_missing_is_refused_in_a_line_with_its_group(name: str, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'models = ["llama3-8b"]\naccelerators = ["h100"]\ngpus = [8]\n'
        "global_batch_sizes = [8]\nseq_lengths = [8192]\n"
    )
    script = tmp_path / "launch.sh"
    script.write_text("torchrun pretrain_gpt.py --micro-batch-size 1\n")
    words = {
        "search": ["search", *STEP],
        "sweep": ["sweep", str(plan), "--out", str(tmp_path / "out")],
        "explain": ["explain", str(script), *STEP],
    }[name]
    status, out, err = without(("numpy",), words)
    assert (status, out) == (2, "")
    assert err == "steptime: this command needs numpy: pip install 'steptime[search]'\n"


@pytest.mark.parametrize("module", ["typer", "rich"])
def test_without_the_command_line_its_group_is_named(module: str) -> None:
    status, out, err = without((module,), ["models"])
    assert (status, out) == (2, "")
    # Typer may bring what it needs of Rich along, so either speaks.
    assert err.endswith(f" needs {module}: pip install 'steptime[cli]'\n")
    assert err.count("\n") == 1


def test_search_explains_itself_without_its_packages() -> None:
    status, out, _ = without(BEYOND_CLI, ["search", "--help"])
    assert status == 0
    assert "--goodput" in out
