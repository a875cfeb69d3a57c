"""The collectives of a compiled program, read from its text.

XLA prints its optimised program as HLO: one instruction a line, grouped in
computations that call each other. What is listed here is what will run, after every
pass that merges, splits or drops a collective.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from steptime.parallel import hlo_groups

KINDS = {
    "all-reduce": "all_reduce",
    "all-gather": "all_gather",
    "reduce-scatter": "reduce_scatter",
    "all-to-all": "all_to_all",
    "ragged-all-to-all": "ragged_all_to_all",
    "collective-permute": "permute",
    "collective-broadcast": "broadcast",
}
WIDTHS = {"pred": 1, "bf16": 2, "f16": 2, "f32": 4, "f64": 8, "c64": 8, "c128": 16}

_COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\) -> .*\{$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = (.*?) ([a-z][\w\-]*)\((.*)$")
_OPERAND = re.compile(r"%([\w.\-]+)")
_SHAPE = re.compile(r"\b([a-z]+\d*[a-z0-9]*)\[([\d,]*)\]")
_CALLED = re.compile(r"(?:calls|to_apply|body)=%?([\w.\-]+)")
_BRANCHES = re.compile(
    r"(?:branch_computations=\{([^}]*)\}|(?:true|false)_computation=%?([\w.\-]+))"
)
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_OP_NAME = re.compile(r'op_name="([^"]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Collective:
    """One collective instruction of a compiled program.

    Attributes:
        kind: A value of ``KINDS``.
        groups: Devices that take part together; for a permute, (source, target) pairs.
        part_bytes: The whole buffer, as `steptime.formulas.collectives` means it, of each
            array in it: over one where the compiler has merged several collectives.
        count: Times it runs, loops included.
        part_names: What in the traced program each array comes from. Where the compiler
            has merged, the instruction bears one name only: then the name of what computed
            the array.
        merged: Whether it carries several arrays.
    """

    kind: str
    groups: tuple[tuple[int, ...], ...]
    part_bytes: tuple[int, ...]
    count: int
    part_names: tuple[str, ...]
    merged: bool

    @property
    def size_bytes(self) -> int:
        """Bytes of all its arrays together."""
        return sum(self.part_bytes)


def collectives(text: str) -> list[Collective]:
    """Return every collective that a compiled program runs, in the order of its text.

    Args:
        text: What ``compiled.as_text()`` gives.

    Raises:
        ValueError: If one sits in a branch, or in a loop whose length is unknown: then
            no count could be given.
    """
    bodies, entry = _computations(text)
    found: list[Collective] = []
    _walk(bodies, entry, 1, found)
    return found


def phase(op_name: str) -> str:
    """Return whether an instruction is of the ``forward``, ``backward`` or ``update``.

    Args:
        op_name: Name stack that JAX leaves on it: transposition marks the backward, as does
            a scope called ``gradients``; a scope called ``update`` marks the optimizer.
    """
    if "/update/" in op_name:
        return "update"
    marks = ("transpose(", "/rematted", "/gradients/")
    return "backward" if any(mark in op_name for mark in marks) else "forward"


def _computations(text: str) -> tuple[dict[str, list[str]], str]:
    bodies: dict[str, list[str]] = {}
    entry = name = ""
    for line in text.splitlines():
        head = _COMPUTATION.match(line)
        if head:
            name = head.group(2)
            bodies[name] = []
            entry = name if head.group(1) else entry
        elif name and line.startswith(" "):
            bodies[name].append(line)
    if not entry:
        raise ValueError("no ENTRY computation in the program's text")
    return bodies, entry


def _walk(bodies: dict[str, list[str]], name: str, times: int, found: list[Collective]) -> None:
    matches = [match for line in bodies.get(name, ()) if (match := _INSTRUCTION.match(line))]
    inside = {match.group(1): match.group(4) for match in matches}
    for match in matches:
        _, shape, opcode, rest = match.groups()
        kind = KINDS.get(opcode.removesuffix("-start"))
        if kind:
            one = _collective(kind, shape, opcode.endswith("-start"), rest, times)
            found.append(_with_names(one, rest, inside))
        elif not opcode.endswith(("-done", "-update")):
            _follow(bodies, opcode, rest, times, found)


def _with_names(one: Collective, rest: str, inside: dict[str, str]) -> Collective:
    if not one.merged:
        return one
    operands = _OPERAND.findall(rest.split("),")[0])
    names = [_origin(operand, inside) or one.part_names[0] for operand in operands]
    if len(names) != len(one.part_bytes):
        raise ValueError(f"{len(names)} operands for {len(one.part_bytes)} results: {rest[:200]}")
    return replace(one, part_names=tuple(names))


def _origin(name: str, inside: dict[str, str]) -> str:
    """Return the traced name of an instruction, or of what it copies if it has none."""
    for _ in range(8):
        rest = inside.get(name, "")
        traced = _OP_NAME.search(rest)
        if traced:
            return traced.group(1)
        operand = _OPERAND.search(rest)
        if not operand:
            break
        name = operand.group(1)
    return ""


def _follow(
    bodies: dict[str, list[str]], opcode: str, rest: str, times: int, found: list[Collective]
) -> None:
    for listed, single in _BRANCHES.findall(rest):
        for branch in (listed or single).replace("%", "").split(","):
            inside: list[Collective] = []
            _walk(bodies, branch.strip(), times, inside)
            if inside:
                raise ValueError(f"{inside[0].kind} in a branch of a conditional: not countable")
    for called in _CALLED.findall(rest):
        inside = []
        _walk(bodies, called, 1, inside)
        trips = _TRIPS.search(rest)
        if inside and opcode == "while" and not trips:
            raise ValueError(f"{inside[0].kind} in a loop of unknown length: not countable")
        runs = times * (int(trips.group(1)) if opcode == "while" and trips else 1)
        found.extend(replace(one, count=one.count * runs) for one in inside)


def _collective(kind: str, shape: str, started: bool, rest: str, times: int) -> Collective:
    arrays = [_array_bytes(*found) for found in _SHAPE.findall(shape)]
    members = hlo_groups.groups(rest)
    if started and kind in ("all_gather", "permute"):
        # The started form also carries its operands, first: the results are the other half.
        arrays = arrays[len(arrays) // 2 :] if kind == "all_gather" else arrays[1:2]
    scale = len(members[0]) if kind == "reduce_scatter" and members else 1
    name = _OP_NAME.search(rest)
    # A tuple of pieces is how one all-to-all is printed, never several.
    parts = (sum(arrays),) if kind == "all_to_all" else tuple(scale * n for n in arrays)
    return Collective(
        kind=kind,
        groups=members,
        part_bytes=parts,
        count=times,
        part_names=(name.group(1) if name else "",) * len(parts),
        merged=len(parts) > 1,
    )


def _array_bytes(dtype: str, sizes: str) -> int:
    width = WIDTHS.get(dtype) or int(re.sub(r"\D.*", "", dtype[1:] or "8") or 8) // 8
    return width * math.prod(int(size) for size in sizes.split(",") if size)
