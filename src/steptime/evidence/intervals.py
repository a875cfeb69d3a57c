"""How sure a prediction is: intervals from the errors of comparable runs that were left out.

Split conformal: the errors of left-out runs are divided by a scale, which grows with the
share of the step that is no computing; nine tenths of them, and one for luck, set the width.
Where the software is assumed, errors lie around a middle that is not 0: what most software does
beside the assumed one. Both choices, and to compare such runs with their own kind alone, were
made after a look at the coverage and width that they give when units are left out.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from steptime.answer.width import DENSE, EXPERTS, KEYS, KINDS, NARROW
from steptime.evidence.residuals import Residual, residuals
from steptime.formulas.judgement import half_width
from steptime.formulas.records import Width
from steptime.inputs.datafiles import data_path, write_whole

COVERAGE = 0.9
FEWEST = 20
# Eight bits change products, not what else goes wrong: dense runs are compared together.
_TOGETHER = {DENSE: (DENSE, NARROW), NARROW: (DENSE, NARROW), EXPERTS: (EXPERTS,)}


def holds(width: Width, error: float, exposed: float) -> bool:
    """Return whether the interval of a run holds its measured step.

    Args:
        width: Of the interval.
        error: ln(predicted / measured).
        exposed: Share of the predicted step that is no computing.
    """
    half = half_width(width, exposed)
    return bool(min(width.middle - half, 0.0) <= error <= max(width.middle + half, 0.0))


def _line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return the least-squares line, its base at least a hundredth and its slope at least 0."""
    count = len(xs)
    mean_x, mean_y = math.fsum(xs) / count, math.fsum(ys) / count
    spread = math.fsum((x - mean_x) ** 2 for x in xs)
    across = math.fsum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    slope = max(across / spread, 0.0) if spread > 0.0 else 0.0
    return max(mean_y - slope * mean_x, 0.01), slope


def width(
    errors: Sequence[tuple[float, float]], coverage: float = COVERAGE, middle: float = 0.0
) -> Width | None:
    """Return the width that covers a share of runs like these, or None where there are too few.

    Args:
        errors: Exposed share and error of each left-out run.
        coverage: The share to cover.
        middle: What the errors lie around.

    References:
        vovk2005, Sec. 2.2; barber2021 for leaving groups out.
    """
    count = len(errors)
    if count < FEWEST:
        return None
    sizes = [abs(error - middle) for _, error in errors]
    base, slope = _line([x for x, _ in errors], sizes)
    scores = sorted(size / (base + slope * x) for (x, _), size in zip(errors, sizes, strict=True))
    rank = min(math.ceil(coverage * (count + 1)), count)
    return Width(factor=scores[rank - 1], base=base, slope=slope, runs=count, middle=middle)


def comparable_runs(
    rows: Iterable[Residual], kind: str, *, assumed: bool, without: str = ""
) -> list[Residual]:
    """Return the left-out runs that a prediction is compared with.

    Args:
        rows: Left-out errors.
        kind: Of the prediction.
        assumed: Whether its software is assumed, not known: what that costs differs by kind.
        without: A unit that may not be used.
    """
    kinds = (kind,) if assumed else _TOGETHER[kind]
    return [row for row in rows if row.kind in kinds and row.unit != without]


def width_of(
    rows: Iterable[Residual], kind: str, *, assumed: bool, without: str = ""
) -> Width | None:
    """Return the width of a prediction's interval, or None where too few runs are comparable.

    Args:
        rows: Left-out errors.
        kind: Of the prediction.
        assumed: Whether its software is assumed, not known.
        without: A unit that may not be used.
    """
    runs = comparable_runs(rows, kind, assumed=assumed, without=without)
    if not assumed:
        return width([(row.exposed, row.error) for row in runs])
    # What it costs in the middle not to know the software: the rest is error like any other.
    cost = median(row.assumed_error - row.error for row in runs) if runs else 0.0
    return width([(row.exposed, row.assumed_error) for row in runs], middle=cost)


def widths_text() -> str:
    """Return ``data/interval_widths.toml`` as the left-out errors in ``data/`` make it."""
    lines = [
        "# Widths of the intervals, in ln(step time): about `middle`, `factor` times `base`, plus",
        "# `slope` for each share of the step that is no computing. Made from",
        "# roofline_residuals.csv by `python -m steptime.evidence.intervals`; a test compares.",
        'source = "fitted: roofline_residuals.csv, the errors of left-out runs"',
    ]
    for kind in KINDS:
        for known in (True, False):
            found = width_of(residuals(), kind, assumed=not known)
            if found is not None:
                lines += ["", f"[{KEYS[kind]}-{'known' if known else 'assumed'}]"]
                lines += [f"{name} = {value!r}" for name, value in asdict(found).items()]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often intervals made without a unit hold that unit's runs.

    Attributes:
        kind: Of the runs.
        runs: How many.
        covered: Share of them inside.
        half_width: Median half-width, as a fraction of the prediction.
    """

    kind: str
    runs: int
    covered: float
    half_width: float


def coverage(rows: Sequence[Residual], kind: str, *, assumed: bool) -> Coverage:
    """Return the coverage of a kind's intervals, each unit's made from the other units.

    Args:
        rows: Left-out errors.
        kind: One of `steptime.evidence.residuals.KINDS`.
        assumed: Whether the software is assumed.
    """
    inside, halves = 0, []
    chosen = [row for row in rows if row.kind == kind]
    for row in chosen:
        found = _width_without(tuple(rows), kind, assumed, row.unit)
        if found is None:
            continue
        halves.append(math.exp(half_width(found, row.exposed)) - 1.0)
        inside += holds(found, row.assumed_error if assumed else row.error, row.exposed)
    halves.sort()
    return Coverage(
        kind, len(halves), inside / max(len(halves), 1), halves[len(halves) // 2] if halves else 0.0
    )


@functools.lru_cache(maxsize=256)
def _width_without(rows: tuple[Residual, ...], kind: str, assumed: bool, unit: str) -> Width | None:
    return width_of(rows, kind, assumed=assumed, without=unit)


if __name__ == "__main__":
    write_whole(data_path("interval_widths.toml"), widths_text())
