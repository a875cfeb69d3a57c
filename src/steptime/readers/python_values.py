"""Values of a Python recipe, found without running it: literals, names, and calls with arguments.

A recipe builds records by calls with keywords and sets their fields. What is none of that, or what
a branch decides, is no value here, and whoever needs it is asked.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MOST_DEPTH = 12
MOST_CALLS = 3000
_MOST_ITEMS = 200
_MOST = 10**15
_LONGEST = 60
_PASSES = ("cast", "deepcopy", "Config", "Partial")
"""Calls that return what they are given, by their last name: the last argument, or the first."""
_SUMS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that is not written down.

    Attributes:
        text: The expression.
    """

    text: str


@dataclass(slots=True)
class Record:
    """What a call with arguments makes.

    Attributes:
        kind: The name that is called.
        fields: Values by keyword, and by position as a number; with their lines.
    """

    kind: str
    fields: dict[str, tuple[Any, int]] = field(default_factory=dict)


def shown(node: ast.AST) -> str:
    """Return an expression as it is written, shortened.

    Args:
        node: The expression.
    """
    return ast.unparse(node)[:_LONGEST]


@dataclass(slots=True)
class Scope:
    """Names of a module and of one function of it.

    Attributes:
        functions: Of the module, by name.
        names: Values by name.
        depth: Of functions that call each other.
        calls: How many more calls are followed; shared, so that no file asks for too many.
        touched: Lines where a record is handed to a function that may change it.
    """

    functions: Mapping[str, ast.FunctionDef]
    names: dict[str, Any] = field(default_factory=dict)
    depth: int = 0
    calls: list[int] = field(default_factory=lambda: [MOST_CALLS])
    touched: list[tuple[int, str]] = field(default_factory=list)

    def returned(self, name: str, bound: Mapping[str, Any] | None = None) -> Any:
        """Return what a function returns.

        Args:
            name: Of the function.
            bound: Its arguments by name; defaults are its own.
        """
        self.calls[0] -= 1
        if self.depth >= MOST_DEPTH or self.calls[0] < 0:
            return Unknown(name)
        one = self.functions[name]
        names = dict(self.names) | _defaults(one, self) | dict(bound or {})
        inner = Scope(self.functions, names, self.depth + 1, self.calls, self.touched)
        found = inner.run(one.body)
        return Unknown(f"{name}()") if found is None else found

    def run(self, body: list[ast.stmt], *, known: bool = True) -> Any:
        """Take statements one by one; return what is returned.

        Args:
            body: The statements.
            known: False inside a branch, whose values may not be the ones taken.
        """
        for one in body:
            if isinstance(one, ast.Return):
                return self.value(one.value) if one.value is not None and known else None
            self._statement(one, known=known)
        return None

    def _statement(self, one: ast.stmt, *, known: bool) -> None:
        if isinstance(one, ast.Assign):
            for target in one.targets:
                self._set(target, self._either(one.value, known=known), one.lineno)
        elif isinstance(one, (ast.AnnAssign, ast.AugAssign)):
            value = one.value if isinstance(one, ast.AnnAssign) else None
            found = Unknown(shown(one)) if value is None else self._either(value, known=known)
            self._set(one.target, found, one.lineno)
        elif isinstance(one, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
            for block in _blocks(one):
                self.run(block, known=False)
        elif isinstance(one, ast.Expr) and self._hands_over(one.value):
            self.touched.append((one.lineno, shown(one.value)))

    def _hands_over(self, node: ast.expr) -> bool:
        """Return whether a call is given a record, which it may change."""
        return isinstance(node, ast.Call) and any(
            isinstance(self.value(arg), Record) for arg in node.args
        )

    def _either(self, node: ast.expr, *, known: bool) -> Any:
        return self.value(node) if known else Unknown(f"{shown(node)}, in a branch")

    def _set(self, target: ast.expr, value: Any, line: int) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Attribute):
            inside = self._record(target.value, line)
            if inside is not None:
                inside.fields[target.attr] = (value, line)

    def _record(self, node: ast.expr, line: int) -> Record | None:
        """Return the record that an expression names, made where a recipe sets fields of none."""
        if isinstance(node, ast.Name):
            found = self.names.get(node.id)
            return found if isinstance(found, Record) else None
        if not isinstance(node, ast.Attribute):
            return None
        outer = self._record(node.value, line)
        if outer is None:
            return None
        value, _ = outer.fields.get(node.attr, (None, line))
        if not isinstance(value, Record):
            value = Record(kind="")
            outer.fields[node.attr] = (value, line)
        return value

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression; `Unknown` where it is not written down.

        Args:
            node: The expression.
        """
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.names.get(node.id, Unknown(node.id))
        if isinstance(node, (ast.List, ast.Tuple)):
            items = [self.value(item) for item in node.elts[:_MOST_ITEMS]]
            many = sum(len(one) for one in items if isinstance(one, list))
            return Unknown(shown(node)) if many > _MOST_ITEMS else items
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, (ast.UnaryOp, ast.BinOp)):
            found = self._number(node)
            return Unknown(shown(node)) if found is None else found
        return Unknown(shown(node))

    def _attribute(self, node: ast.Attribute) -> Any:
        inside = self.value(node.value)
        if isinstance(inside, Record):
            return inside.fields.get(node.attr, (Unknown(shown(node)), 0))[0]
        text = shown(node)
        # A name of another module, such as a type of numbers, stands for itself.
        return text if isinstance(inside, (str, Unknown)) and "(" not in text else Unknown(text)

    def _number(self, node: ast.expr) -> Any:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self.value(node.operand)
            return -inner if isinstance(inner, (int, float)) else None
        if not isinstance(node, ast.BinOp) or type(node.op) not in _SUMS:
            return None
        both = self.value(node.left), self.value(node.right)
        if not all(type(one) in (int, float) and abs(one) < _MOST for one in both):
            return None
        return _SUMS[type(node.op)](*both)

    def _bound(self, node: ast.Call) -> dict[str, Any]:
        """Return the arguments of a call to a function of the module, by name."""
        wanted = self.functions[shown(node.func)].args
        names = [one.arg for one in (*wanted.posonlyargs, *wanted.args)]
        found = {name: self.value(arg) for name, arg in zip(names, node.args, strict=False)}
        return found | {one.arg: self.value(one.value) for one in node.keywords if one.arg}

    def _call(self, node: ast.Call) -> Any:
        name = shown(node.func)
        self.calls[0] -= 1
        if self.calls[0] < 0:
            return Unknown(name)
        if isinstance(node.func, ast.Name) and node.func.id in self.functions:
            return self.returned(node.func.id, self._bound(node))
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
            # A method of what a call returns gives that in another form.
            return self.value(node.func.value)
        last = name.rpartition(".")[2]
        if last in _PASSES and node.args and isinstance(self.value(node.args[-1]), Record):
            return self.value(node.args[-1])
        kind = shown(node.args[0]) if last in ("Config", "Partial") and node.args else name
        made = Record(kind=kind)
        for place, arg in enumerate(node.args[:20]):
            made.fields[str(place)] = (self.value(arg), arg.lineno)
        for keyword in node.keywords[:200]:
            if keyword.arg is not None:
                made.fields[keyword.arg] = (self.value(keyword.value), keyword.value.lineno)
        return made


def _defaults(one: ast.FunctionDef, scope: Scope) -> dict[str, Any]:
    """Return the default values of a function's arguments; those without are not known."""
    names = [arg.arg for arg in (*one.args.posonlyargs, *one.args.args)]
    found: dict[str, Any] = {name: Unknown(name) for name in names}
    found |= {arg.arg: Unknown(arg.arg) for arg in one.args.kwonlyargs}
    last = names[len(names) - len(one.args.defaults) :]
    pairs = [*zip(last, one.args.defaults, strict=True)]
    only = zip(one.args.kwonlyargs, one.args.kw_defaults, strict=True)
    pairs += [(arg.arg, value) for arg, value in only if value is not None]
    return found | {name: scope.value(value) for name, value in pairs}


def _blocks(one: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield from [getattr(one, name)] if getattr(one, name, None) else []
    for handler in getattr(one, "handlers", []):
        yield handler.body
