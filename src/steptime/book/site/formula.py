"""The directive ``{formula} PLACE:NAME``: a function of ``formulas/`` as equations, on a page.

What it says, its source and the meaning of each letter come from the function's own docstring
and from `data/symbols.toml`, so a page says of a formula what the code says, and cannot say else.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import itertools
import re
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from steptime.book import equations
from steptime.book.equations.closed import CLOSED
from steptime.book.equations.expressions import EquationError
from steptime.book.equations.statements import LIMIT, WIDE, Equation, Formula, formula_of
from steptime.book.equations.symbols import function_box, input_box, symbols, word_box
from steptime.book.references import references
from steptime.book.results.notebooks import ROOT
from steptime.book.site.docstrings import items, parsed
from steptime.book.site.python_pages import as_markdown, sources_line
from steptime.formulas import records

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOM = "steptime.formulas."
BOOK = ROOT / "book"
SYMBOLS = ROOT / "data" / "symbols.toml"
_DIRECTIVE = re.compile(r"^`{3,}\{formula\} (\S+)$", re.MULTILINE)
NAMED_ABOVE = "the result of that name"
_FACTS = ("TimeFacts", "MemoryFacts", "Constants", "BaselineConstants", "Width", "PeakWidth")


def function_named(place: str) -> FunctionType:
    """Return a formula by its place, such as ``roofline.matmul:product_s``.

    Args:
        place: Module inside ``formulas`` and name.

    Raises:
        LookupError: If there is none.
    """
    module, _, name = place.partition(":")
    try:
        found = getattr(importlib.import_module(ROOM + module), name)
    except (ImportError, AttributeError) as problem:
        raise LookupError(f"no formula at {place}") from problem
    if not isinstance(found, FunctionType):
        raise LookupError(f"no formula at {place}")
    return found


def place_of(function: FunctionType) -> str:
    """Return where a formula stands, as the directive names it."""
    return f"{function.__module__.removeprefix(ROOM)}:{function.__name__}"


def label_of(function: FunctionType) -> str:
    """Return the label under which pages refer to a formula."""
    return "formula-" + re.sub(r"[^a-z0-9]+", "-", place_of(function).lower()).strip("-")


def printed(text: str) -> list[str]:
    """Return the places of the formulas that a page prints.

    Args:
        text: The page.
    """
    return _DIRECTIVE.findall(text)


def chapters() -> dict[str, str]:
    """Return each formula that a chapter prints, with the chapter's name."""
    return {
        place: page.stem
        for page in sorted(BOOK.glob("*.md"))
        for place in printed(page.read_text(encoding="utf-8"))
    }


@functools.cache
def fact_meanings() -> dict[str, str]:
    """Return what each fact and constant means, from the records that hold them."""
    found: dict[str, str] = {}
    for name in _FACTS:
        lines = parsed(getattr(records, name).__doc__ or "").sections.get("Attributes", [])
        for field, meaning in items(lines):
            found.setdefault(field, meaning.rstrip("."))
    return found


def printed_name(function: FunctionType) -> str:
    """Return what a formula gives, as the text of a link: the start of its first sentence."""
    return _about(function).split(": ")[0].rstrip(".").replace("`", "")


def _about(function: FunctionType) -> str:
    """Return what a formula gives, from the first line of its docstring, as a sentence."""
    first = (function.__doc__ or "").strip().split("\n\n")[0]
    text = " ".join(first.split()).removeprefix("Return ")
    return as_markdown(text[:1].upper() + text[1:])


def _reasons(function: FunctionType) -> str:
    """Return what the docstring says between its first line and its sections."""
    _, _, rest = parsed(function.__doc__ or "").text.partition("\n\n")
    return as_markdown(rest)


def _meaning(name: str) -> str:
    known = symbols().get(name)
    if known:
        unit = "" if known.unit in ("count", "switch", "name", "stage") else f" ({known.unit})"
        return known.meaning + unit
    return as_markdown(fact_meanings()[name])


def legend(formula: Formula) -> list[str]:
    """Return what each letter and word of a formula means, a list item each.

    Args:
        formula: The formula.
    """
    said = dict(items(parsed(formula.function.__doc__ or "").sections.get("Args", [])))
    lines = []
    for name, box in formula.arguments.items():
        what = _meaning(name) if name in symbols() else as_markdown(said.get(name, NAMED_ABOVE))
        lines.append(f"- ${box.latex}$: {what.rstrip('.')}")
    lines += [f"- ${input_box(name).latex}$: {_meaning(name)}" for name in formula.inputs]
    for name, value in sorted(formula.constants.items()):
        lines.append(f"- {value:,g}: {_constant(formula.function, name) or f'`{name}`'}")
    for name, function in formula.calls.items():
        symbol = f"${function_box(name).latex}$"
        lines.append(f"- {symbol}: {{ref}}`{printed_name(function)} <{label_of(function)}>`")
    return lines


def _constant(function: FunctionType, name: str) -> str:
    """Return what a constant means, from the string below it, wherever it is defined."""
    module = importlib.import_module(function.__module__)
    body = ast.parse(inspect.getsource(module)).body
    for node in body:
        if isinstance(node, ast.ImportFrom) and any(one.name == name for one in node.names):
            return _said(importlib.import_module(node.module or ""), name)
    return _said(module, name)


def _said(module: ModuleType, name: str) -> str:
    """Return the string below a constant of a module; empty if there is none."""
    body = ast.parse(inspect.getsource(module)).body
    for node, after in itertools.pairwise(body):
        match node, after:
            case (
                ast.Assign(targets=[ast.Name(id=found)]),
                ast.Expr(value=ast.Constant(value=str() as text)),
            ) if found == name:
                return as_markdown(" ".join(text.split()).rstrip("."))
    return ""


def _shown(equation: Equation) -> str:
    """Return an equation, and where a phone wants more rows than a desk both of them."""
    narrow, wide = (f"$$\n{equation.latex(limit)}\n$$" for limit in (LIMIT, WIDE))
    if narrow == wide:
        return wide
    return "\n\n".join(
        f"::::{{container}} {kind}\n{text}\n::::"
        for kind, text in (("st-eq-wide", wide), ("st-eq-narrow", narrow))
    )


def markdown(function: FunctionType, title: str = "") -> str:
    """Return a formula as a page's Markdown.

    Args:
        function: The formula.
        title: What it gives, in the page's words; else in those of its docstring.

    Raises:
        EquationError: If it has no equation.
    """
    formula = formula_of(CLOSED.get(function, function))
    doc = parsed(function.__doc__ or "")
    keys = frozenset(references())
    said = (title or _about(function)).rstrip(".")
    blocks = [f"({label_of(function)})=", f"**{said}.**"]
    blocks += [_shown(one) for one in formula.equations]
    lines = doc.sections.get("References", [])
    if lines:
        blocks.append(sources_line(lines, keys))
    place = f"`{place_of(function).replace(':', '.')}`"
    inside = [_reasons(function), "\n".join(legend(formula)), f"In code: {place}."]
    body = "\n\n".join(one for one in inside if one)
    blocks.append(f":::{{dropdown}} What the letters mean\n{body}\n:::")
    return "\n\n".join(blocks)


def _writers() -> list[Path]:
    """Return the files that turn a formula into equations: a page is as new as they are."""
    return [*sorted(Path(equations.__file__ or "").parent.glob("*.py")), Path(__file__)]


class FormulaDirective(SphinxDirective):
    """Print a formula."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return its equations; one that is not there, or has none, is an error."""
        place = self.arguments[0]
        try:
            function = function_named(place)
            text = markdown(function, " ".join(self.content))
        except (LookupError, EquationError) as problem:
            raise self.error(f"formula: {problem}") from problem
        for file in (importlib.import_module(function.__module__).__file__, *_writers()):
            self.env.note_dependency(str(file))
        self.env.note_dependency(str(SYMBOLS))
        holder = nodes.container(classes=["st-formula"])
        self.state.nested_parse(StringList(text.splitlines(), place), 0, holder)
        return [holder]


class SymbolsDirective(SphinxDirective):
    """Print the table of symbols."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        for file in (SYMBOLS, *_writers()):
            self.env.note_dependency(str(file))
        holder = nodes.container()
        self.state.nested_parse(StringList(symbol_table().splitlines(), "symbols"), 0, holder)
        return holder.children


def symbol_table() -> str:
    """Return the table of symbols as Markdown."""
    rows = [
        f"| ${word_box(one.name).latex}$ | `{one.name}` | {_meaning(one.name)} |"
        for one in symbols().values()
        if one.latex
    ]
    head = ["| symbol | in code | meaning |", "| --- | --- | --- |"]
    title = ":::{table} Symbols, and their names in code.\n"
    return "\n".join([title, *head, *rows, ":::"])


def setup(app: Sphinx) -> None:
    """Register the directives.

    Args:
        app: The running build.
    """
    app.add_directive("formula", FormulaDirective)
    app.add_directive("symbols", SymbolsDirective)
