"""Operators, conditions and loops, rewritten so that JavaScript does as Python does."""

from __future__ import annotations

import ast

from steptime.book.subset_names import is_literal, list_names, number_names, text
from steptime.book.subset_scalars import one_by_one

REFUSED = {
    ast.ClassDef: "a class",
    ast.Try: "try",
    ast.With: "with",
    ast.Yield: "yield",
    ast.YieldFrom: "yield from",
    ast.GeneratorExp: "a generator that is kept",
    ast.Global: "global",
    ast.Nonlocal: "nonlocal",
    ast.Import: "an import inside a function",
    ast.ImportFrom: "an import inside a function",
    ast.NamedExpr: "the walrus operator",
    ast.Starred: "a starred expression",
    ast.Set: "a set",
    ast.SetComp: "a set",
    ast.Match: "match",
    ast.Delete: "del",
    ast.Await: "await",
    ast.AsyncFunctionDef: "async def",
}


class SubsetError(ValueError):
    """Python that would not mean the same in JavaScript; the message has file and line."""


class Syntax(ast.NodeTransformer):
    """Rewrites of one function that need no knowledge of other functions.

    Args:
        where: File name for messages.
    """

    def __init__(self, where: str) -> None:
        self.where = where
        self.lists: set[str] = set()
        self.numbers: set[str] = set()
        self.hoisted = 0

    def refuse(self, node: ast.AST, what: str, instead: str = "") -> SubsetError:
        """Return the error for ``node``; the caller raises it."""
        hint = f"; {instead}" if instead else ""
        line = getattr(node, "lineno", "?")
        return SubsetError(f"{self.where}:{line}: {what} cannot become exact JavaScript{hint}")

    def visit(self, node: ast.AST) -> ast.AST:
        """Refuse what has no translation, rewrite the rest."""
        for kind, what in REFUSED.items():
            if isinstance(node, kind):
                raise self.refuse(node, what)
        result: ast.AST = super().visit(node)
        return result

    def expression(self, node: ast.expr) -> ast.expr:
        """Return the rewritten expression."""
        result = self.visit(node)
        assert isinstance(result, ast.expr)
        return result

    def helper(self, name: str, arguments: list[ast.expr]) -> ast.Call:
        """Return a call of one of the hand-written JavaScript helpers."""
        visited = [self.expression(argument) for argument in arguments]
        return ast.Call(ast.Name(name, ast.Load()), visited, [])

    def learn_types(self, node: ast.FunctionDef) -> None:
        """Note which names of a function are certainly lists, and which numbers."""
        self.lists |= list_names(node)
        self.numbers |= number_names(node)

    def is_list(self, node: ast.expr) -> bool:
        """Whether an expression is certainly a list."""
        if isinstance(node, ast.Name):
            return node.id in self.lists
        if isinstance(node, ast.BinOp):
            return self.is_list(node.left) or self.is_list(node.right)
        return isinstance(node, (ast.List, ast.ListComp, ast.Tuple))

    # ---- operators

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Round down as Python does, and join or repeat lists as lists."""
        left, op, right = node.left, node.op, node.right
        if isinstance(op, ast.FloorDiv):
            return self.floor_division(left, right)
        if isinstance(op, ast.Mod):
            if isinstance(left, ast.Constant) and isinstance(left.value, str):
                raise self.refuse(node, "% formatting", "use an f-string")
            return self.helper("_mod", [left, right])
        if isinstance(op, ast.Pow):
            raise self.refuse(node, "**", "multiply, or keep a table")
        if isinstance(op, ast.MatMult):
            raise self.refuse(node, "@")
        if isinstance(op, ast.Mult) and (self.is_list(left) or self.is_list(right)):
            pair = [left, right] if self.is_list(left) else [right, left]
            return self.helper("_repeat", pair)
        if isinstance(op, ast.Add) and (self.is_list(left) or self.is_list(right)):
            return self.helper("_concat", [left, right])
        self.generic_visit(node)
        return node

    def floor_division(self, left: ast.expr, right: ast.expr) -> ast.expr:
        """Return ``left // right``; plain where dividing by ``right`` cannot round."""
        if isinstance(right, ast.Constant) and right.value in (1, 2, 4, 8):
            halved = left if right.value == 1 else ast.BinOp(left, ast.Div(), right)
            return self.helper("_floor", [halved])
        return self.helper("_floordiv", [left, right])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """Write ``a //= b`` and its like in full."""
        load = ast.parse(ast.unparse(node.target), mode="eval").body
        if isinstance(node.op, ast.Add) and self.is_list(node.target):
            raise self.refuse(node, "+= on a list", "use extend")
        if isinstance(node.op, (ast.FloorDiv, ast.Mod, ast.Pow)):
            value = ast.copy_location(ast.BinOp(load, node.op, node.value), node)
            return self.visit(ast.copy_location(ast.Assign([node.target], value), node))
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Drop the type."""
        if "dict[int" in text(node.annotation) or "dict[tuple" in text(node.annotation):
            raise self.refuse(node, "a dict whose keys are not strings", "use a list")
        if node.value is None:
            return ast.Pass()
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Split a chain of comparisons."""
        if any(isinstance(op, (ast.Eq, ast.NotEq)) for op in node.ops) and any(
            self.is_list(side) for side in (node.left, *node.comparators)
        ):
            raise self.refuse(node, "== of lists", "compare element by element")
        if len(node.ops) == 1:
            if isinstance(node.ops[0], (ast.In, ast.NotIn)):
                found = self.helper("_in", [node.left, node.comparators[0]])
                return found if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), found)
            self.generic_visit(node)
            return node
        sides = [node.left, *node.comparators]
        if any(isinstance(middle, ast.Call) for middle in sides[1:-1]):
            raise self.refuse(node, "a chain of comparisons around a call", "split it")
        links: list[ast.expr] = []
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            link = ast.Compare(left, [op], [right])
            links.append(ast.parse(ast.unparse(link), mode="eval").body)
        return self.visit(ast.copy_location(ast.BoolOp(ast.And(), links), node))

    # ---- conditions

    def condition(self, node: ast.expr) -> ast.expr:
        """Return a condition that is false for an empty list too."""
        if isinstance(node, ast.BoolOp):
            node.values = [self.condition(value) for value in node.values]
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self.condition(node.operand)
            return node
        is_number = isinstance(node, ast.Name) and node.id in self.numbers
        if is_number or isinstance(node, (ast.Compare, ast.Constant, ast.BinOp)):
            return self.expression(node)
        return self.helper("_truthy", [node])

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Allow ``and`` and ``or`` of comparisons only, which give a bool in both."""
        for value in node.values[:-1]:
            inner = value.operand if isinstance(value, ast.UnaryOp) else value
            if not isinstance(inner, (ast.Compare, ast.BoolOp, ast.Constant)):
                raise self.refuse(node, "and/or that returns one of its sides", "use if")
        node.values = [self.expression(value) for value in node.values]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Make ``not`` true for an empty list."""
        if isinstance(node.op, ast.Not):
            return self.condition(node)
        self.generic_visit(node)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        """Rewrite the condition and both bodies."""
        node.test = self.condition(node.test)
        node.body = self.block(node.body)
        node.orelse = self.block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        """Rewrite the condition and the body."""
        if node.orelse:
            raise self.refuse(node, "while ... else")
        node.test = self.condition(node.test)
        node.body = self.block(node.body)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Rewrite the condition and both values."""
        return ast.IfExp(
            self.condition(node.test), self.expression(node.body), self.expression(node.orelse)
        )

    # ---- loops

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return the rewritten statements of a body."""
        statements: list[ast.stmt] = []
        for statement in (part for one in body for part in one_by_one(one)):
            if isinstance(statement, ast.For):
                statements += self.loop(statement)
            else:
                result = self.visit(statement)
                assert isinstance(result, ast.stmt)
                statements.append(result)
        return statements

    def loop(self, node: ast.For) -> list[ast.stmt]:
        """Return a for loop, its range bounds computed once before it as Python does."""
        if node.orelse:
            raise self.refuse(node, "for ... else")
        target = node.target
        if isinstance(target, ast.Tuple) and not all(
            isinstance(element, ast.Name) for element in target.elts
        ):
            raise self.refuse(node, "a nested loop target")
        before: list[ast.stmt] = []
        call = node.iter
        if isinstance(call, ast.Call) and text(call.func) == "range":
            if len(call.args) == 3 and not is_literal(call.args[2]):
                # The translation compares by the sign of the step, which must be known.
                node.iter = self.helper("_range", call.args)
                call.args = []
            for place, bound in enumerate(call.args[:2]):
                if not is_literal(bound):
                    self.hoisted += 1
                    name = f"bound{self.hoisted}_"
                    before.append(ast.Assign([ast.Name(name, ast.Store())], self.expression(bound)))
                    call.args[place] = ast.Name(name, ast.Load())
        else:
            node.iter = self.expression(call)
        node.target = self.expression(target)
        node.body = self.block(node.body)
        return [*before, node]

    # ---- text and parts

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Write an f-string as its parts, joined."""
        parts: list[ast.expr] = []
        for part in node.values:
            if not isinstance(part, ast.FormattedValue):
                parts.append(part)
            elif part.format_spec is not None:
                raise self.refuse(node, "a format in an f-string")
            elif part.conversion == ord("r"):
                parts.append(self.helper("_repr", [part.value]))
            else:
                parts.append(self.expression(part.value))
        return ast.Call(ast.Name("_text", ast.Load()), [ast.List(parts, ast.Load())], [])

    def visit_Slice(self, node: ast.Slice) -> ast.AST:
        """Refuse a step."""
        if node.step is not None:
            raise self.refuse(node, "a slice with a step")
        self.generic_visit(node)
        return node
