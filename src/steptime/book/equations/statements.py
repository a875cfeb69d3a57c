"""From a function of ``formulas/`` to its equations, a line of code each.

Names for a field or a condition are put in where they are used. A name that is changed step by
step is one equation. A guard that only saves time says nothing and is left out.
"""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
from dataclasses import dataclass, field
from types import FunctionType

from steptime.book.equations.boxes import Box, Row, atom, called, compared
from steptime.book.equations.expressions import (
    ACTIONS,
    HIGHEST,
    PRODUCT,
    EquationError,
    Expressions,
    given_arguments,
)
from steptime.book.equations.symbols import function_box, word_box

LIMIT = 32.0
"""Letters of a row: what a phone of 360 pixels shows."""
WIDE = 60.0
"""Letters of a row where there is room."""


@dataclass(frozen=True, slots=True)
class Equation:
    """One equation.

    Attributes:
        left: What it defines.
        right: As what.
    """

    left: Box
    right: Box

    def rows(self, limit: float = LIMIT) -> list[Row]:
        """Return it on as many rows as it needs.

        Args:
            limit: Letters that a row may have.
        """
        whole = compared(self.left, "=", self.right)
        if whole.width <= limit:
            return [(0, whole.latex)]
        if self.left.width <= 8.0:
            first, *more = self.right.rows(limit - self.left.width - 2.4)
            opening = (0, f"{self.left.latex} = {first[1]}")
            return [opening, *((depth + 1, latex) for depth, latex in more)]
        rows = self.right.rows(limit - 2.0)
        left = self.left.rows(limit)
        left = [*left[:-1], (left[-1][0], left[-1][1] + " =")]
        return [*left, *((depth + 1, latex) for depth, latex in rows)]

    def latex(self, limit: float = LIMIT) -> str:
        """Return its LaTeX, rows one below the other.

        Args:
            limit: Letters that a row may have.
        """
        rows = self.rows(limit)
        if len(rows) == 1:
            return rows[0][1]
        body = r" \\ ".join(r"\quad " * depth + latex for depth, latex in rows)
        return rf"\begin{{array}}{{l}} {body} \end{{array}}"


@dataclass(frozen=True, slots=True)
class Formula:
    """A function as equations.

    Attributes:
        function: The function.
        equations: In the order of its lines, the result last.
        arguments: Its parameters that are numbers, with their symbols.
        inputs: Fields of records that it reads.
        calls: Formulas that it uses, by their names.
        constants: Numbers of its module that stand in the equations, by name.
    """

    function: FunctionType
    equations: list[Equation]
    arguments: dict[str, Box]
    inputs: list[str]
    calls: dict[str, FunctionType] = field(default_factory=dict)
    constants: dict[str, float] = field(default_factory=dict)


def _is_guard(node: ast.stmt) -> bool:
    """Return whether a statement only saves the time to compute what is 0 anyway."""
    return isinstance(node, ast.If) and "anywhere" in ast.unparse(node.test)


def _pairs(body: list[ast.stmt]) -> list[tuple[str, ast.expr]]:
    """Return assignments in order; what is returned is under an empty name."""
    found: list[tuple[str, ast.expr]] = []
    for node in body:
        match node:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found.append((name, value))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found.append((name, value))
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                found += [(ast.unparse(a), b) for a, b in zip(names, values, strict=True)]
            case ast.Return(value=ast.expr() as value):
                found.append(("", value))
            case ast.For():
                found.append(_looped(node))
            case _ if _is_guard(node):
                continue
            case _:
                raise EquationError(f"line {node.lineno}: no equation for {ast.unparse(node)}")
    return found


def _looped(node: ast.For) -> tuple[str, ast.expr]:
    """Return a loop that multiplies up a name as that name times one product.

    The product is a call of `PRODUCT` with the counter, its end and what is multiplied.

    Raises:
        EquationError: If a loop does anything else.
    """
    match node:
        case ast.For(
            target=ast.Name() as counter,
            iter=ast.Call(func=ast.Name(id="range"), args=[end]),
            body=[*before, ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp() as last)],
        ) if isinstance(last.left, ast.Name) and last.left.id == name:
            inside = _Put(_put(_pairs(before))).visit(copy.deepcopy(last.right))
            if isinstance(last.op, ast.Mult) and not _uses(inside, name):
                product = ast.Call(ast.Name(PRODUCT, ast.Load()), [counter, end, inside], [])
                whole = ast.BinOp(last.left, ast.Mult(), product)
                return name, ast.fix_missing_locations(ast.copy_location(whole, node))
    raise EquationError(f"line {node.lineno}: no equation for {ast.unparse(node)}")


def _put(pairs: list[tuple[str, ast.expr]]) -> dict[str, ast.expr]:
    """Return names with their values, each with those before it put in."""
    values: dict[str, ast.expr] = {}
    for name, value in pairs:
        values[name] = _Put(values).visit(copy.deepcopy(value))
    return values


class _Put(ast.NodeTransformer):
    """Puts expressions in for names."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return what the name stands for."""
        return copy.deepcopy(self.values.get(node.id, node))


def _uses(node: ast.expr, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))


def _joined(pairs: list[tuple[str, ast.expr]]) -> list[tuple[str, ast.expr]]:
    """Return assignments with none twice, short names put in where they are used."""
    put: dict[str, ast.expr] = {}
    found: list[tuple[str, ast.expr]] = []
    for name, value in pairs:
        value = _Put(put).visit(copy.deepcopy(value))
        if name and isinstance(value, ast.Attribute | ast.Compare | ast.Name):
            put[name] = value
            continue
        known = [place for place, (other, _) in enumerate(found) if other == name]
        if name and known:
            place = known[-1]
            if any(_uses(later, name) for _, later in found[place + 1 :]):
                new = ast.Name(name + "_anew", ast.Load())
                found.append((name + "_anew", value))
                put[name] = new
                continue
            value = _Put({name: found[place][1]}).visit(value)
            del found[place]
        found.append((name, value))
    return found


def _tree(function: FunctionType) -> ast.FunctionDef:
    tree = ast.parse(inspect.getsource(function)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


def _chain(counts: list[ast.expr]) -> str:
    """Return how many F, I and W a chain holds as a sum, what is not there left out."""
    text = ""
    for count, action in zip(counts, ACTIONS, strict=True):
        if isinstance(count, ast.Constant) and count.value == 0.0:
            continue
        less = isinstance(count, ast.UnaryOp)
        many = ast.unparse(count.operand if isinstance(count, ast.UnaryOp) else count)
        text += f" {'-' if less else '+' if text else ''} ({many}) * {action}"
    return text.strip()


def _as_highest(value: ast.expr) -> ast.expr:
    """Return rows of how many F, I and W a step may wait for as the highest of their sums.

    See `steptime.formulas.schedules.forms.highest`; whatever is no such rows comes back as it is.
    """
    if not (isinstance(value, ast.List) and all(isinstance(row, ast.List) for row in value.elts)):
        return value
    sums = [_chain(row.elts) for row in value.elts if isinstance(row, ast.List)]
    text = f"{HIGHEST}(0.0, {', '.join(sums)})"
    return ast.parse(text, mode="eval").body


def _entries(value: ast.expr, name: str) -> list[tuple[str, ast.expr]]:
    """Return a result's parts by key, or the one that it is under an empty key."""
    if not isinstance(value, ast.Dict):
        return [("", value)]
    if not all(isinstance(key, ast.Constant) for key in value.keys):
        raise EquationError(f"{name} has keys that are not constant")
    return [
        (str(ast.literal_eval(k)), v) for k, v in zip(value.keys, value.values, strict=True) if k
    ]


def formula_of(function: FunctionType) -> Formula:
    """Return a function as equations.

    Args:
        function: One of ``formulas/``.

    Raises:
        EquationError: If it does what no equation says, such as a loop.
    """
    tree, name = _tree(function), function.__name__
    given = given_arguments(function)
    parameters = [one.arg for one in tree.args.args]
    records = frozenset(one for one, left_out in zip(parameters, given, strict=True) if left_out)
    numbers = [one for one in parameters if one not in records]
    pairs = _joined(_pairs(tree.body))
    module = importlib.import_module(function.__module__)
    variables = frozenset(one for one, _ in pairs)
    expressions = Expressions(module, name, records, variables)
    arguments = {one: word_box(one, function=name) for one in numbers}
    expressions.names = {**{one: atom(one, 1.4) for one in ACTIONS}, **arguments}
    head = [arguments[one] for one in numbers]
    equations: list[Equation] = []
    for variable, value in pairs:
        for key, part in _entries(value, name):
            right = expressions.box(_as_highest(part))
            if not variable and key in variables and right.latex == word_box(key).latex:
                # A part of the result under the name that it has already.
                continue
            if variable:
                left = word_box(variable, key, function=name)
            else:
                left = called(function_box(name, key), [] if key else head)
            equations.append(Equation(left, right))
        if variable:
            expressions.names[variable] = word_box(variable, function=name)
    return Formula(
        function,
        equations,
        arguments,
        sorted(expressions.inputs),
        expressions.called,
        expressions.constants,
    )
