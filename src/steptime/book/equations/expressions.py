"""From Python's expressions to boxes: the subset that formulas use, and no more."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType, ModuleType

from steptime.book.equations.boxes import PRODUCT as AS_FACTOR
from steptime.book.equations.boxes import (
    Box,
    added,
    atom,
    bracketed,
    called,
    compared,
    divided,
    multiplied,
    prefixed,
    within,
)
from steptime.book.equations.choices import cases
from steptime.book.equations.symbols import function_box, input_box, number_box, word_box

NUMBER = "steptime.formulas.number"
GIVEN = frozenset(
    "Job TimeFacts Constants BaselineConstants MemoryFacts SharedTerms Width PeakWidth".split()
)
"""Records that a formula reads from and an equation leaves out: the reader has them anyway."""
PRODUCT = "product_over"
HIGHEST = "highest_of"
ACTIONS = ("F", "I", "W")
SIGNS = {
    ast.Lt: "<",
    ast.LtE: r"\le",
    ast.Gt: ">",
    ast.GtE: r"\ge",
    ast.Eq: "=",
    ast.NotEq: r"\ne",
}
_OPPOSITE = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}


class EquationError(TypeError):
    """A line of a formula that has no equation."""


def given_arguments(function: FunctionType) -> list[bool]:
    """Return for each parameter of a formula whether it is a record that an equation leaves out.

    Args:
        function: A formula.
    """
    parameters = inspect.signature(function).parameters.values()
    return [str(one.annotation).rpartition(".")[2].strip("'>") in GIVEN for one in parameters]


class Expressions:
    """Turns the expressions of one function into boxes.

    Args:
        module: Where the function stands, for the constants and functions that it names.
        function: Its name.
        records: Its parameters that are records left out of equations.
        variables: Names that it gives: a part of a record under one of them keeps the record's.
    """

    def __init__(
        self,
        module: ModuleType,
        function: str,
        records: frozenset[str],
        variables: frozenset[str] = frozenset(),
    ) -> None:
        self.module = module
        self.function = function
        self.records = records
        self.variables = variables
        self.names: dict[str, Box] = {}
        self.inputs: set[str] = set()
        self.called: dict[str, FunctionType] = {}
        self.constants: dict[str, float] = {}

    def box(self, node: ast.expr) -> Box:
        """Return an expression as a box.

        Args:
            node: As parsed.

        Raises:
            EquationError: If it has no equation.
        """
        match node:
            case ast.Constant(value=bool()):
                raise EquationError(f"line {node.lineno}: a truth value")
            case ast.Constant(value=int() | float() as value):
                return number_box(value)
            case ast.Name(id=name):
                return self._name(name, node)
            case ast.Attribute(value=ast.Name(id=base), attr=name) if base in self.records:
                self.inputs.add(name)
                return input_box(name)
            case ast.Subscript(slice=ast.Constant(value=str() as key)):
                return self._part(node.value, key)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return added([("-", self.box(operand))])
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                return added(self._terms(node))
            case ast.BinOp(op=ast.Mult() | ast.Div()):
                return self._product(node)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return self._power(left, right)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return compared(self.box(left), SIGNS[type(op)], self.box(right))
            case ast.Call(func=ast.Name(id=name), keywords=[]):
                return self._call(name, node)
        raise EquationError(f"line {node.lineno}: no equation for {ast.unparse(node)}")

    def _name(self, name: str, node: ast.expr) -> Box:
        if name in self.names:
            return self.names[name]
        value = getattr(self.module, name, None)
        if isinstance(value, (int, float)):
            self.constants[name] = float(value)
            return number_box(float(value))
        raise EquationError(f"line {node.lineno}: no equation for {name}")

    def _part(self, base: ast.expr, key: str) -> Box:
        """Return one part of a result that has several."""
        if isinstance(base, ast.Name):
            if base.id in self.records and key not in self.variables:
                return word_box(key)
            return word_box(base.id, key, self.function)
        if isinstance(base, ast.Call) and isinstance(base.func, ast.Name):
            return self._function(base.func.id, base, key)
        raise EquationError(f"line {base.lineno}: no equation for a part of {ast.unparse(base)}")

    def _terms(self, node: ast.expr) -> list[tuple[str, Box]]:
        """Return a chain of sums and differences as its terms."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            sign = "+" if isinstance(node.op, ast.Add) else "-"
            right = self._terms(node.right) if sign == "+" else [("+", self.box(node.right))]
            joined = [(sign if own == "+" else own, term) for own, term in right]
            return [*self._terms(node.left), *joined]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return [("-", self.box(node.operand))]
        return [("+", self.box(node))]

    def _factors(self, node: ast.expr, over: list[Box], under: list[Box]) -> None:
        """Sort a chain of products and quotients into what is over and under the line."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
            self._factors(node.left, over, under)
            if isinstance(node.op, ast.Mult):
                self._factors(node.right, over, under)
            else:
                self._factors(node.right, under, over)
            return
        chosen = self._switched(node)
        over += chosen if chosen else [self.box(node)]

    def _product(self, node: ast.expr) -> Box:
        over: list[Box] = []
        under: list[Box] = []
        self._factors(node, over, under)
        over = [
            *(one for one in over if _numeric(one)),
            *(one for one in over if not _numeric(one)),
        ]
        over = [one for one in over if one.latex != "1"] or [atom("1", 1.0)]
        under = [*(one for one in under if _numeric(one)), *(o for o in under if not _numeric(o))]
        return divided(multiplied(over), multiplied(under)) if under else multiplied(over)

    def _power(self, left: ast.expr, right: ast.expr) -> Box:
        base, exponent = within(self.box(left), AS_FACTOR + 1), self.box(right)
        return atom(f"{base.latex}^{{{exponent.latex}}}", base.width + 0.7 * exponent.width)

    def _switched(self, node: ast.expr) -> list[Box]:
        """Return a value that a condition turns off as two factors, ``[]`` for all else."""
        if not self._is_helper(node, "where"):
            return []
        assert isinstance(node, ast.Call)
        condition, yes, no = node.args
        if _is_zero(no):
            switch = bracketed("[", self.box(condition), "]")
            return [switch] if _is_one(yes) else [self.box(yes), switch]
        if _is_zero(yes) and isinstance(condition, ast.Compare):
            opposite = ast.Compare(
                condition.left, [_OPPOSITE[type(condition.ops[0])]()], condition.comparators
            )
            switch = bracketed("[", self.box(ast.copy_location(opposite, condition)), "]")
            return [switch] if _is_one(no) else [self.box(no), switch]
        return []

    def _is_helper(self, node: ast.expr, name: str) -> bool:
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == name
            and getattr(getattr(self.module, name, None), "__module__", "") == NUMBER
        )

    def _call(self, name: str, node: ast.Call) -> Box:
        if name == HIGHEST:
            return called(atom(r"\max", 3.2), [self.box(one) for one in node.args])
        if name == PRODUCT:
            return self._over(*node.args)
        if self._is_helper(node, name):
            return self._helper(name, node)
        return self._function(name, node, "")

    def _over(self, counter: ast.expr, end: ast.expr, inside: ast.expr) -> Box:
        """Return a product over a counter from 0."""
        letter, last = ast.unparse(counter), int(ast.literal_eval(end)) - 1
        self.names[letter] = atom(letter, 1.0)
        sign = rf"\prod_{{{letter}=0}}^{{{last}}}"
        return prefixed(sign, 3.0, within(self.box(inside), AS_FACTOR))

    def _helper(self, name: str, node: ast.Call) -> Box:
        arguments = node.args
        match name:
            case "where":
                chosen = self._switched(node)
                return multiplied(chosen) if chosen else self._cases(node)
            case "maximum" | "minimum":
                sign = r"\max" if name == "maximum" else r"\min"
                return called(atom(sign, 3.2), [self.box(one) for one in self._flat(name, node)])
            case "floor":
                return bracketed(r"\lfloor", self.box(arguments[0]), r"\rfloor")
            case "ceil":
                return bracketed(r"\lceil", self.box(arguments[0]), r"\rceil")
            case "ceil_div":
                whole = ast.copy_location(ast.BinOp(arguments[0], ast.Div(), arguments[1]), node)
                return bracketed(r"\lceil", self.box(whole), r"\rceil")
        raise EquationError(f"line {node.lineno}: no equation for {name}")

    def _flat(self, name: str, node: ast.Call) -> list[ast.expr]:
        """Return the arguments of a maximum of maxima as those of one."""
        found: list[ast.expr] = []
        for one in node.args:
            if self._is_helper(one, name) and isinstance(one, ast.Call):
                found += self._flat(name, one)
            else:
                found.append(one)
        return found

    def _cases(self, node: ast.Call) -> Box:
        choices: list[tuple[Box, Box]] = []
        rest: ast.expr = node
        while self._is_helper(rest, "where") and not self._switched(rest):
            assert isinstance(rest, ast.Call)
            choices.append((self.box(rest.args[1]), self.box(rest.args[0])))
            rest = rest.args[2]
        return cases(choices, self.box(rest))

    def _function(self, name: str, node: ast.Call, key: str) -> Box:
        function = getattr(self.module, name, None)
        if not isinstance(function, FunctionType):
            raise EquationError(f"line {node.lineno}: no equation for {name}")
        if function.__name__ == "exponential":
            return called(atom(r"\exp", 2.5), [self.box(one) for one in node.args])
        self.called[name] = function
        kept: list[ast.expr] = []
        for one, given in zip(node.args, given_arguments(function), strict=True):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                key = one.value if not key else f"{one.value}, {key}"
            elif not given:
                kept.append(one)
        return called(function_box(name, key), [self._argument(one) for one in kept])

    def _argument(self, node: ast.expr) -> Box:
        """Return an argument; a record of results is its name."""
        if isinstance(node, ast.Name) and node.id in self.names:
            return self.names[node.id]
        return self.box(node)


def _numeric(box: Box) -> bool:
    return box.latex.replace("{,}", "").replace(".", "").isdigit()


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0.0


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1.0
