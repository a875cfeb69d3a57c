"""Functions of the public face: they take what a dictionary of fields lists, and check names."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, get_args, get_type_hints

from steptime.inputs.entries import entries
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.kinds import PYTHONS, as_python

P = ParamSpec("P")
R = TypeVar("R")
_REST = re.compile(r"^( *)\*\*(\w+): .*\n", re.MULTILINE)


def checked_names(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function, which refuses names that it does not know and offers the nearest.

    ``**inputs: Unpack[Inputs]`` becomes a parameter for each key of ``Inputs``, with the type,
    the default and the words of its entry: in the signature, in the docstring, and in what the
    function gets. Type checkers and editors read the same from the dictionary itself.

    Args:
        function: Takes all it takes by name, but for what it may take by place.
    """
    parameters = _parameters(function)
    names = frozenset(one.name for one in parameters)
    needs = tuple(one.name for one in parameters if one.default is inspect.Parameter.empty)
    rest = inspect.getfullargspec(function).varkw is not None
    usual: dict[str, Any] = {
        one.name: one.default for one in parameters if rest and one.name not in needs
    }

    @functools.wraps(function)
    def called(*args: P.args, **given: P.kwargs) -> R:
        if not names.issuperset(given):
            for name in given:
                check_choice("input", name, names)
        for name in needs[len(args) :]:
            if name not in given:
                raise ConfigError(f"{function.__name__} needs {name}: give {name}=…")
        asked = usual | given
        for name, value in given.items():
            # Most are Python's own, and asking costs less than a call.
            if type(value) not in PYTHONS:
                asked[name] = as_python(value)
        return function(*args, **asked)

    signed: Any = called
    signed.__signature__ = inspect.signature(function).replace(parameters=parameters)
    return called


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    """Return a function's parameters, a dictionary's keys for the dictionary; it says them too."""
    found: list[inspect.Parameter] = []
    for one in inspect.signature(function).parameters.values():
        if one.kind is not inspect.Parameter.VAR_KEYWORD:
            found.append(one)
            continue
        (inputs,) = get_args(get_type_hints(function)[one.name])
        keys = list(entries(inputs))
        lines = "".join(rf"\1{field.name}: {field.help}" + "\n" for _, field in keys)
        function.__doc__ = _REST.sub(lines, function.__doc__ or "")
        found += (parameter for parameter, _ in keys)
    return found
