"""What a formula needs where every number is one number, as on a page: no code for arrays."""

from __future__ import annotations

import ast

from steptime.book.subset_names import text


def without_arrays(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return a function's statements up to where every plain condition has been answered.

    After ``if larger is True: return a`` and ``if larger is False: return b`` only an array of
    conditions goes on.

    Args:
        body: Statements of the function.
    """
    answered: dict[str, set[object]] = {}
    for place, statement in enumerate(body):
        if not (isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Return)):
            continue
        for name, truth in _asked(statement.test):
            answered.setdefault(name, set()).add(truth)
        if {True, False} in answered.values():
            return [*body[:place], *statement.body]
    return body


def _asked(test: ast.expr) -> list[tuple[str, object]]:
    """Return each name that a condition asks to be True, or to be False."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return [pair for value in test.values for pair in _asked(value)]
    match test:
        case ast.Compare(
            left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=bool(truth))]
        ):
            return [(name, truth)]
    return []


def one_by_one(statement: ast.stmt) -> list[ast.stmt]:
    """Return ``a, b = x, y`` as two statements, where the second reads nothing of the first.

    Args:
        statement: Any; another comes back as it is.
    """
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            plain = all(isinstance(name, ast.Name) for name in names)
            read = {
                inner.id
                for value in values
                for inner in ast.walk(value)
                if isinstance(inner, ast.Name)
            }
            if plain and len(names) == len(values) and not read & {text(name) for name in names}:
                pairs = zip(names, values, strict=True)
                return [
                    ast.copy_location(ast.Assign([name], value), statement) for name, value in pairs
                ]
    return [statement]
