"""What a kernel's name says: the part of a step it belongs to, and what its message does."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steptime.inputs.datafiles import data_table

UNKNOWN, WAIT, MESSAGES = "unknown", "wait", "messages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a step as a trace shows it.

    Attributes:
        name: Its key.
        title: For the eye.
        kind: ``work``, ``message`` or ``wait``.
        first: Where two of a kind run at once, the lower number takes the time.
    """

    name: str
    title: str
    kind: str
    first: int


@functools.cache
def parts() -> dict[str, Part]:
    """Return the parts by name, in the order of a report."""
    table = data_table("kernels.toml")["parts"]
    return {name: Part(name=name, **fields) for name, fields in table.items()}


@functools.cache
def scopes() -> Mapping[str, str]:
    """Return how the annotations start that mark a step, the optimizer, and a backward pass."""
    found: Mapping[str, str] = data_table("kernels.toml")["scopes"]
    return found


def _fits(rule: Mapping[str, Any], name: str) -> bool:
    return name.startswith(tuple(rule.get("starts", ()))) or any(
        word in name for word in rule.get("words", ())
    )


def _first(rules: Sequence[Mapping[str, Any]], key: str, name: str, otherwise: str) -> str:
    low = name.lower()
    return next((str(rule[key]) for rule in rules if _fits(rule, low)), otherwise)


@functools.lru_cache(maxsize=100_000)
def kernel_part(name: str) -> str:
    """Return the part that a device's kernel belongs to, `UNKNOWN` if no rule knows it.

    Args:
        name: As the profiler writes it.
    """
    return _first(data_table("kernels.toml")["kernel"], "part", name, UNKNOWN)


@functools.lru_cache(maxsize=100_000)
def operator_part(name: str) -> str:
    """Return the part that an operator on a processor belongs to, `UNKNOWN` if none.

    Args:
        name: As the profiler writes it.
    """
    return _first(data_table("kernels.toml")["operator"], "part", name, UNKNOWN)


@functools.lru_cache(maxsize=10_000)
def message_does(name: str) -> str:
    """Return what a message does by its name: all_reduce, send_recv, ...; nothing if unknown.

    Args:
        name: Of the kernel, or what the trace calls the collective.
    """
    return _first(data_table("kernels.toml")["message"], "does", name, "")


@functools.lru_cache(maxsize=10_000)
def described_part(description: str) -> str:
    """Return the part whose groups are described so, nothing if none is.

    Args:
        description: Of a process group.
    """
    groups = data_table("kernels.toml")["group"]
    return next((str(one["part"]) for one in groups if description in one["described"]), "")


def carried(does: str) -> tuple[str, ...]:
    """Return the parts that a message can belong to by what it does.

    Args:
        does: From `message_does`.
    """
    return tuple(data_table("kernels.toml")["carries"].get(does, ()))
