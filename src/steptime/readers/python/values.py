"""Values of a Python recipe, found without running it: literals, names, and calls with arguments.

A recipe builds records by calls with keywords and sets their fields. What is none of that, or what
a branch decides that is not known, is no value here, and whoever needs it is asked.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.formats import kept_calls
from steptime.readers.python.calls import (
    CONFIGURED,
    MOST_ITEMS,
    NUMBERS,
    TEXTS,
    changed,
    counted,
    defaults,
    made,
    starts,
)
from steptime.readers.python.expressions import EXPRESSIONS
from steptime.readers.python.module import Library, Module
from steptime.readers.python.records import (
    MOST_STEPS,
    OPEN,
    Budget,
    Record,
    Unknown,
    shown,
    summed,
    truth,
)
from steptime.readers.python.rows import from_program
from steptime.readers.python.setters import set_by

MOST_DEPTH = 12
_PASSES = ("cast", *CONFIGURED)
_COPIES = ("deepcopy", "replace")


@dataclass(frozen=True, slots=True)
class _Returned:
    """What a function returns, so that None is told from nothing."""

    value: Any


@dataclass(slots=True)
class Scope:
    """Names of a module and of one function of it.

    Attributes:
        library: The modules that names may come from.
        module: The one that this is a part of.
        names: Values by name.
        depth: Of functions that call each other.
        budget: What may still be asked for.
    """

    library: Library
    module: Module
    names: dict[str, Any] = field(default_factory=dict)
    depth: int = 0
    budget: Budget = field(default_factory=Budget)

    def returned(self, name: str, bound: dict[str, Any] | None = None) -> Any:
        """Return what a function of the module returns.

        Args:
            name: Of the function.
            bound: Its arguments by name; defaults are its own.
        """
        one = self.module.functions[name]
        self.budget.calls -= 1
        if self.depth >= MOST_DEPTH or self.budget.calls < 0:
            return Unknown(name)
        outer = Scope(self.library, self.module, {}, self.depth, self.budget)
        names = defaults(one, outer) | (bound or {})
        inner = Scope(self.library, self.module, names, self.depth + 1, self.budget)
        found = inner.run(one.body)
        return Unknown(f"{name}()") if found is None else found.value

    def run(self, body: list[ast.stmt], *, known: bool = True) -> _Returned | None:
        """Take statements one by one; return what is returned, None if nothing is.

        Args:
            body: The statements.
            known: False inside a branch, whose values may not be the ones taken.
        """
        for one in body:
            if isinstance(one, ast.Return):
                return _Returned(self.value(one.value)) if one.value and known else None
            found = self._block(one, known=known)
            if found is not None:
                return found
        return None

    def _block(self, one: ast.stmt, *, known: bool) -> _Returned | None:
        """Take one statement, and what is inside it."""
        if isinstance(one, ast.With):
            return self.run(one.body, known=known)
        if isinstance(one, ast.If) and known:
            test = truth(self.value(one.test))
            if test is not None:
                return self.run(one.body if test else one.orelse)
        if isinstance(one, (ast.If, ast.For, ast.While, ast.Try)):
            for name in ("body", "orelse", "finalbody"):
                self.run(getattr(one, name, []), known=False)
            for handler in getattr(one, "handlers", []):
                self.run(handler.body, known=False)
            return None
        self._statement(one, known=known)
        return None

    def _statement(self, one: ast.stmt, *, known: bool) -> None:
        if isinstance(one, ast.Assign):
            for target in one.targets:
                self._set(target, self._either(one.value, known=known), one.lineno)
        elif isinstance(one, ast.AugAssign):
            found = summed(type(one.op), self.value(one.target), self.value(one.value))
            value = found if found is not None and known else Unknown(shown(one))
            self._set(one.target, value, one.lineno)
        elif isinstance(one, ast.AnnAssign) and one.value is not None:
            self._set(one.target, self._either(one.value, known=known), one.lineno)
        elif isinstance(one, ast.Expr) and isinstance(one.value, ast.Call):
            self._handed(one.value, known=known)

    def _handed(self, node: ast.Call, *, known: bool) -> None:
        """Follow a call for what it changes; note one that is given a record and not known."""
        if known and set_by(self, node, shown(node.func).rpartition(".")[2]) is not None:
            return
        values = [self.value(arg) for arg in node.args]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "append" and known:
            several = self.value(node.func.value)
            if isinstance(several, list) and values and len(several) < MOST_ITEMS:
                several.append(values[0])
                return
            if isinstance(node.func.value, ast.Attribute) and not isinstance(several, list):
                self._set(node.func.value, values[:1], node.lineno)
                return
        if not any(isinstance(value, Record) for value in values):
            return
        if known and self.callee(node.func) is not None:
            self.value(node)
        elif not starts(self, node.func):
            self.budget.touched.append((node.lineno, shown(node)))

    def _either(self, node: ast.expr, *, known: bool) -> Any:
        return self.value(node) if known else Unknown(f"{shown(node)}, in a branch")

    def _set(self, target: ast.expr, value: Any, line: int) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Attribute):
            inside = self._record(target.value, line)
            if inside is not None:
                inside.fields[target.attr] = (value, line)
        elif isinstance(target, ast.Tuple):
            is_known = isinstance(value, list) and len(value) == len(target.elts)
            values = value if is_known else [Unknown(shown(target))] * len(target.elts)
            for one, its in zip(target.elts, values, strict=True):
                self._set(one, its, line)

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
        self.spend()
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.names[node.id] if node.id in self.names else self._named(node.id)
        kind = EXPRESSIONS.get(type(node))
        found = OPEN if kind is None else kind(self, node)
        if isinstance(node, ast.Call):
            found = self._call(node)
        return Unknown(shown(node)) if found is OPEN else found

    def spend(self, many: int = 1) -> None:
        """Count more values.

        Args:
            many: How many.

        Raises:
            ConfigError: If too many were asked for already.
        """
        self.budget.steps -= many
        if self.budget.steps < 0:
            raise ConfigError(
                f"{self.module.path.name} asks for over {MOST_STEPS} values: name one recipe, "
                "--set recipe=NAME; no single one is so long"
            )

    def _named(self, name: str) -> Any:
        """Return the value of a name of the module, or of one that it takes from another."""
        module = self.module
        if module.names is None:
            module.names = {}
            inner = Scope(self.library, module, module.names, self.depth + 1, self.budget)
            inner.run(module.assigned)
        if name in module.names:
            return module.names[name]
        taken = self.library.taken(module, name) if self.depth < MOST_DEPTH else None
        if taken is not None and taken[1] not in {**taken[0].functions, **taken[0].classes}:
            return self.inside(taken[0])._named(taken[1])
        return Unknown(name)

    def inside(self, module: Module) -> Scope:
        """Return a scope of a module, one deeper.

        Args:
            module: The module.
        """
        return Scope(self.library, module, {}, self.depth + 1, self.budget)

    def callee(self, node: ast.expr) -> tuple[Module, str] | None:
        """Return the module and the name of a function or class that an expression names.

        Args:
            node: The expression.
        """
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            is_local = node.value.id in self.names
            outer = None if is_local else self.library.whole(self.module, node.value.id)
            known = outer is not None and node.attr in {**outer.functions, **outer.classes}
            return (outer, node.attr) if outer is not None and known else None
        if not isinstance(node, ast.Name) or node.id in self.names:
            return None
        if {node.id, *self.module.imported.get(node.id, ())[2:]} & kept_calls():
            return None
        module, name = self.library.taken(self.module, node.id) or (self.module, node.id)
        return (module, name) if name in module.functions or name in module.classes else None

    def _bound(self, node: ast.Call, wanted: ast.arguments) -> dict[str, Any]:
        """Return the arguments of a call to a function, by name."""
        names = [one.arg for one in (*wanted.posonlyargs, *wanted.args)]
        found = {name: self.value(arg) for name, arg in zip(names, node.args, strict=False)}
        return found | {one.arg: self.value(one.value) for one in node.keywords if one.arg}

    def _call(self, node: ast.Call) -> Any:
        name = shown(node.func)
        last = name.rpartition(".")[2]
        self.budget.calls -= 1
        if self.budget.calls < 0:
            return Unknown(name)
        taken = set_by(self, node, last) or from_program(self, node, last)
        if taken is not None:
            return taken
        callee = self.callee(node.func)
        if callee is not None and callee[1] in callee[0].functions:
            module, one = callee
            inner = Scope(self.library, module, {}, self.depth, self.budget)
            return inner.returned(one, self._bound(node, module.functions[one].args))
        if isinstance(node.func, ast.Call):
            # What keeps a call for later is called with the rest of its arguments.
            kept = self.value(node.func)
            return changed(self, kept, node) if isinstance(kept, Record) else OPEN
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
            # A method of what a call returns gives that in another form.
            return self.value(node.func.value)
        if name in NUMBERS:
            return counted(self, node, name)
        if isinstance(node.func, ast.Attribute) and last in TEXTS and not node.args:
            text = self.value(node.func.value)
            return TEXTS[last](text) if isinstance(text, str) else OPEN
        passes = last in _PASSES and (last not in CONFIGURED or len(node.args) == 1)
        if node.args and (passes or last in _COPIES):
            place = 0 if last == "replace" else -1
            inside = self.value(node.args[place])
            if isinstance(inside, Record):
                return changed(self, inside, node) if last in _COPIES else inside
        return made(self, node, name, callee)
