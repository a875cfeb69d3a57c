"""Layouts of one number of stages as a product: sizes against chunks against micro-batches.

Most parts of a step depend on few of the sizes: those of a layer on nothing of its chunks, those
of a message on no micro-batch. Kept on axes of their own, each is computed once for all layouts
that share it, by broadcasting; every value still comes from the operations that give it alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steptime.inputs.fields import SIZES

Rows = NDArray[np.float64]
Mask = NDArray[np.bool_]

OUTER_FIELDS = tuple(size for size in SIZES if size != "vpp")
CHUNK_FIELDS = ("vpp", "schedule")
ROW_FIELDS = (*OUTER_FIELDS, *CHUNK_FIELDS, "micro_batch_size")
"""Columns of a row: all that is not a switch (recomputation, ZeRO, sequence parallel)."""

_DATA = OUTER_FIELDS.index("dp")


@dataclass(frozen=True, slots=True)
class Grid:
    """Every combination of sizes, chunks and micro-batches.

    Attributes:
        outer: One row a set of sizes, shape ``(sizes, 7)``.
        chunks: Chunks and schedule, shape ``(chunks, 2)``; all of these schedules keep as many
            copies of a weight.
        micro: Micro-batch sizes, shape ``(micro,)``.
    """

    outer: Rows
    chunks: Rows
    micro: Rows

    @property
    def shape(self) -> tuple[int, int, int]:
        """Lengths of the three axes."""
        return len(self.outer), len(self.chunks), len(self.micro)

    def rows(self) -> Rows:
        """Return the combinations one after another, shape ``(sizes x chunks x micro, 10)``."""
        sizes, chunks, micro = self.shape
        inner = np.hstack(
            [np.repeat(self.chunks, micro, axis=0), np.tile(self.micro, chunks).reshape(-1, 1)]
        )
        left = np.repeat(self.outer, len(inner), axis=0)
        return np.hstack([left, np.tile(inner, (sizes, 1))])

    def first_rows(self) -> Rows:
        """Return the first combination of each set of sizes, shape ``(sizes, 10)``."""
        inner = np.append(self.chunks[0], self.micro[0])
        return np.hstack([self.outer, np.tile(inner, (len(self.outer), 1))])

    def columns(self, switches: int) -> dict[str, Rows]:
        """Return each field of a layout on its axis, to broadcast against the others.

        Args:
            switches: Axes that follow those of the grid.
        """
        tail = (1,) * switches
        found = {
            name: np.ascontiguousarray(self.outer[:, place]).reshape(-1, 1, 1, *tail)
            for place, name in enumerate(OUTER_FIELDS)
        }
        found |= {
            name: np.ascontiguousarray(self.chunks[:, place]).reshape(-1, 1, *tail)
            for place, name in enumerate(CHUNK_FIELDS)
        }
        return found | {"micro_batch_size": self.micro.reshape(-1, *tail)}


def pieces(grid: Grid, valid: Mask, most: int) -> Iterator[tuple[Grid, Mask]]:
    """Yield parts of a grid with little in them that is not valid, each with its mask.

    Sizes with the same data-parallel ranks allow the same micro-batches, so they go together;
    chunks and micro-batches that none of them allows are left out.

    Args:
        grid: To cut.
        valid: Which combinations are layouts, of the grid's shape.
        most: About how many combinations a part has.
    """
    order = np.argsort(grid.outer[:, _DATA], kind="stable")
    order = order[valid[order].any(axis=(1, 2))]
    start = 0
    while start < len(order):
        # Fewer micro-batches divide the batch of more ranks: the first sizes allow the most.
        inner: Mask = np.logical_or.reduce(valid[order[start:]], axis=0)
        each = max(1, int(inner.any(axis=1).sum() * inner.any(axis=0).sum()))
        places = order[start : start + max(1, most // each)]
        part = valid[places]
        chunks, micro = part.any(axis=(0, 2)), part.any(axis=(0, 1))
        yield (
            Grid(grid.outer[places], grid.chunks[chunks], grid.micro[micro]),
            part[:, chunks][:, :, micro],
        )
        start += len(places)
