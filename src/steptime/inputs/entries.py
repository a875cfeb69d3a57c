"""What an entry of the table of fields says, and how a typed dictionary of entries is read."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypedDict, get_args, get_origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a training step.

    Attributes:
        name: As a parameter in Python and as a key in JSON: the entry's own key.
        flags: As options of the command line.
        help: What it is, in a line.
        group: asked, batch, cut, choice (of the layout), device or software.
        label: Short name of a column or a control.
        word: What a sentence for readers calls it; empty where none speaks of it.
        tried: What a search tries where nothing is said; empty where it is asked one value only.
        key: As a key in the address of the layout page; empty where the page does not ask it.
        default: Where the type has no None, which stands for what is usual.
        usual: Whether leaving it open means what is usual with model and software.
        offered: Values that the layout page offers at a click.
        most: The largest number that the layout page takes.
    """

    name: str = ""
    flags: tuple[str, ...] = ()
    help: str
    group: str = ""
    label: str = ""
    word: str = ""
    tried: str = ""
    key: str = ""
    default: object = None
    usual: bool = False
    offered: tuple[int, ...] = ()
    most: int = 0

    @property
    def typed(self) -> str:
        """Return the option as it can be typed: both, where one says yes and one no."""
        return " or ".join(self.flags[0].split("/"))


def powers(most: int) -> tuple[int, ...]:
    """Return the powers of two up to a size, which a page offers.

    Args:
        most: The size.
    """
    return tuple(2**k for k in range(most.bit_length()))


def cut_field(label: str, help: str, **more: Any) -> Field:
    """Return a size that a search tries and the page asks, by its label everywhere.

    Args:
        label: Its name as an option, a column and a key.
        help: What it is, in a line.
        **more: Of the entry, where it is not as for most sizes.
    """
    given: dict[str, Any] = {"flags": (f"--{label}",), "tried": "all that fit", "key": label}
    asked: dict[str, Any] = {"offered": powers(8), "most": 2**10}
    return Field(group="cut", label=label, help=help, **given | asked | more)


def entries(inputs: Any) -> Iterator[tuple[inspect.Parameter, Field]]:
    """Yield each key of a typed dictionary as a parameter given by name, and its entry.

    Args:
        inputs: Its values are `Annotated` with a `Field`; type variables of those it is made of
            have become types.
    """
    seen: set[str] = set()
    for part, values in _parts(inputs):
        for name, hint in part.__annotations__.items():
            if name in seen:
                continue
            seen.add(name)
            if getattr(hint, "__parameters__", ()):
                hint = hint[tuple(values[one] for one in hint.__parameters__)]
            kind, field = get_args(hint)
            needed = name in part.__required_keys__
            yield _parameter(name, kind, field, needed), replace(field, name=name)


def _parts(inputs: Any) -> Iterator[tuple[Any, Any]]:
    """Yield what a typed dictionary is made of, each with the types of its variables."""
    origin = get_origin(inputs) or inputs
    values = dict(zip(getattr(origin, "__parameters__", ()), get_args(inputs), strict=True))
    for base in getattr(origin, "__orig_bases__", ()):
        if base is not TypedDict and hasattr(get_origin(base) or base, "__required_keys__"):
            yield from _parts(base)
    yield origin, values


def _parameter(name: str, kind: Any, field: Field, needed: bool) -> inspect.Parameter:
    """Return a parameter; None is its default wherever its type has it."""
    default = None if type(None) in get_args(kind) else field.default
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if needed else default,
        annotation=kind,
    )
