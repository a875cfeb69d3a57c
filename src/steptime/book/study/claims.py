"""A claim about what a parallelism sends, with the program that was run to check it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jax.sharding import Mesh, PartitionSpec

from steptime.parallel import compare, devices
from steptime.parallel.program import Program, Run
from steptime.parallel.program import run as run_program
from steptime.parallel.training import Training, TrainingRun, train

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
    program: Program | Training
    run: Run | TrainingRun

    @property
    def block(self) -> Program:
        """The program of a claim about one forward and backward."""
        if isinstance(self.program, Program):
            return self.program
        raise TypeError(f"{self.program.name} is a training")

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
    def num_compared(self) -> int:
        """Arrays whose gradients were compared, or whose weights after all steps were."""
        if isinstance(self.run, Run):
            return len(self.run.gradient_errors)
        return len(self.run.weight_errors)


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


def tried(text: str, built: Program, *, annotations_only: bool = False) -> Claim:
    """Return a claim with its program compiled and run.

    Args:
        text: The sentence.
        built: What to run.
        annotations_only: Whether the compiler gets the unsplit program and annotations.
    """
    return Claim(
        text=text, program=built, run=run_program(built, annotations_only=annotations_only)
    )


def trained(text: str, built: Training) -> Claim:
    """Return a claim with its training compiled and its steps taken.

    Args:
        text: The sentence.
        built: What to run.
    """
    return Claim(text=text, program=built, run=train(built))


def slices(built: Program, views: Mapping[str, tuple[int, int]], note: str = "") -> list[Slices]:
    """Return who holds what of some of a program's inputs, as JAX places them.

    Args:
        built: The program.
        views: For each array, the axis to draw downwards and the one to draw across.
        note: What to add to each name.
    """
    return [
        cut(built.mesh, name + note, built.inputs[name].shape, built.specs[name], view)
        for name, view in views.items()
    ]


def cut(
    mesh: Mesh, name: str, shape: tuple[int, ...], spec: PartitionSpec, view: tuple[int, int]
) -> Slices:
    """Return who holds what of one array.

    Args:
        mesh: Devices.
        name: What to call the array.
        shape: Its whole shape.
        spec: How it is cut.
        view: The axis to draw downwards and the one to draw across.
    """
    down, across = view
    owners: dict[tuple[int, int, int, int], list[int]] = {}
    for device, where in enumerate(devices.index_map(mesh, spec, shape)):
        owners.setdefault((*where[down], *where[across]), []).append(device)
    return Slices(
        name=name,
        rows=shape[down],
        columns=shape[across],
        parts=[(*box, tuple(held)) for box, held in owners.items()],
    )


def own_sent_bytes(claim: Claim) -> float:
    """Return the bytes that one device sends on average, forward and backward together."""
    matrix = sent_bytes(claim)
    return float(matrix.sum()) / len(matrix)


def sent_bytes(claim: Claim) -> np.ndarray:
    """Return the bytes that each device sends to each other, forward and backward together."""
    emitted = [one for part in claim.run.collectives.values() for one in part]
    return compare.sent_bytes(claim.program.mesh, emitted)
