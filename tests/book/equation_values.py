"""Numbers for the letters of an equation, and what its formula's code gives for the same ones."""

from __future__ import annotations

import ast
import inspect
import random
import typing
from collections.abc import Callable
from types import FunctionType
from typing import Any

from latex_reader import Reader

from steptime.book.equations.closed import CLOSED
from steptime.book.equations.expressions import given_arguments
from steptime.book.equations.statements import WIDE, Formula, formula_of
from steptime.book.equations.symbols import function_box, input_box, word_box
from steptime.formulas import records
from steptime.formulas.memory.shared import shared_terms
from steptime.formulas.records import MemoryFacts, TimeFacts, Width
from steptime.formulas.records.constants import PeakWidth
from steptime.formulas.roofline.shards import microbatch_rounds
from steptime.formulas.schedules.forms import highest
from steptime.inputs.training_step import training_step

KEYS = ("tensor", "context", "expert", "pipeline", "data")
MODELS = ("llama3-8b", "gpt3-175b", "deepseek-v3", "mixtral-8x22b")


def given(random_: random.Random) -> dict[str, Any]:
    """Return records of a job drawn at random."""
    model = random_.choice(MODELS)
    experts = model in MODELS[2:]
    step = training_step(
        model=model,
        accelerator=random_.choice(("h100", "b200")),
        tp=random_.choice((1, 2, 8)),
        pp=random_.choice((1, 2, 4)),
        dp=16,
        cp=random_.choice((1, 2)),
        ep=random_.choice((1, 8)) if experts else 1,
        seq_length=4096,
        global_batch_size=random_.choice((64, 256)),
        micro_batch_size=random_.choice((1, 2)),
        zero_stage=random_.choice((0, 1, 2, 3)),
        recompute=random_.choice(("none", "full", "selective")),
        sequence_parallel=random_.random() < 0.5,
        precision=random_.choice(("bf16", "fp8")),
    )
    job = step.job()

    def drawn(kind: Any) -> Any:
        usual = {name: field.default for name, field in kind.__dataclass_fields__.items()}
        return kind(
            **{
                name: random_.choice((value, 1.0))
                if value in (0.0, 1.0)
                else value * random_.uniform(0.5, 2.0)
                for name, value in usual.items()
            }
        )

    facts = drawn(MemoryFacts)
    return {
        "Job": job,
        "TimeFacts": drawn(TimeFacts),
        "MemoryFacts": facts,
        "SharedTerms": shared_terms(job, facts),
        **{
            name: kind(
                **{
                    field: round(random_.uniform(0.1, 0.9), 3)
                    for field in kind.__dataclass_fields__
                }
            )
            for name, kind in {
                "Constants": records.Constants,
                "BaselineConstants": records.BaselineConstants,
                "Width": Width,
                "PeakWidth": PeakWidth,
            }.items()
        },
    }


def kind_of(parameter: inspect.Parameter) -> str:
    return str(parameter.annotation).rpartition(".")[2].strip("'>")


def drawn_argument(parameter: inspect.Parameter, random_: random.Random) -> Any:
    """Return a number, or a result with several parts, for a parameter."""
    keys = getattr(getattr(records, kind_of(parameter), None), "__annotations__", None)
    if keys:
        return {key: random_.uniform(0.5, 9.0) for key in keys}
    if parameter.name == "schedule":
        return float(random_.randrange(4))
    return float(random_.choice((1, 2, 3, 4, 8, 12, 48)))


def result_keys(function: FunctionType) -> list[str]:
    hint = typing.get_type_hints(function).get("return")
    return list(getattr(hint, "__annotations__", {}))


def bound(function: FunctionType, have: dict[str, Any], key: str) -> Callable[..., Any]:
    """Return a formula of its numbers alone, for one part of its result."""
    parameters = list(inspect.signature(function).parameters.values())
    left_out = given_arguments(function)

    def value(*numbers: Any) -> Any:
        rest = list(numbers)
        texts = [key] if any(one.name == "key" for one in parameters) else []
        arguments = [
            have[kind_of(one)] if gone else texts.pop() if one.name == "key" else rest.pop(0)
            for one, gone in zip(parameters, left_out, strict=True)
        ]
        found = function(*arguments)
        return found[key] if key and isinstance(found, dict) else found

    return value


def takes_numbers(function: FunctionType) -> bool:
    parameters = inspect.signature(function).parameters
    named = [
        one for one, gone in zip(parameters, given_arguments(function), strict=True) if not gone
    ]
    return named != ["key"] and bool(named)


class Letters:
    """What each symbol of one formula stands for."""

    def __init__(
        self,
        formula: Formula,
        have: dict[str, Any],
        values: dict[str, Any],
        call: Callable[..., Any] = bound,
    ) -> None:
        self.known: dict[str, Any] = {one: float(k) for k, one in enumerate(("F", "I", "W"), 2)}
        self.function = formula.function.__name__
        own = inspect.signature(formula.function).parameters.values()
        for record in (have[kind_of(one)] for one in own if kind_of(one) in have):
            for name in formula.inputs if not isinstance(record, dict) else ():
                if hasattr(record, name):
                    self.put(input_box(name).latex, getattr(record, name))
            for name in record if isinstance(record, dict) else ():
                self.put(word_box(name).latex, record[name])
            self.split("shared", record, formula.function.__name__)
        for name, box in formula.arguments.items():
            self.put(box.latex, values[name])
            self.split(name, values[name], formula.function.__name__)
        for name, function in formula.calls.items():
            for key in [
                "",
                *result_keys(function),
                "copies",
                "vee",
                "pairs",
                "splits_backward",
                "chunks",
                "whole_rounds",
                "two_each",
                "even",
            ]:
                value = call(function, have, key)
                found = value if takes_numbers(function) else None
                latex = function_box(name, key).latex
                self.known.setdefault(latex, found or (lambda value=value: value))
                if found is None:
                    self.known[latex] = Lazy(value)

    def put(self, latex: str, value: Any) -> None:
        self.known[latex] = value

    def split(self, name: str, value: Any, function: str) -> None:
        if isinstance(value, dict):
            for key, part in value.items():
                self.known[word_box(name, key, function).latex] = part

    def gather(self, left: str, value: Any, names: list[str]) -> None:
        """Keep what an equation gave: a whole result under its parts, a part in its whole."""
        for name in names:
            own = word_box(name, function=self.function).latex
            if own == left:
                self.split(name, value, self.function)
            for key in KEYS:
                if word_box(name, key, self.function).latex == left:
                    self.known.setdefault(own, {})
                    if isinstance(self.known[own], dict):
                        self.known[own][key] = value

    def look(self, latex: str) -> Any:
        found = self.known[latex]
        return found.value() if isinstance(found, Lazy) else found


class Lazy:
    def __init__(self, value: Callable[[], Any]) -> None:
        self.value = value


def read_back(function: FunctionType, seed: int) -> tuple[Any, Any]:
    """Return what a formula's equations say and what its code gives, for random numbers."""
    random_ = random.Random(f"{function.__module__}.{function.__name__}.{seed}")
    have = given(random_)
    formula = formula_of(CLOSED.get(function, function))
    parameters = inspect.signature(function).parameters
    values = {name: drawn_argument(parameters[name], random_) for name in formula.arguments}
    if "rounds" in values and isinstance(values["rounds"], dict):
        # Rounds of which the formula takes for granted that they belong to the job.
        values["rounds"] = microbatch_rounds(have["Job"], have["TimeFacts"])
    expected = bound(function, have, "copies" if "key" in parameters else "")(*values.values())
    letters = Letters(formula, have, values)
    said = worked_out(formula, letters)
    last = list(said.values())
    if isinstance(last[-1], dict | list):
        return last[-1], expected
    if isinstance(expected, list):
        return last[-1], highest(expected, 2.0, 3.0, 4.0)
    if isinstance(expected, dict):
        name = function.__name__
        keyed = {key: function_box(name, key).latex for key in expected}
        return {
            key: said[latex] if latex in said else letters.look(word_box(key).latex)
            for key, latex in keyed.items()
        }, expected
    return last[-1], expected


def worked_out(formula: Formula, letters: Letters) -> dict[str, Any]:
    """Return what each equation of a formula gives, one after the other."""
    said: dict[str, Any] = {}
    names = iter_names(formula.function)
    for one in formula.equations:
        left, _, right = one.latex().replace(r"\begin{array}{l}", "").partition(" =")
        value = Reader(right, letters.look).whole()
        wide = one.latex(WIDE).replace(r"\begin{array}{l}", "").partition(" =")[2]
        again = Reader(wide, letters.look).whole()
        assert again == value or again != again
        letters.known[left.strip()] = value
        said[left.strip()] = value
        letters.gather(left.strip(), value, names)
    return said


def iter_names(function: FunctionType) -> list[str]:
    tree = ast.parse(inspect.getsource(function))
    return sorted({one.id for one in ast.walk(tree) if isinstance(one, ast.Name)})
