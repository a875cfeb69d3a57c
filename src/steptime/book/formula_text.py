"""The formulas as data, so that the page shows the very lines that computed a number.

Every function of ``formulas/`` becomes its parameters, what its docstring says, and its
statements as nested lists. The page walks those with the reader's numbers put in.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Any

from steptime import formulas

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
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return [_OPERATORS[type(op)], expression(left), expression(right)]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return ["call", name, *(expression(one) for one in args)]
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
        "says": head,
        "from": references,
        "file": f"{module}:{node.lineno}",
        "body": body,
    }


def _modules() -> list[tuple[str, ModuleType]]:
    """Return each module of formulas with the path a reader may look up."""
    found = []
    entries = pkgutil.walk_packages(formulas.__path__, "steptime.formulas.")
    for name in sorted(entry.name for entry in entries if not entry.ispkg):
        if name != "steptime.formulas.number":
            path = name.removeprefix("steptime.").replace(".", "/") + ".py"
            found.append((path, importlib.import_module(name)))
    return found


def _renamed(tree: Any, names: dict[str, str]) -> Any:
    """Return nested lists with each called function under the name it has in the data."""
    if not isinstance(tree, list):
        return tree
    if tree[:1] == ["call"]:
        return ["call", names.get(tree[1], tree[1]), *(_renamed(one, names) for one in tree[2:])]
    return [_renamed(one, names) for one in tree]


def formula_texts() -> dict[str, Any]:
    """Return every formula as data, and the constants they name.

    Two formulas of one name in different files are told apart by their file's name.

    Returns:
        ``functions`` by name and ``constants`` by name.

    Raises:
        TypeError: If a formula uses what formulas do not.
    """
    functions: dict[str, Any] = {}
    constants: dict[str, Any] = {}
    unique: dict[tuple[str, str], str] = {}
    modules = _modules()
    for path, module in modules:
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, ast.FunctionDef):
                name = node.name
                taken = name in functions
                name = f"{Path(path).stem}_{name}" if taken else name
                unique[module.__name__, node.name] = name
                functions[name] = function_text(node, path)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                value = getattr(module, node.targets[0].id)
                constants[node.targets[0].id] = list(value) if isinstance(value, tuple) else value
    for _, module in modules:
        names = {
            name: unique[value.__module__, value.__name__]
            for name, value in vars(module).items()
            if inspect.isfunction(value) and (value.__module__, value.__name__) in unique
        }
        for (owner, _), key in unique.items():
            if owner == module.__name__:
                functions[key]["body"] = _renamed(functions[key]["body"], names)
    return {"functions": functions, "constants": constants}
