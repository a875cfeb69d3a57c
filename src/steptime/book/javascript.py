"""JavaScript made from the package's own Python, so that a page holds no second model.

A bundle is one ES module: the functions named by its roots and all that they reach
in ``formulas/`` and ``pipeline/``. Each is rewritten by `steptime.book.subset`,
translated by PScript with no operator overloaded, and exported under its Python
name. The same sources give the same bytes.

Run ``python -m steptime.book.javascript OUT_DIR`` to write every bundle.
"""

from __future__ import annotations

import argparse
import copy
import pkgutil
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from steptime.book.javascript_text import HELPERS, helpers_used, literal
from steptime.book.sources import ERRORS, Source, Symbol, check_room, read_source
from steptime.book.subset import Rewriter, SubsetError
from steptime.book.subset_names import parameters

BUNDLES: dict[str, tuple[str, ...]] = {
    "formulas": ("steptime.formulas",),
    "pipeline": (
        "steptime.pipeline.build:build_orders",
        "steptime.pipeline.build:fixed_chunks",
        "steptime.pipeline.build:refusal",
        "steptime.pipeline.build:tried_orders",
        "steptime.pipeline.codes:kind_of",
        "steptime.pipeline.codes:stage_of",
        "steptime.pipeline.durations:crossing_rows",
        "steptime.pipeline.durations:stage_times",
        "steptime.pipeline.execute:execute",
        "steptime.pipeline.measure:bubble",
        "steptime.pipeline.measure:idle_by_cause",
        "steptime.pipeline.held:held_over_time",
        "steptime.pipeline.held:peak_in_flight",
        "steptime.pipeline.held:sends",
        "steptime.pipeline.idle_causes:critical_path",
        "steptime.pipeline.idle_causes:positions",
        "steptime.pipeline.idle_causes:producer",
    ),
}
"""File name of each bundle, and its roots: packages, modules, or ``module:function``."""

# PScript asks at each loop whether it is over a list or a dict.
ASKS = re.compile(
    r"if \(\(typeof (\w+) === \"object\"\) && \(!Array\.isArray\(\1\)\)\) "
    r"\{ \1 = Object\.keys\(\1\);\}"
)

WHERE: Symbol = ("steptime.formulas.number", "where")


class Bundle:
    """The symbols that some roots reach, and their translation.

    Args:
        roots: Packages, modules (all public functions and constants), or ``module:name``.
    """

    def __init__(self, roots: Sequence[str]) -> None:
        self.sources: dict[str, Source] = {}
        self.order: list[Symbol] = []
        self.code: dict[Symbol, str] = {}
        self.std_functions: set[str] = set()
        self.std_methods: set[str] = set()
        self.names: dict[Symbol, str] = {}
        self.roots = [symbol for root in roots for symbol in self._expand(root)]
        for symbol in self.roots:
            self._name(symbol)
        for symbol in self.roots:
            self._reach(symbol)

    def _source(self, module: str) -> Source:
        if module not in self.sources:
            self.sources[module] = read_source(module)
        return self.sources[module]

    def _expand(self, root: str) -> list[Symbol]:
        """Return the public symbols that one root stands for."""
        if ":" in root:
            module, name = root.split(":")
            if self._source(module).symbol(name) is None:
                raise SubsetError(f"{module} has no {name}")
            return [(module, name)]
        check_room(root)
        package = import_module(root)
        if hasattr(package, "__path__"):
            inner = sorted(entry.name for entry in pkgutil.iter_modules(package.__path__))
            return [symbol for name in inner for symbol in self._expand(f"{root}.{name}")]
        source = self._source(root)
        names = [name for name in source.functions if not name.startswith("_")]
        return [(root, name) for name in names if (root, name) != WHERE]

    def _name(self, symbol: Symbol) -> str:
        """Return the JavaScript name of a symbol, made longer where two modules share one."""
        if symbol not in self.names:
            module, name = symbol
            taken = set(self.names.values())
            name = name if name not in taken else f"{module.rsplit('.', 1)[-1]}_{name}"
            if name in taken:
                raise SubsetError(f"{module}: the name {symbol[1]} is taken twice in a bundle")
            self.names[symbol] = name
        return self.names[symbol]

    def _reach(self, symbol: Symbol) -> None:
        """Translate a symbol and, before it, every constant it needs."""
        if symbol in self.code or symbol == WHERE:
            return
        module, name = symbol
        source = self._source(module)
        target = source.symbol(name)
        if target is None:
            raise SubsetError(f"{source.path.name}: there is no {name}")
        if target != symbol:
            self.names[target] = self.names[symbol]
            self._reach(target)
            return
        self.code[symbol] = ""
        if name in source.functions:
            self.code[symbol] = self._function(source, name)
        else:
            self.code[symbol] = self._constant(source, name)
        self.order.append(symbol)

    def _constant(self, source: Source, name: str) -> str:
        value = source.value(name)
        try:
            if isinstance(value, tuple) and value and all(map(callable, value)):
                text = f"[{','.join(map(self._listed, value))}]"
            else:
                text = literal(value)
            return f"const {self._name((source.name, name))}={text};"
        except TypeError as error:
            raise SubsetError(f"{source.path.name}: the constant {name}: {error}") from error

    def _listed(self, function: Callable[..., Any]) -> str:
        """Return the name of a function that a constant lists; it is translated too."""
        symbol = (function.__module__, function.__name__)
        name = self._name(symbol)
        self._reach(symbol)
        return name

    def _function(self, source: Source, name: str) -> str:
        """Return the JavaScript of one function; what it uses is translated too."""
        needed: list[Symbol] = []

        def resolve(used: str) -> str | None:
            symbol = source.symbol(used)
            if symbol is None or symbol[0] == ERRORS:
                return None if symbol is None else used
            needed.append(symbol)
            return self._name(symbol)

        def signature(used: str) -> list[str] | None:
            symbol = source.symbol(used)
            if symbol is None:
                return None
            function = self._source(symbol[0]).functions.get(symbol[1])
            return [p.arg for p in parameters(function)] if function else None

        rewriter = Rewriter(
            source.path.name, resolve, signature, lambda used: source.symbol(used) == WHERE
        )
        python = rewriter.rewrite(copy.deepcopy(source.functions[name]))
        for symbol in needed:
            self._reach(symbol)
        return self._translated(source, name, python)

    def _translated(self, source: Source, name: str, python: str) -> str:
        """Return what PScript makes of rewritten Python."""
        parser = _parser(python, f"{source.path.name}: {name}")
        self.std_functions |= parser._std_functions
        self.std_methods |= parser._std_methods
        body = re.sub(r"^var [^;]*;\s*", "", parser.dump().strip())
        js_name = self._name((source.name, name))
        body = re.sub(rf"^{js_name} = function flx_{js_name} ", f"function {js_name}", body)
        return ASKS.sub(r"\1 = _items(\1);", body.rstrip(";"))

    def text(self) -> str:
        """Return the ES module."""
        from pscript.stdlib import get_partial_std_lib

        library = get_partial_std_lib(self.std_functions, self.std_methods)
        # PScript's own library leaves semicolons out, so its lines stay lines.
        library = "\n".join(line.strip() for line in library.splitlines() if line.strip())
        body = "\n".join(self.code[symbol] for symbol in self.order)
        helpers = [f"const {name} = {HELPERS[name]};" for name in helpers_used(body)]
        exported = ", ".join(sorted({self.names[symbol] for symbol in self.roots}))
        rooms = ", ".join(sorted({".".join(module.split(".")[:2]) for module, _ in self.order}))
        head = f"// Made from {rooms}; change that, not this."
        parts = [head, "\n".join(helpers), library, body, f"export {{ {exported} }};"]
        return "\n".join(part for part in parts if part) + "\n"


def _parser(python: str, what: str) -> Any:
    """Return PScript's parser after it has read some Python."""
    from pscript import JSError, Parser

    class PlainParser(Parser):  # type: ignore[misc]
        """PScript with + * == and truth left as they are in JavaScript."""

        _pscript_overload = False

    try:
        return PlainParser(python, inline_stdlib=False, docstrings=False)
    except (JSError, RuntimeError) as error:
        raise SubsetError(f"{what}: PScript cannot translate it: {error}") from error


def bundle(*roots: str) -> str:
    """Return one ES module with everything that the roots reach.

    Args:
        roots: Packages, modules, or ``module:function``.

    Raises:
        SubsetError: With file and line, for Python that has no exact JavaScript.
    """
    return Bundle(roots).text()


def write_bundles(out: Path) -> list[Path]:
    """Write every bundle of `BUNDLES` into a folder and return the files."""
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for name, roots in BUNDLES.items():
        path = out / f"{name}.js"
        path.write_text(bundle(*roots), encoding="utf-8")
        written.append(path)
    return written


def main() -> None:
    """Write the bundles into the folder named on the command line."""
    parser = argparse.ArgumentParser(description="Write JavaScript made from the formulas.")
    parser.add_argument("out", type=Path)
    for path in write_bundles(parser.parse_args().out):
        print(f"{path} {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
