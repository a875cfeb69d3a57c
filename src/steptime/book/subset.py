"""The part of Python that can become JavaScript without a change of meaning.

PScript translates syntax; where the two languages differ under the same syntax
(``//``, ``%``, an empty list as a condition, ``max`` of a long list, a loop bound
that grows) a function is first rewritten here into Python whose translation is
exact. What cannot be made exact is refused, with the file and the line.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from steptime.book.subset_names import bound_names, misused_loop_name, parameters, safe, text
from steptime.book.subset_scalars import without_arrays
from steptime.book.subset_syntax import SubsetError, Syntax

PLAIN_CALLS = frozenset("all any enumerate len reversed sorted zip".split())
HELPER_CALLS = {
    "int": "_int", "float": "_float", "bool": "_truthy", "divmod": "_divmod", "str": "_str",
    "list": "_list", "tuple": "_list", "abs": "_abs",
}  # fmt: skip
MATH = {"floor": "_floor", "ceil": "_ceil", "sqrt": "_sqrt"}

__all__ = ["Rewriter", "SubsetError"]


class Rewriter(Syntax):
    """Rewrite one top-level function of a module; use a new one for each.

    Args:
        where: File name for messages.
        resolve: From a global name to its JavaScript name; None where unknown.
        signature: From a global name to the parameter names of that function.
        is_where: Whether a global name is ``formulas.number.where``.
    """

    def __init__(
        self,
        where: str,
        resolve: Callable[[str], str | None],
        signature: Callable[[str], list[str] | None],
        is_where: Callable[[str], bool],
    ) -> None:
        super().__init__(where)
        self.resolve = resolve
        self.signature = signature
        self.is_where = is_where
        self.local: set[str] = set()

    def rewrite(self, node: ast.FunctionDef) -> str:
        """Return the source of a top-level function, ready for PScript.

        Raises:
            SubsetError: If it holds what has no exact translation.
        """
        self.local = bound_names(node)
        self.learn_types(node)
        name = self.resolve(node.name)
        result = self.visit_FunctionDef(node)
        result.name = name or result.name
        return ast.unparse(ast.fix_missing_locations(result))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Strip types and defaults by keyword; refuse what has no parameter list here."""
        if node.decorator_list:
            raise self.refuse(node, "a decorator")
        if node.args.vararg or node.args.kwarg:
            raise self.refuse(node, "*args or **kwargs")
        misused = misused_loop_name(node)
        if misused is not None:
            raise self.refuse(misused, "a loop's counter used or set outside its loop")
        for parameter in parameters(node):
            kind = text(parameter.annotation)
            if kind.startswith(("dict[int", "dict[tuple", "dict[float")):
                raise self.refuse(node, "a dict whose keys are not strings", "use a list")
        defaults = [*node.args.defaults, *(default or ast.Constant(None)
                                           for default in node.args.kw_defaults)]  # fmt: skip
        names = [ast.arg(safe(parameter.arg)) for parameter in parameters(node)]
        if node.args.defaults and None in node.args.kw_defaults:
            raise self.refuse(node, "a required parameter after an optional one")
        body = node.body if ast.get_docstring(node) is None else node.body[1:]
        return ast.FunctionDef(
            name=safe(node.name),
            args=ast.arguments([], names, None, [], [], None, defaults),
            body=self.block(without_arrays(body)) or [ast.Pass()],
            decorator_list=[],
        )

    # ---- names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Give a name its JavaScript form; refuse one that nobody defines."""
        if node.id in self.local or node.id == "undefined":
            return ast.Name(node.id if node.id == "undefined" else safe(node.id), node.ctx)
        known = self.resolve(node.id)
        if known is None:
            raise self.refuse(node, f"the name {node.id!r}")
        return ast.Name(known, node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Resolve ``module.name``; leave fields of records alone."""
        if text(node) == "math.inf":
            return ast.Name("Infinity", ast.Load())
        if isinstance(node.value, ast.Name) and node.value.id not in self.local:
            whole = self.resolve(text(node))
            if whole is None:
                raise self.refuse(node, text(node))
            return ast.Name(whole, ast.Load())
        self.generic_visit(node)
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        """Allow only ``raise SomeError(message)``."""
        error = node.exc
        if node.cause or not isinstance(error, ast.Call) or not isinstance(error.func, ast.Name):
            raise self.refuse(node, "this raise", "raise SomeError(message)")
        error.args = [self.expression(argument) for argument in error.args]
        return node

    # ---- calls

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Sort a call: a method, one of our functions, or one of Python's own."""
        func = node.func
        if isinstance(func, ast.Attribute):
            if text(func.value) == "math" and func.attr in MATH:
                return self.helper(MATH[func.attr], node.args)
            root = func.value
            if isinstance(root, ast.Name) and root.id not in self.local:
                whole = text(func)
                if self.resolve(whole) is not None:
                    return self.own_call(node, whole)
            if node.keywords and func.attr != "sort":
                raise self.refuse(node, "a keyword argument of a method")
            return self.method(node, func)
        if self.is_listed(func) and not node.keywords:
            return self.helper("_call", [func, *node.args])
        if not isinstance(func, ast.Name):
            raise self.refuse(node, "a call of a computed function", "list them in a constant")
        if func.id in self.local or self.resolve(func.id) is not None:
            return self.own_call(node, func.id)
        return self.builtin(node, func.id)

    def is_listed(self, func: ast.expr) -> bool:
        """Return whether a call is of a function by its place in a constant."""
        return (
            isinstance(func, ast.Subscript)
            and isinstance(func.value, ast.Name)
            and func.value.id not in self.local
        )

    def method(self, node: ast.Call, func: ast.Attribute) -> ast.AST:
        """Return the call of a method, by its JavaScript name where that does the same."""
        if func.attr == "extend":
            return self.helper("_extend", [func.value, *node.args])
        if func.attr == "append":
            func.attr = "push"
        elif func.attr in ("pop", "reverse") and self.is_list(func.value):
            # Not by name: PScript would put its own slower pop there.
            if node.args and text(node.args[0]) != "0":
                raise self.refuse(node, "pop from the middle")
            return self.helper("_shift" if node.args else f"_{func.attr}", [func.value])
        self.generic_visit(node)
        return node

    def own_call(self, node: ast.Call, name: str) -> ast.AST:
        """Return a call of a translated function, its keywords made positional."""
        if self.is_where(name):
            condition, yes, no = node.args
            return ast.IfExp(self.expression(condition), self.expression(yes), self.expression(no))
        if node.keywords:
            names = self.signature(name)
            if names is None:
                raise self.refuse(node, "a keyword argument of an unknown function")
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            for parameter in names[len(node.args) :]:
                if not given:
                    break
                node.args.append(given.pop(parameter, ast.Name("undefined", ast.Load())))
            if given:
                raise self.refuse(node, f"the keyword argument {next(iter(given))!r}")
        called = self.expression(node.func)
        return ast.Call(called, [self.expression(argument) for argument in node.args], [])

    def builtin(self, node: ast.Call, name: str) -> ast.AST:
        """Return the translation of a call of one of Python's own functions."""
        arguments = [
            ast.copy_location(ast.ListComp(argument.elt, argument.generators), argument)
            if isinstance(argument, ast.GeneratorExp)
            else argument
            for argument in node.args
        ]
        if name == "float" and text(arguments[0]) == "'inf'":
            return ast.Name("Infinity", ast.Load())
        if name in ("list", "tuple") and not arguments:
            return ast.List([], ast.Load())
        if name == "range":
            return self.counted(arguments)
        if name in HELPER_CALLS:
            return self.helper(HELPER_CALLS[name], arguments)
        if name in ("max", "min"):
            if node.keywords:
                raise self.refuse(node, f"{name} with a key", "write the loop")
            return self.extreme(name, arguments)
        if name == "sum":
            raise self.refuse(
                node, "sum()", "Python 3.12 rounds a sum of floats in its own way: write the loop"
            )
        if name not in PLAIN_CALLS or (node.keywords and name != "sorted"):
            raise self.refuse(node, f"{name}()")
        keywords = [ast.keyword(key.arg, self.expression(key.value)) for key in node.keywords]
        visited = [self.expression(argument) for argument in arguments]
        return ast.Call(ast.Name(name, ast.Load()), visited, keywords)

    def counted(self, arguments: list[ast.expr]) -> ast.expr:
        """Return a range as a list."""
        start, step = ast.Constant(0), ast.Constant(1)
        if len(arguments) == 1:
            return self.helper("_range", [start, arguments[0], step])
        return self.helper("_range", [*arguments, step][:3])

    def extreme(self, name: str, arguments: list[ast.expr]) -> ast.expr:
        """Return a max or min; ``Math.max(...list)`` would overflow the stack on a long list."""
        if len(arguments) == 1:
            return self.helper(f"_{name}_of", arguments)
        first = self.expression(arguments[0])
        for argument in arguments[1:]:
            first = ast.Call(ast.Name(f"_{name}"), [first, self.expression(argument)], [])
        return first

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Give a parameter its JavaScript name."""
        return ast.arg(safe(node.arg))
