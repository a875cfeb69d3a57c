"""Write the pages with every formula that no chapter prints, so that none is missing.

A page a room of ``formulas/``. What a loop or a table computes has no equation; there the code
itself stands, without its docstring.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from types import FunctionType, ModuleType

from steptime.book.equations.closed import CLOSED
from steptime.book.equations.expressions import EquationError
from steptime.book.equations.statements import formula_of
from steptime.book.site.formula import ROOM, chapters, label_of, place_of, printed_name
from steptime.book.site.python_pages import as_markdown

TITLES = {
    "": "Every formula: shared by all models",
    "memory": "Every formula: memory",
    "messages": "Every formula: messages that programs send",
    "roofline": "Every formula: the roofline model",
    "schedules": "Every formula: pipeline schedules",
}
"""The pages, by the folder they are about."""


def modules(folder: str) -> list[ModuleType]:
    """Return the modules of a folder of ``formulas/``, without its subfolders.

    Args:
        folder: Its name, empty for the files that lie in no subfolder.
    """
    package = importlib.import_module((ROOM + folder).rstrip("."))
    found = pkgutil.iter_modules(package.__path__, package.__name__ + ".")
    names = [one.name for one in found if not one.ispkg]
    return [importlib.import_module(name) for name in names]


def functions(module: ModuleType) -> list[FunctionType]:
    """Return the functions that a module defines, in its order."""
    own = [one for one in vars(module).values() if isinstance(one, FunctionType)]
    return [one for one in own if one.__module__ == module.__name__]


def all_functions() -> list[FunctionType]:
    """Return every function of ``formulas/``."""
    return [one for folder in TITLES for module in modules(folder) for one in functions(module)]


def has_equation(function: FunctionType) -> bool:
    """Return whether a formula can be printed as equations; an order of actions cannot."""
    if "int" in str(inspect.signature(function).return_annotation).split("[")[-1]:
        return False
    try:
        formula_of(CLOSED.get(function, function))
    except EquationError:
        return False
    return True


def _code(function: FunctionType) -> str:
    """Return a function's lines without its docstring."""
    tree = ast.parse(inspect.getsource(function)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.body = [one for one in tree.body if not _is_docstring(one)]
    return ast.unparse(tree)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def block(function: FunctionType, where: dict[str, str]) -> str:
    """Return one formula: its equations, its code, or the chapter that has it.

    Args:
        function: The formula.
        where: From `chapters`.
    """
    place = place_of(function)
    if place in where:
        return f"{{ref}}`{printed_name(function)} <{label_of(function)}>`: on a page of its own."
    if has_equation(function):
        return f"```{{formula}} {place}\n```"
    about = as_markdown(printed_name(function))
    return f"({label_of(function)})=\n\n**{about}.**\n\n```python\n{_code(function)}\n```"


def page(folder: str) -> str:
    """Return the page about a folder.

    Args:
        folder: A key of `TITLES`.
    """
    where = chapters()
    blocks = [f"# {TITLES[folder]}"]
    for module in modules(folder):
        found = functions(module)
        if found:
            name = module.__name__.removeprefix(ROOM)
            about = (module.__doc__ or "").strip().split("\n")[0]
            blocks += [f"## {name}", as_markdown(about)]
            blocks += [block(one, where) for one in found]
    return "\n\n".join(blocks) + "\n"


def pages() -> dict[str, str]:
    """Return every page by its file's name."""
    names = {folder: f"formulas-{folder or 'shared'}.md" for folder in TITLES}
    links = "\n".join(f"- {{doc}}`{name.removesuffix('.md')}`" for name in names.values())
    first = (
        "# Every formula\n\nChapters print the formulas that carry them. These pages have all"
        " others, made from the same lines of code: with both, the model can be built anew.\n\n"
        f"{links}\n"
    )
    return {"formulas.md": first, **{name: page(folder) for folder, name in names.items()}}
