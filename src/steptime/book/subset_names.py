"""What the names of a function are: bound where, and certainly lists or numbers."""

from __future__ import annotations

import ast

RESERVED = frozenset(
    "arguments await case catch const debugger default delete do enum eval export extends "
    "function implements instanceof interface let new null package private protected public "
    "static super switch this throw typeof undefined var void".split()
)


def safe(name: str) -> str:
    """Return a name that JavaScript does not keep for itself."""
    return f"{name}_" if name in RESERVED else name


def text(node: ast.AST | None) -> str:
    """Return a node as Python source; empty for none."""
    return "" if node is None else ast.unparse(node)


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is a number written out, with or without a sign."""
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


def parameters(node: ast.FunctionDef) -> list[ast.arg]:
    """Return all parameters of a function, in the order of the JavaScript ones."""
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def bound_names(node: ast.FunctionDef) -> set[str]:
    """Return every name that a function or a function inside it binds."""
    names: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef):
            names |= {parameter.arg for parameter in parameters(inner)}
            if inner is not node:
                names.add(inner.name)
        elif isinstance(inner, ast.Lambda):
            names |= {parameter.arg for parameter in inner.args.args}
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            names.add(inner.id)
    return names


def _annotated(node: ast.FunctionDef) -> list[tuple[str, str]]:
    pairs = [(parameter.arg, text(parameter.annotation)) for parameter in parameters(node)]
    for inner in ast.walk(node):
        if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
            pairs.append((inner.target.id, text(inner.annotation)))
    return pairs


def list_names(node: ast.FunctionDef) -> set[str]:
    """Return the names that are annotated as a list or tuple, or assigned one."""
    names = {
        name
        for name, kind in _annotated(node)
        if kind.split("[")[0].split(".")[-1] in ("list", "tuple", "Sequence")
    }
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Name):
            value = inner.value
            if isinstance(value, ast.BinOp):
                value = value.left if isinstance(value.left, ast.List) else value.right
            made = isinstance(value, ast.Call) and text(value.func) in ("list", "sorted", "tuple")
            if made or isinstance(value, (ast.List, ast.ListComp, ast.Tuple)):
                names.add(inner.targets[0].id)
    return names


def number_names(node: ast.FunctionDef) -> set[str]:
    """Return the names annotated as a number or a bool."""
    return {name for name, kind in _annotated(node) if kind in ("int", "float", "bool")}


def is_store(node: ast.AST, name: str) -> bool:
    """Whether a node binds a name."""
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)


def misused_loop_name(node: ast.FunctionDef) -> ast.AST | None:
    """Return a use of a range loop's name that JavaScript would answer otherwise.

    After its loop the name is one step further there, and a value given to it
    inside the body would move the loop on.
    """
    loops = [
        inner
        for inner in ast.walk(node)
        if isinstance(inner, ast.For)
        and isinstance(inner.target, ast.Name)
        and isinstance(inner.iter, ast.Call)
        and text(inner.iter.func) == "range"
    ]
    covered: dict[str, set[int]] = {}
    for loop in loops:
        assert isinstance(loop.target, ast.Name)
        name = loop.target.id
        for inner in (leaf for statement in loop.body for leaf in ast.walk(statement)):
            covered.setdefault(name, set()).add(id(inner))
            if is_store(inner, name):
                return inner
        covered.setdefault(name, set()).add(id(loop.target))
    if _other_stores(node, covered):
        return None
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and id(inner) not in covered.get(inner.id, {id(inner)}):
            return inner
    return None


def _other_stores(node: ast.FunctionDef, covered: dict[str, set[int]]) -> list[ast.Name]:
    """Return bindings of loop names outside their range loops: those names are reused."""
    return [
        inner
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name)
        and isinstance(inner.ctx, ast.Store)
        and inner.id in covered
        and id(inner) not in covered[inner.id]
    ]
