"""A whole answer from the pages alone: each formula by its equations, and those that it names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from equation_values import Letters, bound, result_keys, worked_out

from steptime.book.equations.closed import CLOSED
from steptime.book.equations.statements import Formula, formula_of
from steptime.book.equations.symbols import function_box, word_box
from steptime.book.site.formula_pages import has_equation


class Pages:
    """What a reader works out from the pages.

    Args:
        have: The records of one question, by the names of their kinds.
    """

    def __init__(self, have: dict[str, Any]) -> None:
        self.have = have
        self.printed: set[FunctionType] = set()
        self.as_code: set[FunctionType] = set()
        self.found: dict[Any, Any] = {}

    def call(self, function: FunctionType, have: dict[str, Any], key: str) -> Callable[..., Any]:
        """Return a formula of its numbers, as `equation_values.bound` does, by its equations."""
        if not _readable(function):

            def coded(*numbers: Any) -> Any:
                self.as_code.add(function)
                return bound(function, have, key)(*numbers)

            return coded

        def value(*numbers: Any) -> Any:
            found = self.value(function, numbers)
            return found[key] if key and isinstance(found, dict) else found

        return value

    def value(self, function: FunctionType, numbers: tuple[Any, ...]) -> Any:
        """Return what the equations of a formula give."""
        told = (function, repr(numbers))
        if told not in self.found:
            self.printed.add(function)
            self.found[told] = self._worked_out(function, numbers)
        return self.found[told]

    def _worked_out(self, function: FunctionType, numbers: tuple[Any, ...]) -> Any:
        formula = _formula(function)
        values = dict(zip(formula.arguments, numbers, strict=True))
        letters = Letters(formula, self.have, values, self.call)
        said = worked_out(formula, letters)
        last = list(said.values())[-1]
        keys = result_keys(function)
        if not keys or isinstance(last, dict):
            return last
        latex = {key: function_box(function.__name__, key).latex for key in keys}
        return {
            key: said[one] if one in said else letters.look(word_box(key).latex)
            for key, one in latex.items()
        }


@cache
def _readable(function: FunctionType) -> bool:
    signature = inspect.signature(function)
    if "key" in signature.parameters or "list" in str(signature.return_annotation):
        return False
    return has_equation(function)


@cache
def _formula(function: FunctionType) -> Formula:
    return formula_of(CLOSED.get(function, function))
