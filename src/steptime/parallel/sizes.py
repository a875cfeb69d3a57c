"""Checks on the sizes that a program is asked for, before anything is compiled."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from steptime.inputs.errors import ConfigError, check_count, check_number

Given = ParamSpec("Given")
Result = TypeVar("Result")

LARGEST_SIZE = 10**6
LARGEST_ENTRIES = 2**25
"""Numbers in the arrays of one program: a quarter of a GiB in 64 bits, some copies of which fit."""


def checked(build: Callable[Given, Result]) -> Callable[Given, Result]:
    """Return a builder of programs that first checks each size by what it is declared as.

    Whole numbers must be at least 1, or at least 0 where that is the default; other
    numbers must not be negative.

    Args:
        build: Takes its sizes by keyword.
    """
    declared = inspect.signature(build).parameters

    @functools.wraps(build)
    def careful(*args: Given.args, **sizes: Given.kwargs) -> Result:
        for name, value in sizes.items():
            if name not in declared:
                continue
            kind = declared[name].annotation
            if kind == "int":
                least = 0 if declared[name].default == 0 else 1
                check_count(name, value, least=least, most=LARGEST_SIZE)
            elif kind == "float":
                check_number(name, value, above=-1e-300, most=1e6)
            elif kind == "bool" and not isinstance(value, bool):
                raise ConfigError(f"{name} must be true or false, got {value!r}")
        return build(*args, **sizes)

    return careful


def divides(part: str, size: int, whole: str, count: int) -> int:
    """Return ``count / size``, both checked.

    Raises:
        ConfigError: If ``size`` does not divide ``count``; it names the nearest that would do.
    """
    check_count(part, size, most=LARGEST_SIZE)
    check_count(whole, count)
    if count % size:
        fits = max(n for n in range(1, size + 1) if count % n == 0)
        raise ConfigError(f"{part}={size} does not divide {whole}={count}; {part}={fits} would")
    return count // size


def check_room(what: str, shapes: Iterable[tuple[int, ...]]) -> None:
    """Refuse arrays that would not fit in the memory of a small machine.

    Args:
        what: What they are, for the message.
        shapes: Their shapes.

    Raises:
        ConfigError: With their size and the most there may be.
    """
    entries = sum(math.prod(shape) for shape in shapes)
    if entries > LARGEST_ENTRIES:
        raise ConfigError(
            f"{what} would have {entries:.3g} entries; use sizes with at most {LARGEST_ENTRIES:.3g}"
        )
