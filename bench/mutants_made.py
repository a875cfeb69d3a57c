"""Programs that differ from ours in one token, as a slip of the hand would leave them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

OPERATORS = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
NAMES |= {"any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One changed token.

    Attributes:
        start: Offset of the token in the file.
        old: What stands there.
        new: What stands there instead.
        line: Counted from 1.
        column: Of the token in the stripped line.
        text: The line as it was, stripped.
        function: First line of the innermost function around it; 0 outside any.
    """

    start: int
    old: str
    new: str
    line: int
    column: int
    text: str
    function: int


class _Walk(ast.NodeVisitor):
    """Finds tokens; ``inside`` is the first line of the function being looked at."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.splitlines(keepends=True)
        self.begins = [0]
        for line in self.lines:
            self.begins.append(self.begins[-1] + len(line))
        self.inside = 0
        self.found: list[Mutant] = []

    def _at(self, line: int, column: int) -> int:
        # Columns count bytes of UTF-8.
        text = self.lines[line - 1].encode()[:column].decode()
        return self.begins[line - 1] + len(text)

    def _note(self, start: int, old: str, new: str) -> None:
        line = self.source.count("\n", 0, start) + 1
        whole = self.lines[line - 1]
        text = whole.strip()
        column = start - self.begins[line - 1] - (len(whole) - len(whole.lstrip()))
        place = {"start": start, "line": line, "column": column, "text": text}
        self.found.append(Mutant(**place, old=old, new=new, function=self.inside))

    def _between(self, left: ast.expr, right: ast.expr, kind: type[ast.AST]) -> None:
        old, new = OPERATORS.get(kind, ("", ""))
        begin = self._at(left.end_lineno or 0, left.end_col_offset or 0)
        end = self._at(right.lineno, right.col_offset)
        if old and (place := self.source.find(old, begin, end)) >= 0:
            self._note(place, old, new)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before = self.inside
        self.inside = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        for part in node.body:
            self.visit(part)
        self.inside = before

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Look at the body alone: a record that is not frozen gives the same answers."""
        for part in node.body:
            self.visit(part)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """What a message says is no arithmetic."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """The same."""

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._between(node.left, node.right, type(node.op))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, op, right in zip(
            [node.left, *node.comparators], node.ops, node.comparators, strict=False
        ):
            self._between(left, right, type(op))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(left, right, type(node.op))
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in NAMES:
            self._note(self._at(node.lineno, node.col_offset), node.id, NAMES[node.id])

    def visit_Constant(self, node: ast.Constant) -> None:
        start = self._at(node.lineno, node.col_offset)
        old = ast.get_source_segment(self.source, node) or ""
        if isinstance(node.value, bool):
            self._note(start, old, str(not node.value))
        elif isinstance(node.value, (int, float)):
            self._note(start, old, repr(node.value + 1))


def mutants(source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module.

    Args:
        source: Its text.
    """
    walk = _Walk(source)
    walk.visit(ast.parse(source))
    yield from walk.found


def applied(source: str, mutant: Mutant) -> str:
    """Return the text of a mutant.

    Args:
        source: The module's.
        mutant: Of it.
    """
    end = mutant.start + len(mutant.old)
    return source[: mutant.start] + mutant.new + source[end:]
