"""What the formulas say a program sends, line by line beside what its compiler emitted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from jax.sharding import Mesh

from steptime.formulas import collectives as formulas
from steptime.formulas.records import Message
from steptime.parallel import devices, hlo, links

Key: TypeAlias = tuple[str, str, frozenset[tuple[int, ...]], float]

SENT_BYTES = {
    "all_reduce": formulas.all_reduce_sent_bytes,
    "all_gather": formulas.all_gather_sent_bytes,
    "reduce_scatter": formulas.reduce_scatter_sent_bytes,
}


class Split(Protocol):
    """What a comparison needs of a split program or training step."""

    @property
    def mesh(self) -> Mesh: ...  # noqa: D102
    @property
    def traffic(self) -> list[Message]: ...  # noqa: D102
    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]: ...  # noqa: D102


class Emitted(Protocol):
    """What a comparison needs of its run."""

    @property
    def collectives(self) -> Mapping[str, list[hlo.Collective]]: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One kind and size of collective, as the formula has it and as it was emitted.

    Attributes:
        phase: forward, backward or update.
        kind: all_reduce, all_gather, reduce_scatter, all_to_all, permute (round a ring) or
            send (across one stage boundary).
        axis: Whose devices take part; "?" for a group that no formula named.
        size_bytes: The whole buffer of one collective.
        formula: How many the formula says.
        measured: How many the compiled program runs.
        merged: Whether some share one instruction with others: the same bytes, in one go.
    """

    phase: str
    kind: str
    axis: str
    size_bytes: float
    formula: int
    measured: int
    merged: bool

    @property
    def equal(self) -> bool:
        """Whether the compiler emitted exactly this."""
        return self.formula == self.measured


def lines(program: Split, run: Emitted) -> list[Line]:
    """Return the two accounts of a program's traffic, joined: formula order, then the rest.

    Kind, devices, bytes and phase must all agree to meet on one line.

    Args:
        program: Its formulas and mesh.
        run: What was compiled.
    """
    wanted, names = _wanted(program)
    found: Counter[Key] = Counter()
    merged: defaultdict[Key, bool] = defaultdict(bool)
    for part, emitted in run.collectives.items():
        for one in emitted:
            for kind, members in _moves(program.mesh, one):
                for size in one.part_bytes:
                    key = (part, kind, members, float(size))
                    found[key] += one.count
                    merged[key] |= one.merged
    known = [key for key in wanted if wanted[key] or key in found]
    return [
        Line(
            phase=key[0],
            kind=key[1],
            axis=names.get(key) or axis_name(program, key[2]),
            size_bytes=key[3],
            formula=wanted[key],
            measured=found[key],
            merged=merged[key],
        )
        for key in known + [key for key in found if key not in wanted]
    ]


def _wanted(program: Split) -> tuple[Counter[Key], dict[Key, str]]:
    wanted: Counter[Key] = Counter()
    names: dict[Key, str] = {}
    for entry in program.traffic:
        for name, members in _members(program, entry):
            key = (entry["phase"], entry["kind"], members, float(entry["bytes"]))
            names.setdefault(key, name)
            wanted[key] += _whole(entry["count"])
    return wanted, names


def _moves(mesh: Mesh, one: hlo.Collective) -> list[tuple[str, frozenset[tuple[int, ...]]]]:
    """Return what an instruction moves: nothing in groups of one, a send for each boundary."""
    if one.kind == "permute":
        pairs = frozenset(pair for pair in one.groups if pair[0] != pair[1])
        if not pairs:
            return []
        edges = links.split(mesh, pairs)
        return [("send", edge) for edge in edges] if edges else [("permute", pairs)]
    members = frozenset(tuple(sorted(group)) for group in one.groups)
    return [(one.kind, members)] if max(map(len, members)) > 1 else []


def axis_name(program: Split, members: frozenset[tuple[int, ...]]) -> str:
    """Return which of a program's axes has these groups of devices, "?" if none."""
    for name in (*program.axes, *program.mesh.axis_names):
        if devices.groups(program.mesh, program.axes.get(name, (name,))) == members:
            return str(name)
    return "?"


def sent_bytes(mesh: Mesh, emitted: list[hlo.Collective]) -> np.ndarray:
    """Return the bytes each device sends to each other one, shape ``(n, n)``, sender first.

    Reductions and gathers go round a ring in the order of their group.

    Args:
        mesh: Gives the number of devices.
        emitted: Collectives of a compiled program.
    """
    sent = np.zeros((mesh.devices.size, mesh.devices.size))
    for one in emitted:
        for group in one.groups:
            if one.kind == "permute":
                sent[group] += one.count * one.size_bytes
            elif one.kind == "all_to_all":
                pairs = np.ix_(group, group)
                sent[pairs] += one.count * one.size_bytes / len(group) * (1 - np.eye(len(group)))
            elif len(group) > 1:
                bytes_on = one.count * SENT_BYTES[one.kind](float(one.size_bytes), len(group))
                for place, source in enumerate(group):
                    sent[source, group[(place + 1) % len(group)]] += bytes_on
    return sent


def _members(program: Split, entry: Message) -> list[tuple[str, frozenset[tuple[int, ...]]]]:
    axis = str(entry["axis"])
    if entry["kind"] == "send":
        return links.boundaries(program.mesh, axis, back=entry["phase"] == "backward")
    whole = devices.groups(program.mesh, program.axes.get(axis, (axis,)))
    if max(map(len, whole)) == 1:
        # A device alone has nobody to talk to, whatever the formula's n.
        return []
    return [(axis, links.ring(whole) if entry["kind"] == "permute" else whole)]


def _whole(count: object) -> int:
    number = float(str(count))
    if number != int(number):
        raise ValueError(f"a formula gives {number} collectives")
    return int(number)
