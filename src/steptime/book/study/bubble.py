"""§12: the bubble by formula and by simulation, over a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steptime.formulas import bubble
from steptime.pipeline.measure import bubble as measured
from steptime.pipeline.timeline import simulate


@dataclass(frozen=True, slots=True, kw_only=True)
class BubbleRow:
    """One schedule at one size, both ways of counting, both ways of finding out.

    Attributes:
        schedule: Its name.
        stages: Pipeline ranks, p.
        micro_batches: Micro-batches, m.
        chunks: Chunks a rank holds, v.
        formula_overhead: Idle over useful time by formula.
        simulated_overhead: The same from the executor's whole slots.
        formula_fraction: Idle over step time by formula.
        simulated_fraction: The same from the executor.
    """

    schedule: str
    stages: int
    micro_batches: int
    chunks: int
    formula_overhead: float
    simulated_overhead: float
    formula_fraction: float
    simulated_fraction: float

    @property
    def equal(self) -> bool:
        """Whether formula and simulation agree to the last bit, both ways."""
        return (
            self.formula_overhead == self.simulated_overhead
            and self.formula_fraction == self.simulated_fraction
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BubbleStudy:
    """The rows shown, and a wider grid that is only counted.

    Attributes:
        rows: Shown in the table.
        checked: Every cell of the wider grid.
        left_out: Stages and micro-batches of which no interleaved row is shown: the formula is of
            at least one micro-batch a stage, fewer leave every chunk but the last waiting.
    """

    rows: tuple[BubbleRow, ...]
    checked: tuple[BubbleRow, ...]
    left_out: tuple[tuple[int, int], ...] = ()

    @property
    def unequal(self) -> int:
        """Cells of both where formula and simulation differ in any bit."""
        return sum(not row.equal for row in (*self.rows, *self.checked))

    @property
    def compared(self) -> int:
        """Cells of both."""
        return len(self.rows) + len(self.checked)

    def at(self, schedule: str, stages: int, micro_batches: int, chunks: int = 1) -> BubbleRow:
        """Return the cell of one schedule at one size, simulated anew if it is not there.

        Args:
            schedule: Its name.
            stages: Pipeline ranks, p.
            micro_batches: Micro-batches, m.
            chunks: Chunks a rank holds, v.
        """
        wanted = (schedule, stages, micro_batches, chunks)
        for row in self.rows:
            if (row.schedule, row.stages, row.micro_batches, row.chunks) == wanted:
                return row
        return bubble_row(*wanted)


def bubble_row(schedule: str, stages: int, micro_batches: int, chunks: int) -> BubbleRow:
    """Return one cell of the grid.

    Args:
        schedule: gpipe, 1f1b or interleaved-1f1b.
        stages: Pipeline ranks, p.
        micro_batches: Micro-batches, m.
        chunks: Chunks a rank holds, v.
    """
    step = simulate(schedule, stages, micro_batches, chunks)
    found = measured(step.orders, step.result)
    sizes = (float(stages), float(micro_batches), float(chunks))
    return BubbleRow(
        schedule=schedule,
        stages=stages,
        micro_batches=micro_batches,
        chunks=chunks,
        formula_overhead=float(bubble.bubble_overhead(*sizes)),
        simulated_overhead=found["bubble_overhead"],
        formula_fraction=float(bubble.bubble_fraction(*sizes)),
        simulated_fraction=found["bubble_fraction"],
    )


def bubble_study(
    num_stages: Sequence[int],
    num_microbatches: Sequence[int],
    num_chunks: Sequence[int],
    most_stages: int,
) -> BubbleStudy:
    """Return the grid of the table, and every size up to some number of stages.

    Args:
        num_stages: Pipeline ranks p of the table.
        num_microbatches: Micro-batches m of the table.
        num_chunks: Chunks v of the table's interleaved rows.
        most_stages: The wider grid has p from 1 to this, v from 2 to 4 (1 at p = 1), m up to 4 p.
    """
    wide = range(1, most_stages + 1)
    return BubbleStudy(
        rows=tuple(
            bubble_row(name, p, m, v)
            for p in num_stages
            for m in num_microbatches
            for name, v in _schedules(p, num_chunks)
            if v == 1 or m >= p
        ),
        left_out=tuple((p, m) for p in num_stages for m in num_microbatches if m < p),
        checked=tuple(
            bubble_row(name, p, p * rounds, v)
            for p in wide
            for rounds in (1, 2, 3, 4)
            for name, v in _schedules(p, (2, 3, 4))
        ),
    )


def _schedules(stages: int, chunks: Sequence[int]) -> list[tuple[str, int]]:
    # One stage is not cut into chunks.
    many = chunks if stages > 1 else ()
    return [("gpipe", 1), ("1f1b", 1), *(("interleaved-1f1b", v) for v in many)]
