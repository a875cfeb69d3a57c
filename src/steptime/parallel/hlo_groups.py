"""Which devices take part in a collective: the four ways that XLA's text says it."""

from __future__ import annotations

import math
import re
from typing import TypeAlias

import numpy as np

Groups: TypeAlias = tuple[tuple[int, ...], ...]

_LISTED = re.compile(r"(?:replica_groups|source_target_pairs)=\{(\{[\d,{} ]*\})\}")
_IOTA = re.compile(r"replica_groups=\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
_MESH = re.compile(r"replica_groups=@?\w*mesh\[([^\]]*)\] ?\{([^}]*)\}")
_SIZED = re.compile(r"'([^']+)'=(\d+)")
_PICKED = re.compile(r"'([^']+)'(?::\((\d+)\)(\d+))?")


def groups(attributes: str) -> Groups:
    """Return the groups of a collective; for a permute its (source, target) pairs.

    Args:
        attributes: The instruction's text after its operands.

    Raises:
        ValueError: If they are given in none of the known ways.
    """
    listed = _LISTED.search(attributes)
    if listed:
        rows = re.findall(r"\{([\d,]+)\}", listed.group(1))
        return tuple(_numbers(row) for row in rows)
    iota = _IOTA.search(attributes)
    if iota:
        order = _numbers(iota.group(3)) if iota.group(3) else None
        return _cut(_numbers(iota.group(2)), order, _numbers(iota.group(1))[-1])
    mesh = _MESH.search(attributes)
    if mesh and "device_ids=(" not in attributes:
        return _of_mesh(_SIZED.findall(mesh.group(1)), _PICKED.findall(mesh.group(2)))
    raise ValueError(f"cannot read the device groups in: {attributes[:200]}")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(","))


def _cut(shape: tuple[int, ...], order: tuple[int, ...] | None, size: int) -> Groups:
    numbers = np.arange(math.prod(shape)).reshape(shape).transpose(order)
    return tuple(tuple(int(i) for i in row) for row in numbers.reshape(-1, size))


def _of_mesh(sizes: list[tuple[str, str]], picked: list[tuple[str, str, str]]) -> Groups:
    """Return the groups along some axes of a mesh; ``'x':(2)4`` is a middle part of axis x."""
    shape: list[int] = []
    inside: list[int] = []
    for name, text in sizes:
        size = int(text)
        parts = [(int(pre), int(part)) for other, pre, part in picked if other == name and pre]
        whole = any(other == name and not pre for other, pre, _ in picked)
        for pre, part in parts[:1]:
            inside.append(len(shape) + 1)
            shape += [pre, part, size // pre // part]
        if not parts:
            inside += [len(shape)] if whole else []
            shape.append(size)
    outside = [axis for axis in range(len(shape)) if axis not in inside]
    members = math.prod(shape[axis] for axis in inside)
    return _cut(tuple(shape), (*outside, *inside), members)
