"""A claim about what a parallelism sends, with the program that was run to check it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from steptime.parallel import compare, devices, program

TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One sentence, and what came out when it was tried.

    Attributes:
        text: The sentence.
        program: What was run.
        run: What it gave.
    """

    text: str
    program: program.Program
    run: program.Run

    @property
    def lines(self) -> list[compare.Line]:
        """Formula and compiled program, line by line."""
        return compare.lines(self.program, self.run)

    @property
    def equal(self) -> bool:
        """Whether every collective is the formula's, to the byte."""
        return all(line.equal for line in self.lines)

    @property
    def exact(self) -> bool:
        """Whether output, loss and all gradients are one device's."""
        return self.run.worst_error <= TOLERANCE

    @property
    def num_gradients(self) -> int:
        """Arrays whose gradients were compared."""
        return len(self.run.gradient_errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices:
    """Which device holds which part of one array, seen as a rectangle.

    Attributes:
        name: The array.
        rows: Entries of the axis drawn downwards.
        columns: Entries of the axis drawn across.
        parts: First and last row, first and last column, and the devices that hold it.
    """

    name: str
    rows: int
    columns: int
    parts: Sequence[tuple[int, int, int, int, tuple[int, ...]]]


def tried(text: str, built: program.Program, *, annotations_only: bool = False) -> Claim:
    """Return a claim with its program compiled and run.

    Args:
        text: The sentence.
        built: What to run.
        annotations_only: Whether the compiler gets the unsplit program and annotations.
    """
    return Claim(
        text=text, program=built, run=program.run(built, annotations_only=annotations_only)
    )


def slices(built: program.Program, views: Mapping[str, tuple[int, int]]) -> list[Slices]:
    """Return who holds what of some of a program's inputs, as JAX places them.

    Args:
        built: The program.
        views: For each array, the axis to draw downwards and the one to draw across.
    """
    found = []
    for name, (down, across) in views.items():
        shape = built.inputs[name].shape
        owners: dict[tuple[int, int, int, int], list[int]] = {}
        placed = devices.index_map(built.mesh, built.specs[name], shape)
        for device, where in enumerate(placed):
            owners.setdefault((*where[down], *where[across]), []).append(device)
        found.append(
            Slices(
                name=name,
                rows=shape[down],
                columns=shape[across],
                parts=[(*box, tuple(held)) for box, held in owners.items()],
            )
        )
    return found


def sent_bytes(claim: Claim) -> np.ndarray:
    """Return the bytes that each device sends to each other, forward and backward together."""
    emitted = [one for part in claim.run.collectives.values() for one in part]
    return compare.sent_bytes(claim.program.mesh, emitted)
