"""Records and results are named by type, and formulas read what the types hold."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

import steptime.formulas
from steptime.formulas import records
from steptime.inputs.constants import RooflineConstants

ROOM = Path(steptime.formulas.__file__).parent
GIVEN = ("Job", "TimeFacts", "MemoryFacts", "Constants", "BaselineConstants")
# Read beside the formulas: what a device holds, for those who ask whether a job fits.
BESIDE = {"Job": {"hbm_bytes"}}


def formulas() -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in sorted(ROOM.rglob("*.py")):
        if path.parent.name != "records":
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef):
                    yield f"{path.relative_to(ROOM)}:{node.name}", node


def annotated(node: ast.FunctionDef) -> dict[str, str]:
    return {one.arg: ast.unparse(one.annotation) for one in node.args.args if one.annotation}


def held(record: str) -> set[str]:
    return {field.name for field in fields(getattr(records, record))}


# Invariant


@pytest.mark.parametrize("record", GIVEN)
def test_a_record_holds_what_formulas_read_and_no_more(record: str) -> None:
    read = defaultdict(set)
    for name, node in formulas():
        types = annotated(node)
        for one in ast.walk(node):
            if isinstance(one, ast.Attribute) and types.get(ast.unparse(one.value)) == record:
                read[one.attr].add(name)
    assert {field: read[field] for field in read.keys() - held(record)} == {}
    assert held(record) - read.keys() == BESIDE.get(record, set())


def test_constants_of_all_generations_have_every_field_of_the_record() -> None:
    assert {field.name for field in fields(RooflineConstants)} == held("Constants")


def test_a_record_is_never_taken_as_a_bare_number() -> None:
    names = {"job", "stack", "facts", "constants", "shared", "stage", "ends", "parts"}
    bare = [
        f"{where} {name}"
        for where, node in formulas()
        for name, kind in annotated(node).items()
        if name in names and kind == "Number"
    ]
    assert bare == []


def test_docstrings_say_what_each_parameter_is_but_for_records() -> None:
    silent = []
    for where, node in formulas():
        text = ast.get_docstring(node) or ""
        if "Args:" in text:
            plain = [name for name, kind in annotated(node).items() if kind not in records.__all__]
            silent += [f"{where} {name}" for name in plain if f"\n    {name}: " not in text]
    assert silent == []


# Refusal


WRONG = """
from steptime.formulas import records
from steptime.formulas.number import Number, floor, where
from steptime.inputs.job import Job
from steptime.inputs.software import Software

def misspelt_job(job: records.Job) -> Number:
    return job.num_layrs
def misspelt_constant(constants: records.Constants) -> Number:
    return constants.etta
def misspelt_part(parts: records.StepParts) -> Number:
    return parts["comput"]
def missing_part() -> records.Fault:
    return {"rule": 0.0}
def attribute_of_a_number(job: records.Job) -> Number:
    return job.num_layers.tp
def text_before(job: records.Job) -> Number:
    return "a" + job.num_layers
def text_after(parts: records.StepParts) -> Number:
    return parts["compute"] + "s"
def text_chosen(constants: records.Constants) -> Number:
    return where(constants.hop_s > 0.0, "hops", 0.0)
def number_as_condition(job: records.Job) -> Number:
    return where(job.tp, 1.0, 0.0)
def record_for_a_number(job: records.Job) -> Number:
    return floor(job)
def nothing_for_a_number(facts: records.MemoryFacts) -> Number:
    return None
def fields_for_a_number(job: records.Job) -> Number:
    return {"base": job.pp, "slope": 0.0}
def right(job: records.Job, constants: records.Constants) -> Number:
    both = (job.tp > 1.0) & (job.cp > 1.0)
    return where(both, floor(-job.num_layers / job.pp), 1.0 - job.dp * constants.hop_s)
def takes(job: records.Job, facts: records.MemoryFacts, stack: records.TimeFacts) -> None: ...
def gives(job: Job, one: Software) -> None:
    assert one.time is not None
    takes(job, one.memory, one.time)
    takes(job, one.time, one.memory)
"""


@pytest.mark.slow
def test_a_misspelt_field_and_what_is_no_number_fail_the_type_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mypy = pytest.importorskip("mypy.api")
    snippet = tmp_path / "snippet.py"
    snippet.write_text(WRONG, encoding="utf-8")
    # With the settings and the cache of `make lint`: what that has checked is not checked anew.
    root = ROOM.parents[2]
    monkeypatch.chdir(root)
    settings = ["--config-file=pyproject.toml", "--cache-dir=.mypy_cache"]
    said, trouble, _ = mypy.run([*settings, "--no-error-summary", str(snippet)])
    assert trouble == ""
    lines = WRONG.splitlines()
    wrong = {int(line.split(":")[1]) for line in said.splitlines() if ": error:" in line}
    assert [lines[number - 1].strip() for number in sorted(wrong)] == [
        "return job.num_layrs",
        "return constants.etta",
        'return parts["comput"]',
        'return {"rule": 0.0}',
        "return job.num_layers.tp",
        'return "a" + job.num_layers',
        'return parts["compute"] + "s"',
        'return where(constants.hop_s > 0.0, "hops", 0.0)',
        "return where(job.tp, 1.0, 0.0)",
        "return floor(job)",
        "return None",
        'return {"base": job.pp, "slope": 0.0}',
        "takes(job, one.time, one.memory)",
    ]
