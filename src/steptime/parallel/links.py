"""Sends between neighbours along one axis of a mesh, as whole boundaries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from jax.sharding import Mesh

Pairs: TypeAlias = frozenset[tuple[int, ...]]


def ring(groups: Iterable[tuple[int, ...]]) -> Pairs:
    """Return every (source, target) of rings through some groups of devices."""
    return frozenset(
        (group[place], group[(place + 1) % len(group)])
        for group in groups
        for place in range(len(group))
    )


def boundaries(mesh: Mesh, axis: str, *, back: bool) -> list[tuple[str, Pairs]]:
    """Return each boundary between neighbours on an axis, and the pairs that cross it.

    Args:
        mesh: Devices.
        axis: Its axis of stages.
        back: Whether the sends go towards the first stage.
    """
    place = mesh.axis_names.index(axis)
    numbers = np.moveaxis(np.arange(mesh.devices.size).reshape(mesh.devices.shape), place, 0)
    found: list[tuple[str, Pairs]] = []
    for stage in range(len(numbers) - 1):
        ends = (
            (numbers[stage + 1], numbers[stage]) if back else (numbers[stage], numbers[stage + 1])
        )
        pairs = frozenset((int(a), int(b)) for a, b in zip(ends[0].flat, ends[1].flat, strict=True))
        name = f"{axis} {stage + 1}→{stage}" if back else f"{axis} {stage}→{stage + 1}"
        found.append((name, pairs))
    return found


def split(mesh: Mesh, pairs: Pairs) -> list[Pairs] | None:
    """Return the whole boundaries that some pairs make up, or None if they do not.

    Args:
        mesh: Devices.
        pairs: (source, target) of one instruction.
    """
    for axis in mesh.axis_names:
        for back in (False, True):
            whole = [edge for _, edge in boundaries(mesh, str(axis), back=back) if edge <= pairs]
            if whole and frozenset().union(*whole) == pairs:
                return whole
    return None
