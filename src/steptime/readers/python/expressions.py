"""Plain expressions of a Python recipe: lists, attributes, sums, comparisons, conditions, texts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from steptime.readers.keys.formats import program_options
from steptime.readers.python.calls import MOST_ITEMS
from steptime.readers.python.records import (
    OPEN,
    Record,
    Scoped,
    Unknown,
    compared,
    is_number,
    shown,
    summed,
    truth,
)
from steptime.readers.python.rows import option

_LONGEST_TEXT = 200


def _items(scope: Scoped, node: ast.List | ast.Tuple) -> Any:
    items = [scope.value(item) for item in node.elts[:MOST_ITEMS]]
    return OPEN if _count(items) > MOST_ITEMS else items


def _count(items: list[Any]) -> int:
    """Return how many values a list holds, those of lists in it too, as far as they are few."""
    waiting, many = list(items), 0
    while waiting and many <= MOST_ITEMS:
        one, many = waiting.pop(), many + 1
        waiting.extend(one if isinstance(one, list) else ())
    return many


def _attribute(scope: Scoped, node: ast.Attribute) -> Any:
    inside = scope.value(node.value)
    if isinstance(inside, Record):
        if node.attr in inside.fields:
            return inside.fields[node.attr][0]
        known = inside.kind in program_options()
        return option(inside, node.attr, scope.library.given) if known else Unknown(shown(node))
    text = shown(node)
    if isinstance(inside, Unknown) and inside.is_option:
        return Unknown(text, is_option=True)
    # A name of another module, such as a type of numbers, stands for itscope.
    return text if isinstance(inside, (str, Unknown)) and "(" not in text else Unknown(text)


def _part(scope: Scoped, node: ast.Subscript) -> Any:
    """Return an item of a list, or the first of its items; others are not known."""
    several = scope.value(node.value)
    if not isinstance(several, list):
        return OPEN
    if isinstance(node.slice, ast.Slice):
        first, last = (
            None if one is None else scope.value(one)
            for one in (node.slice.lower, node.slice.upper)
        )
        plain = all(one is None or type(one) is int for one in (first, last))
        return several[first:last] if plain and node.slice.step is None else OPEN
    place = scope.value(node.slice)
    return several[place] if type(place) is int and -len(several) <= place < len(several) else OPEN


def _unary(scope: Scoped, node: ast.UnaryOp) -> Any:
    inner = scope.value(node.operand)
    if isinstance(node.op, ast.Not):
        known = truth(inner)
        return OPEN if known is None else not known
    return -inner if isinstance(node.op, ast.USub) and is_number(inner) else OPEN


def _binary(scope: Scoped, node: ast.BinOp) -> Any:
    found = summed(type(node.op), scope.value(node.left), scope.value(node.right))
    return OPEN if found is None else found


def _compare(scope: Scoped, node: ast.Compare) -> Any:
    if len(node.ops) != 1:
        return OPEN
    both = scope.value(node.left), scope.value(node.comparators[0])
    found = compared(type(node.ops[0]), *both)
    return OPEN if found is None else found


def _several(scope: Scoped, node: ast.BoolOp) -> Any:
    """Return the first value that decides; an option that is left out decides nothing."""
    stops = isinstance(node.op, ast.Or)
    value: Any = None
    for one in node.values:
        value = scope.value(one)
        known = truth(value)
        if known is None and not (stops and value.is_option):
            return OPEN
        if known is stops:
            return value
    return value


def _choice(scope: Scoped, node: ast.IfExp) -> Any:
    known = truth(scope.value(node.test))
    return OPEN if known is None else scope.value(node.body if known else node.orelse)


def _text(scope: Scoped, node: ast.JoinedStr) -> Any:
    parts = [
        scope.value(one.value if isinstance(one, ast.FormattedValue) else one)
        for one in node.values[:20]
    ]
    if not all(isinstance(part, (str, int)) for part in parts) or len(node.values) > 20:
        return OPEN
    whole = "".join(str(part)[:_LONGEST_TEXT] for part in parts)
    return whole if len(whole) <= _LONGEST_TEXT else OPEN


EXPRESSIONS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.List: _items,
    ast.Tuple: _items,
    ast.Attribute: _attribute,
    ast.Subscript: _part,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.Compare: _compare,
    ast.BoolOp: _several,
    ast.IfExp: _choice,
    ast.JoinedStr: _text,
}
"""What gives the value of an expression, by its kind; `OPEN` where that is not known."""
