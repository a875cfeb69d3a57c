"""Functions of the public face: their names are checked, and one may be called like another."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from steptime.inputs.errors import ConfigError, check_choice

P = ParamSpec("P")
R = TypeVar("R")


def checked_names(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function, which refuses names that it does not know and offers the nearest.

    Args:
        function: Takes all it takes by name.
    """
    asked = inspect.signature(function).parameters
    names = frozenset(asked)
    needs = tuple(one.name for one in asked.values() if one.default is inspect.Parameter.empty)

    @functools.wraps(function)
    def called(*args: P.args, **given: P.kwargs) -> R:
        for name in given:
            if name not in names:
                check_choice("input", name, names)
        for name in needs[len(args) :]:
            if name not in given:
                raise ConfigError(f"{function.__name__} needs {name}: give {name}=…")
        return function(*args, **given)

    return called


def called_like(other: Callable[P, object]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Return what gives a function the parameters of another, to be read and completed alike.

    Args:
        other: Has the parameters.
    """
    signature = inspect.signature(other)

    def like(function: Callable[..., R]) -> Callable[P, R]:
        returned = inspect.signature(function).return_annotation
        named: Any = function
        named.__signature__ = signature.replace(return_annotation=returned)
        return cast("Callable[P, R]", checked_names(named))

    return like
