"""A timeline as text: one line a rank, kind and micro-batch in each action's slots."""

from __future__ import annotations

from math import gcd
from typing import Any

from steptime.pipeline.codes import KINDS, kind_of
from steptime.pipeline.timeline import Timeline

MOST_BANDS = 4

Segment = tuple[str, str]
"""A piece of text and what it shows: F, B, I, W, "." for idle, "" for anything else."""


def drawing(timeline: Timeline, columns: int = 80) -> list[list[Segment]]:
    """Return the lines of a drawing that is exact where it can be.

    A slot takes as many columns as the longest label needs, and the drawing goes on in
    further bands where it is too wide. If that would be more than four bands, one column
    stands for many slots and shows what fills most of them; the head line says so.

    Args:
        timeline: Any; of a deadlock, what ran is drawn.
        columns: Width to keep within.
    """
    margin = len(str(timeline.ranks - 1)) + 6
    room = max(20, columns - margin)
    boxes = [_boxes(timeline, rank) for rank in range(timeline.ranks)]
    makespan = max((end for row in boxes for _, end, _, _ in row), default=0)
    step = _common_step(boxes)
    label = 1 + len(str(timeline.micro_batches - 1))
    for width in range(label, 0, -1):
        if makespan * width <= room * step * MOST_BANDS:
            return _bands(timeline, boxes, makespan, room, (width, step))
    return _coarse(timeline, boxes, makespan, room)


def _boxes(timeline: Timeline, rank: int) -> list[tuple[Any, Any, str, int]]:
    """Return start, end, kind and micro-batch of a rank's actions, pairs cut in two halves."""
    size, stages = timeline.micro_batches, timeline.stages
    end = timeline.result["ends"][rank]
    start = timeline.result["starts"][rank]
    boxes: list[tuple[Any, Any, str, int]] = []
    for i in range(len(end)):
        code = timeline.orders[rank][i]
        kind = kind_of(code, stages, size)
        if kind < len(KINDS) and end[i] > start[i]:
            begin = start[i]
            if boxes and begin < boxes[-1][1]:
                # Both halves of a pair run all the time; the drawing gives each its share.
                first = boxes.pop()
                begin = (first[0] + first[1]) // 2 if first[1] - first[0] > 1 else first[1]
                boxes.append((first[0], begin, first[2], first[3]))
            boxes.append((begin, end[i], KINDS[kind], code % size))
    return boxes


def _common_step(boxes: list[list[tuple[Any, Any, str, int]]]) -> Any:
    """Return the longest slot that all starts and ends are whole numbers of."""
    step = 0
    for row in boxes:
        for begin, end, _, _ in row:
            if not isinstance(begin, int) or not isinstance(end, int):
                return max(end for other in boxes for _, end, _, _ in other) / 10_000
            step = gcd(step, begin, end)
    return step or 1


def _bands(
    timeline: Timeline,
    boxes: list[list[tuple[Any, Any, str, int]]],
    makespan: Any,
    room: int,
    scale: tuple[int, Any],
) -> list[list[Segment]]:
    width, step = scale
    rows = [_cells(row, makespan, width, step) for row in boxes]
    longest = max((sum(len(text) for text, _ in row) for row in rows), default=0)
    per_band = room // width * width
    unit = timeline.in_units(step)
    lines: list[list[Segment]] = []
    each = f"{width} columns" if width > 1 else "1 column"
    lines.append([(f"{each} = {unit:g} unit{'' if unit == 1 else 's'} of time", "")])
    for first in range(0, longest, per_band):
        if first:
            lines.append([(f"from {timeline.in_units(first // width * step):g}:", "")])
        for rank, row in enumerate(rows):
            label = f"rank {rank:<{len(str(timeline.ranks - 1))}} "
            lines.append([(label, ""), *_cut(row, first, first + per_band)])
    return lines


def _coarse(
    timeline: Timeline, boxes: list[list[tuple[Any, Any, str, int]]], makespan: Any, room: int
) -> list[list[Segment]]:
    step = makespan / room
    lines: list[list[Segment]] = [
        [
            (
                f"1 column = {timeline.in_units(step):.4g} units of time: F forward, B backward, "
                "x both, . mostly idle",
                "",
            )
        ]
    ]
    for rank, row in enumerate(boxes):
        forward, back = [0.0] * room, [0.0] * room
        for begin, end, kind, _ in row:
            shares = forward if kind == "F" else back
            for column in range(int(begin / step), min(room, int(end / step) + 1)):
                shares[column] += max(0, min(end, (column + 1) * step) - max(begin, column * step))
        label = f"rank {rank:<{len(str(timeline.ranks - 1))}} "
        marks = [_mark(f / step, b / step) for f, b in zip(forward, back, strict=True)]
        lines.append([(label, ""), *((mark, "" if mark == "x" else mark) for mark in marks)])
    return lines


def _mark(forward: float, back: float) -> str:
    if forward + back < 0.5:
        return "."
    if forward > 0.9 * (forward + back):
        return "F"
    return "B" if back > 0.9 * (forward + back) else "x"


def _cells(
    row: list[tuple[Any, Any, str, int]], makespan: Any, width: int, step: Any
) -> list[Segment]:
    cells: list[Segment] = []
    column = 0
    last = round(makespan / step) * width
    for begin, end, kind, micro_batch in row:
        first, stop = round(begin / step) * width, round(end / step) * width
        if first > column:
            cells.append(("." * (first - column), "."))
            column = first
        if stop > column:
            label = f"{kind}{micro_batch}"
            shown = label if len(label) <= stop - column else kind
            cells.append((shown.ljust(stop - column, "-"), kind))
            column = stop
    if last > column:
        cells.append(("." * (last - column), "."))
    return cells


def _cut(row: list[Segment], first: int, stop: int) -> list[Segment]:
    """Return the columns from ``first`` up to ``stop`` of a row of segments."""
    kept: list[Segment] = []
    at = 0
    for text, kind in row:
        piece = text[max(0, first - at) : max(0, stop - at)]
        if piece:
            kept.append((piece, kind))
        at += len(text)
    return kept
