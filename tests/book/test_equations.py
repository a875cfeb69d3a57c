"""Equations of the pages: read back as a reader would, they give what the code gives."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import pytest
from equation_values import read_back
from latex_reader import Reader

from steptime.book.equations.boxes import added, atom, called, compared, divided, multiplied
from steptime.book.equations.choices import cases
from steptime.book.equations.closed import CLOSED
from steptime.book.equations.expressions import EquationError
from steptime.book.equations.statements import LIMIT, formula_of
from steptime.book.equations.symbols import input_box, symbols
from steptime.book.site.formula_pages import all_functions, has_equation

PRINTED = [one for one in all_functions() if has_equation(one)]


# Read back


@pytest.mark.parametrize(
    "function", PRINTED, ids=lambda one: f"{one.__module__[17:]}.{one.__name__}"
)
def test_equations_say_what_the_code_does(function: FunctionType) -> None:
    for seed in range(3):
        said, expected = read_back(function, seed)
        if isinstance(expected, dict) and isinstance(said, dict):
            assert list(said.values()) == pytest.approx(list(expected.values()), rel=1e-9)
        else:
            assert said == (
                expected if isinstance(said, list) else pytest.approx(expected, rel=1e-9)
            )


def test_most_formulas_have_equations_and_all_of_the_model_do() -> None:
    without = {one.__name__ for one in all_functions() if not has_equation(one)}
    model = ("roofline", "memory", "baseline", "flops", "parameters", "ranks", "judgement")
    rooms = {one for one in all_functions() if one.__module__.split(".")[2] in model}
    assert {one.__name__ for one in rooms} & without == {"worst_rank", "rank_totals"}
    assert len(PRINTED) > 280


@pytest.mark.parametrize(
    "function", PRINTED, ids=lambda one: f"{one.__module__[17:]}.{one.__name__}"
)
def test_no_two_names_of_a_formula_look_alike(function: FunctionType) -> None:
    formula = formula_of(CLOSED.get(function, function))
    lefts = [one.left.latex for one in formula.equations]
    given_ = [box.latex for box in formula.arguments.values()]
    given_ += [input_box(name).latex for name in formula.inputs]
    assert len(set(lefts)) == len(lefts)
    assert len(set(given_)) == len(given_)
    assert not set(lefts) & set(given_)


def test_rows_fit_a_phone() -> None:
    wide = 0
    for function in PRINTED:
        for one in formula_of(CLOSED.get(function, function)).equations:
            wide += one.left.width + one.right.width > LIMIT and len(one.rows()) == 1
    # A choice of values keeps to one row of its own, with rows inside it.
    assert wide < 60


def test_closed_form_is_what_the_steps_give() -> None:
    for code, closed in CLOSED.items():
        for groups in (1.0, 2.0, 8.0, 64.0):
            for picks in range(1, 20):
                assert closed(groups, float(picks)) == pytest.approx(
                    code(groups, float(picks)), rel=1e-12
                )


# Boxes

A, B, C = atom("a", 1.0), atom("b", 1.0), atom("c", 1.0)


@pytest.mark.parametrize(
    ("box", "latex"),
    [
        (multiplied([added([("+", A), ("+", B)]), C]), r"(a + b) \cdot c"),
        (added([("+", A), ("-", added([("+", B), ("-", C)]))]), r"a - (b - c)"),
        (divided(added([("+", A), ("+", B)]), C), r"\frac{a + b}{c}"),
        (multiplied([A, B]), r"a\,b"),
        (added([("-", A)]), "- a"),
        (called(atom("f", 1.0), [A, B]), "f(a, b)"),
    ],
)
def test_brackets_stand_where_they_must(box: Any, latex: str) -> None:
    assert box.latex == latex


def test_wide_expressions_are_broken_and_mean_the_same() -> None:
    values = {"a": 2.0, "b": 3.0, "c": 5.0}
    whole = multiplied(
        [added([("+", A), ("-", divided(B, C))]), called(atom(r"\max", 3.0), [B, C])]
    )
    for limit in (4.0, 8.0, 12.0, 40.0):
        rows = whole.rows(limit)
        text = r" \\ ".join(r"\quad " * depth + latex for depth, latex in rows)
        assert Reader(text, values.__getitem__).whole() == pytest.approx((2.0 - 0.6) * 5.0)
    assert len(whole.rows(4.0)) > 4
    assert len(whole.rows(40.0)) == 1


def test_a_choice_is_read_from_the_top() -> None:
    box = cases([(A, compared(A, ">", C)), (B, compared(B, "<", C))], C)
    values = {"a": 2.0, "b": 3.0, "c": 5.0}
    assert Reader(box.latex, values.__getitem__).whole() == 3.0
    (row,) = box.rows(5.0)
    assert Reader(row[1], values.__getitem__).whole() == 3.0


# Refusals


def loops(job: Any) -> Any:
    total = 0.0
    for _ in range(3):
        total = total + 1.0
    return total


def test_what_has_no_equation_is_refused_by_its_line() -> None:
    with pytest.raises(EquationError, match="line 3: no equation for"):
        formula_of(loops)


def test_every_letter_means_something() -> None:
    for name, symbol in symbols().items():
        assert symbol.meaning, name
        assert symbol.unit, name
