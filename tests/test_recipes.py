"""Each recipe of CONTRIBUTING, followed on a copy: what is added is there, and in few files."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
RECIPE = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
STEP = "model='llama3-8b', accelerator='h100', seq_length=4096, global_batch_size=64, pp=4"

PREDICTED, ENDS = f"steptime.predict({STEP})", "('step_time_low_s', 'step_time_high_s')"


class Copy:
    """A copy of the package and its data, and what was changed in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.changed: set[str] = set()
        for name in ("src/steptime", "data"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)

    def edit(self, name: str, *changes: tuple[str, str]) -> None:
        """Replace pieces of a file, each of which is there; a new file is made of all of them."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        for old, new in changes:
            assert old in text, (name, old)
            text = text.replace(old, new, 1) if old else text + new
        path.write_text(text, encoding="utf-8")
        self.changed.add(name)

    def table(self, name: str, key: str, like: str, *changes: tuple[str, str]) -> None:
        """Add a table to a file, made of another one of it."""
        text = (self.folder / name).read_text(encoding="utf-8")
        parts = re.findall(rf"^\[{re.escape(like)}[.\]].*?(?=^\[|\Z)", text, re.M | re.S)
        added = "".join(parts).replace(f"[{like}", f"[{key}")
        for old, new in changes:
            assert old in added, (name, old)
            added = added.replace(old, new, 1)
        self.edit(name, ("", "\n" + added))

    def run(self, *words: str) -> str:
        """Return what Python prints with the copy in place of the package."""
        environment = os.environ | {"PYTHONPATH": str(self.folder / "src")}
        done = subprocess.run(
            [sys.executable, *words],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def value(self, code: str) -> Any:
        """Return what an expression is there."""
        return json.loads(self.run("-c", f"import json, steptime; print(json.dumps({code}))"))

    def command(self, *words: str) -> Any:
        """Return what a command answers."""
        return json.loads(self.run("-m", "steptime", *words, "--json"))


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def same_answer(copy: Copy, old: str, new: str) -> None:
    """Hold the answer for what was added to that for what it was made like."""
    assert old in STEP
    asked = f"steptime.predict({STEP}).step_time_s"
    twin = f"steptime.predict({STEP.replace(old, new)}).step_time_s"
    first, second = copy.value(f"[{asked}, {twin}]")
    assert first == second


def test_a_device_is_one_table(copy: Copy) -> None:
    twin = [('"H100 SXM 80 GB"', '"Twin"'), ('"H100-80GB SXM", ', ""), ('"H100 80GB", ', "")]
    names = ('"h100-80gb", "H100 SXM"', '"twin"')
    copy.table("data/accelerators.toml", "h100-twin", "h100", *twin, names)
    same_answer(copy, "'h100'", "'h100-twin'")
    page = "steptime.book.explorer_data.explorer_data()['accelerators']"
    keys = f"[one['key'] for one in __import__('steptime.book.explorer_data') and {page}]"
    assert "h100-twin" in copy.value(keys)
    assert len(copy.changed) == 1


def test_a_generation_is_one_table_and_its_device_another(copy: Copy) -> None:
    copy.table("data/generations.toml", "grace", "hopper")
    twin = [('"H100 SXM 80 GB"', '"Twin"'), ('generation = "hopper"', 'generation = "grace"')]
    alias = ('"H100-80GB SXM", "H100 80GB", "h100-80gb", "H100 SXM"', '"twin"')
    copy.table("data/accelerators.toml", "twin-100", "h100", *twin, alias)
    same_answer(copy, "'h100'", "'twin-100'")
    assert len(copy.changed) == 2


def test_a_model_is_one_table(copy: Copy) -> None:
    aliases = '"Llama-3-8B", "Llama3.1-8B", "Llama-3.1-8B"'
    twin = [('"Llama 3 8B"', '"Twin 8B"'), (aliases, '"twin"')]
    copy.table("data/models.toml", "twin-8b", "llama3-8b", *twin)
    same_answer(copy, "'llama3-8b'", "'twin-8b'")
    assert "twin-8b" in copy.run("-m", "steptime", "models")
    assert len(copy.changed) == 1


def test_a_run_is_one_row(copy: Copy) -> None:
    code = (
        "from steptime.evidence.judge import run_result\n"
        "from steptime.evidence.runs import run_of\n"
        "from steptime.evidence.schema import published_rows\n"
        "found = run_result(run_of(published_rows()[-1]), 'roofline')\n"
        "print(found.id, found.error_fraction)"
    )
    rows = (ROOT / "data/published_runs.csv").read_text(encoding="utf-8").splitlines()
    # A row of a source that is known, which all models can tell.
    name = rows[1].split(",")[0]
    copy.edit("data/published_runs.csv", ("", rows[1].replace(name, "twin-1", 1) + "\n"))
    name, error = copy.run("-c", code).split()
    assert name == "twin-1"
    # Its own facts, of data/run_facts.csv, go by the row's name: it comes near without them.
    assert abs(float(error)) < 0.25
    assert len(copy.changed) == 1


def test_the_fit_takes_in_a_run_by_the_steps_that_the_recipe_names(copy: Copy) -> None:
    """On every twelfth run, which is seconds in place of minutes."""
    path = copy.folder / "data/published_runs.csv"
    head, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines(keepends=True))
    some = rows[::12]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *some, ["twin-1", *rows[0][1:]]])
    made = ("roofline_constants.toml", "roofline_residuals.csv", "interval_widths.toml")
    before = [(copy.folder / "data" / name).read_text(encoding="utf-8") for name in made]
    steps = re.search(r"`(steptime\.evidence\.\w+)`, `\.(\w+)` and `\.(\w+)` with", RECIPE)
    assert steps is not None
    first, *others = steps.groups()
    for module in (first, *(f"steptime.evidence.{name}" for name in others)):
        copy.run("-m", module)
    after = [(copy.folder / "data" / name).read_text(encoding="utf-8") for name in made]
    assert all(old != new for old, new in zip(before, after, strict=True))
    assert "\ntwin-1," in after[1]
    assert "\ntwin-1," not in before[1]
    low, high = copy.value(f"[getattr({PREDICTED}, n) for n in {ENDS}]")
    assert 0.0 < low < high


def test_software_is_one_table(copy: Copy) -> None:
    twin = [('family = "megatron"', 'family = "twin"')]
    copy.table("data/stacks.toml", "twin-2026", "megatron-core", *twin)
    asked = "steptime.predict({0}, stack='{1}', date='2026-01').step_time_s"
    named = f"[{asked.format(STEP, 'megatron-core')}, {asked.format(STEP, 'twin')}]"
    first, second = copy.value(named)
    assert first == second
    assert "twin-2026" in copy.run("-m", "steptime", "stacks")
    assert len(copy.changed) == 1


def test_a_schedule_is_one_file_and_a_line(copy: Copy) -> None:
    folder = "src/steptime/formulas/schedules"
    text = (ROOT / folder / "gpipe.py").read_text(encoding="utf-8")
    for old, new in (
        ("GPIPE = {", "TWIN = {"),
        ('"name": "gpipe"', '"name": "twin"'),
        ('"title": "GPipe"', '"title": "Twin"'),
        ('"torchtitan": "GPipe"', '"torchtitan": ""'),
        ("gpipe_", "twin_"),
    ):
        assert old in text
        text = text.replace(old, new)
    copy.edit(f"{folder}/twin.py", ("", text))
    names = "TWIN, twin_held, twin_idle, twin_order"
    line = f"from steptime.formulas.schedules.twin import {names}\n"
    before = "from steptime.formulas.schedules.v_half"
    last = "    (ZB_AUTO, zb_h1_order, zb_auto_idle, zb_auto_held),\n"
    own = "    (TWIN, twin_order, twin_idle, twin_held),\n"
    copy.edit(
        f"{folder}/registry.py",
        (before, line + before),
        (last, last + own),
    )
    words = ("predict", "-m", "llama3-8b", "-a", "h100", "-s", "4096", "-B", "64", "--pp", "4")
    first, second = (copy.command(*words, "--schedule", name) for name in ("gpipe", "twin"))
    assert second["step_time_s"] == first["step_time_s"]
    assert second["layout"]["schedule"] == "twin"
    search = "steptime.search(model='llama3-8b', accelerator='h100', num_gpus=4, pp=4, tp=1,"
    found = f"{search} seq_length=4096, global_batch_size=64, schedule='twin').num_evaluated"
    assert copy.value(found) > 0
    row = "__import__('steptime.evidence.row_text', fromlist=['x']).schedule_name('twin', 4, 1)"
    assert copy.value(row) == ["twin", None]
    shown = "__import__('steptime.book.explorer_data', fromlist=['x']).schedule_entries()"
    assert "twin" in copy.value(f"[one['key'] for one in {shown}]")
    assert len(copy.changed) == 2


def test_a_field_is_one_entry_and_its_place_in_the_records(copy: Copy) -> None:
    entry = (
        "    passes: Annotated[\n        int,\n        Field(\n"
        '            flags=("--passes",), help="Times that all is done.", group="choice",\n'
        '            label="passes", default=1,\n        ),\n    ]\n'
    )
    order = "    order: Annotated[\n        str,"
    copy.edit("src/steptime/inputs/fields.py", (order, entry + order))
    layout = '    order: str = "megatron"\n'
    copy.edit("src/steptime/inputs/layout.py", (layout, layout + "    passes: int = 1\n"))
    record = "    data_inside: Number\n"
    copy.edit("src/steptime/formulas/records/job.py", (record, record + "    passes: Number\n"))
    number = '        "data_inside": data_inside(layout.order),\n'
    made = '        "passes": float(layout.passes),\n'
    copy.edit("src/steptime/inputs/job.py", (number, number + made))
    asked = f"steptime.predict({STEP}, passes=2)"
    assert copy.value(f"[{asked}.record.passes, {asked}.step.layout.passes]") == [2.0, 2]
    words = ("-m", "llama3-8b", "-a", "h100", "-s", "4096", "-B", "64")
    assert copy.command("predict", *words, "--passes", "3")["layout"]["passes"] == 3
    assert "passes: Times that all is done." in copy.value("steptime.predict.__doc__")
    assert copy.command("search", *words, "-n", "8", "--cp", "1")["num_fitting"]
    assert len(copy.changed) == 4


def test_a_format_is_one_file_and_its_name(copy: Copy) -> None:
    text = (ROOT / "data/formats/litgpt.toml").read_text(encoding="utf-8")
    title = next(line for line in text.splitlines() if line.startswith("title"))
    own = text.replace(title, 'title = "Twin"').replace("train.micro_", "train.twin_")
    copy.edit("data/formats/twin.toml", ("", own))
    copy.edit("data/formats/order.toml", ('"litgpt"', '"twin", "litgpt"'))
    example = (ROOT / "tests/readers/formats/litgpt.yaml").read_text(encoding="utf-8")
    (copy.folder / "old.yaml").write_text(example)
    (copy.folder / "new.yaml").write_text(example.replace("micro_batch", "twin_batch"))
    words = ("explain", "-a", "h100", "--gpus", "8")
    first, second = (copy.command(*words, name) for name in ("old.yaml", "new.yaml"))
    assert second["step_time_s"] == first["step_time_s"]
    assert len(copy.changed) == 2


def test_a_limit_is_one_table(copy: Copy) -> None:
    copy.table("data/limits.toml", "twin-limit", "even-routing", ('"load of experts"', '"twin"'))
    asked = STEP.replace("llama3-8b", "mixtral-8x7b")
    told = copy.value(f"[str(one) for one in steptime.predict({asked}).assumed]")
    assert any(one.startswith("twin: ") for one in told)
    assert len(copy.changed) == 1


# How far what is there is spread


@pytest.mark.parametrize(
    ("words", "most"),
    [
        # Copies of what is sharded: records, time, memory, messages, search, files, a program.
        (r"dp_replicate|HSDP", 15),
        # Ranks that cut an expert.
        (r"etp", 15),
        # A schedule: its file, and where it is listed; the other five are studies of the book.
        (r"dualpipe", 12),
    ],
)
def test_what_was_added_stands_in_few_files(words: str, most: int) -> None:
    word = re.compile(rf"\b(?:{words})\b")
    files = sorted((ROOT / "src").rglob("*.py"))
    found = [path for path in files if word.search(path.read_text(encoding="utf-8"))]
    shown = [path.relative_to(ROOT).as_posix() for path in found]
    assert 0 < len(shown) <= most, shown


RECIPES: dict[str, Callable[[Copy], None]] = {
    "A device": test_a_device_is_one_table,
    "A generation of devices": test_a_generation_is_one_table_and_its_device_another,
    "A model": test_a_model_is_one_table,
    "A run": test_the_fit_takes_in_a_run_by_the_steps_that_the_recipe_names,
    "Software": test_software_is_one_table,
    "A schedule": test_a_schedule_is_one_file_and_a_line,
    "A field of a question": test_a_field_is_one_entry_and_its_place_in_the_records,
    "A format of launch files": test_a_format_is_one_file_and_its_name,
    "A limit": test_a_limit_is_one_table,
}


def test_contributing_has_each_of_these_recipes() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [name for name in RECIPES if f"\n**{name}**: " not in text] == []
