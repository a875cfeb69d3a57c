"""The formulas as data, so that the page shows the very lines that computed a number.

Every function of ``formulas/`` becomes its parameters, what its docstring says, and its
statements as nested lists. The page walks those with the reader's numbers put in.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from steptime.book.references import with_names

_NUMBER = "steptime.formulas.number"
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def expression(node: ast.expr) -> Any:
    """Return an expression as nested lists: ``["+", left, right]``, ``"name"``, ``2.0``.

    Args:
        node: What was parsed.

    Raises:
        TypeError: If formulas do not use such an expression.
    """
    match node:
        case ast.Constant(value=bool() | int() | float()):
            return node.value
        case ast.Constant(value=str()):
            return ["text", node.value]
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=base, attr=name):
            return [".", expression(base), name]
        case ast.BinOp(left=left, op=op, right=right):
            return [_OPERATORS[type(op)], expression(left), expression(right)]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return ["neg", expression(operand)]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return ["not", expression(operand)]
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return [_OPERATORS[type(op)], expression(left), expression(right)]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return ["call", name, *(expression(one) for one in args)]
        case ast.Call(func=ast.Subscript(value=ast.Name(id=name), slice=key), args=args):
            return ["listed", name, expression(key), *(expression(one) for one in args)]
        case ast.Subscript(value=base, slice=key):
            return ["at", expression(base), expression(key)]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return ["dict", *([_key(key), expression(value)] for key, value in pairs)]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return ["list", *(expression(one) for one in items)]
    raise TypeError(f"line {node.lineno}: no text for {ast.unparse(node)}")


def _key(node: ast.expr | None) -> str:
    if not isinstance(node, ast.Constant):
        raise TypeError("a formula's result has constant keys")
    return str(node.value)


def statement(node: ast.stmt) -> list[Any]:
    """Return a statement as nested lists: ``["=", "name", value]``, ``["return", value]``.

    Args:
        node: What was parsed.

    Raises:
        TypeError: If formulas do not use such a statement.
    """
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return ["=", name, expression(value)]
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            return ["=", name, expression(value)]
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=value):
            return ["unpack", [expression(one) for one in names], expression(value)]
        case ast.Assign(targets=[ast.Subscript(value=base, slice=key)], value=value):
            return ["put", expression(base), expression(key), expression(value)]
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            return ["=", name, [_OPERATORS[type(op)], name, expression(value)]]
        case ast.For(target=target, iter=loop, body=body):
            return ["for", expression(target), expression(loop), [statement(one) for one in body]]
        case ast.If(test=test, body=body, orelse=[]):
            return ["if", expression(test), [statement(one) for one in body]]
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=base, attr="append"), args=[added], keywords=[])
        ):
            return ["push", expression(base), expression(added)]
        case ast.Return(value=ast.expr() as value):
            return ["return", expression(value)]
    raise TypeError(f"line {node.lineno}: no text for {ast.unparse(node)}")


def _sections(docstring: str) -> tuple[str, str]:
    """Return the first line and the references of a docstring."""
    head = docstring.strip().split("\n")[0]
    _, _, rest = docstring.partition("References:")
    lines = [line.strip() for line in rest.strip().splitlines()]
    return head, " ".join(lines)


def function_text(node: ast.FunctionDef, module: str) -> dict[str, Any]:
    """Return one formula as data.

    Args:
        node: The function as parsed.
        module: File it stands in, as the reader may look it up.

    Raises:
        TypeError: If it uses what formulas do not.
    """
    head, references = _sections(ast.get_docstring(node) or "")
    body = [
        statement(one)
        for one in node.body
        if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
    ]
    return {
        "args": [one.arg for one in node.args.args],
        "says": re.sub("^Return (whether )?", "", head).replace("`", "").removesuffix("."),
        "from": with_names(references).removesuffix("."),
        "file": module,
        "body": body,
    }


def _renamed(tree: Any, names: dict[str, str]) -> Any:
    """Return nested lists with each called function under the name it has in the data."""
    if not isinstance(tree, list):
        return tree
    if tree[:1] == ["call"]:
        return ["call", names.get(tree[1], tree[1]), *(_renamed(one, names) for one in tree[2:])]
    return [_renamed(one, names) for one in tree]


def _chain(body: list[Any], listed: dict[str, list[str]]) -> list[Any]:
    """Return statements in which what a table lists is called by name: each place has its case."""
    found = []
    for one in body:
        if one[0] != "return" or not isinstance(one[1], list) or one[1][:1] != ["listed"]:
            found.append(one)
            continue
        _, table, place, *values = one[1]
        calls = [["return", ["call", name, *values]] for name in listed[table]]
        found += [["if", ["==", place, at], [call]] for at, call in enumerate(calls[:-1])]
        found.append(calls[-1])
    return found


class _Reader:
    """Reads formulas and all that they reach, each once.

    Attributes:
        functions: What was read, by the name it has in the data.
        constants: Module constants that the functions name.
    """

    def __init__(self, tables: Sequence[str] = ()) -> None:
        self._tables = tables
        self.functions: dict[str, Any] = {}
        self.constants: dict[str, Any] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._trees: dict[str, dict[str, ast.FunctionDef]] = {}

    def _tree(self, module: ModuleType) -> dict[str, ast.FunctionDef]:
        if module.__name__ not in self._trees:
            body = ast.parse(inspect.getsource(module)).body
            found = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
            self._trees[module.__name__] = found
        return self._trees[module.__name__]

    def read(self, function: FunctionType) -> str:
        """Read a formula and what it calls; return its name in the data.

        Args:
            function: A function of ``formulas/``.
        """
        symbol = (function.__module__, function.__name__)
        if symbol in self._names:
            return self._names[symbol]
        module = importlib.import_module(function.__module__)
        path = function.__module__.removeprefix("steptime.").replace(".", "/") + ".py"
        name = function.__name__
        name = f"{Path(path).stem}_{name}" if name in self.functions else name
        self._names[symbol] = name
        text = function_text(self._tree(module)[function.__name__], path)
        if name != function.__name__:
            text["name"] = function.__name__
        self.functions[name] = text
        called: dict[str, str] = {}
        listed: dict[str, list[str]] = {}
        for used in _identifiers(self._tree(module)[function.__name__]):
            value = getattr(module, used, None)
            if isinstance(value, FunctionType) and value.__module__ != _NUMBER:
                called[used] = self.read(value)
            elif isinstance(value, tuple) and value and isinstance(value[0], FunctionType):
                listed[used] = [self.read(one) for one in value]
            elif used not in self._tables and isinstance(value, (int, float, tuple, dict)):
                self.constants[used] = list(value) if isinstance(value, tuple) else value
        text["body"] = _chain(_renamed(text["body"], called), listed)
        return name


def _identifiers(node: ast.AST) -> list[str]:
    return sorted({one.id for one in ast.walk(node) if isinstance(one, ast.Name)})


def formula_texts(roots: Sequence[str], tables: Sequence[str] = ()) -> dict[str, Any]:
    """Return formulas and all that they reach as data, and the constants they name.

    Two formulas of one name in different files are told apart by their file's name.

    Args:
        roots: ``module:function`` for each formula that the page opens.
        tables: ``module:NAME`` of long constants that the page has already.

    Returns:
        ``functions`` by name, ``constants`` by name, and the names of the ``tables``.

    Raises:
        TypeError: If a formula uses what formulas do not.
    """
    names = [table.partition(":")[2] for table in tables]
    reader = _Reader(names)
    for root in roots:
        module, _, name = root.partition(":")
        reader.read(getattr(importlib.import_module(module), name))
    return {"functions": reader.functions, "constants": reader.constants, "tables": names}
