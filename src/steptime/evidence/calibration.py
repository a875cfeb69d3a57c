"""Fitting the roofline model's constants to published runs.

Run as a module it writes the fitted values into ``data/roofline_constants.toml``; after that
`steptime.evidence.leave_out` has to be run for the intervals.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from steptime.answer.width import EXPERTS
from steptime.evidence.samples import Table, all_runs
from steptime.formulas.roofline import roofline_step, roofline_step_s
from steptime.inputs.constants import (
    SHARED,
    Cell,
    RooflineConstants,
    constant_entries,
    constants_from,
    fitted_names,
    share_cells,
    share_name,
)
from steptime.inputs.datafiles import data_path, write_whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

SCATTER = 0.05
"""Error that a good prediction makes: errors far beyond it count less and less (Cauchy)."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Constants that are fitted together, to dense runs in so many bits.

    Attributes:
        bits: Of the runs' products.
        names: Of the constants.
    """

    bits: int
    names: tuple[str, ...]


def stages() -> tuple[Stage, ...]:
    """Return what is fitted together: what all devices share with the widest products."""
    by_bits: dict[int, list[str]] = {}
    for cell in fitted_cells():
        by_bits.setdefault(cell[1], []).append(share_name(*cell))
    shared = [name for name in fitted_names() if name in SHARED]
    return tuple(
        Stage(bits, (*by_bits[bits], *(shared if place == 0 else ())))
        for place, bits in enumerate(sorted(by_bits, reverse=True))
    )


def fitted_cells() -> tuple[Cell, ...]:
    """Return the generations and bits whose share is fitted."""
    cells = share_cells()
    return tuple(cells[name] for name in fitted_names() if name in cells)


STAGES = stages()


def start() -> RooflineConstants:
    """Return the constants with each fitted one in the middle of its range."""
    return constants_from(
        {
            entry.name: (entry.low + entry.high) / 2.0 if entry.fitted else entry.value
            for entry in constant_entries()
        }
    )


def weights(units: Sequence[str], used: Flags) -> Floats:
    """Return a weight for each run: every unit counts the same, however many runs it has.

    Args:
        units: What each run is left out with.
        used: Which runs count.
    """
    import numpy as np

    names = np.array(units)
    result = np.zeros(len(names))
    for name in np.unique(names[used]):
        chosen = used & (names == name)
        result[chosen] = 1.0 / np.sqrt(chosen.sum())
    return result


def fit_stage(
    runs: Table, used: Flags, names: Sequence[str], constants: RooflineConstants
) -> RooflineConstants:
    """Return the constants with some of them fitted to the runs in use.

    Least squares of the logarithms' error over ``SCATTER``, robust by Cauchy's loss. Each
    constant is held towards the middle of its plausible range as by one run's error, so that
    one which nothing pins down stays there.

    Args:
        runs: Published runs.
        used: Which of them to fit to, shape (n,).
        names: Of the constants to fit.
        constants: All others stay as they are here.
    """
    import numpy as np
    from scipy.optimize import least_squares

    entries = {entry.name: entry for entry in constant_entries()}
    low = np.array([entries[name].low for name in names])
    high = np.array([entries[name].high for name in names])
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    weight = weights([sample.unit for sample in runs.samples], used)[used]
    chosen = subset(runs, used)

    def residuals(points: Iterable[Floats]) -> list[Floats]:
        each = list(points)
        values = [map(float, middle + half * x) for x in each]
        trials = [constants.changed(dict(zip(names, one, strict=True))) for one in values]
        errors = weight * errors_at(chosen, trials) / SCATTER
        return [np.concatenate([error, 0.5 * x]) for error, x in zip(errors, each, strict=True)]

    first = np.array([constants.values()[name] for name in names])
    begin = np.clip((first - middle) / half, -0.98, 0.98)

    def residual(x: Floats) -> Floats:
        return residuals([x])[0]

    def mapped(_: Callable[..., Any], points: Iterable[Any]) -> list[Any]:
        # All points of a slope at once: nearly all of an evaluation is as quick for ten as for one.
        return list(residuals(points))

    found = least_squares(
        residual,
        begin,
        bounds=(-1.0, 1.0),
        loss="cauchy",
        diff_step=[1e-3] * len(names),
        max_nfev=30,
        workers=mapped,
    )
    values = middle + half * found.x
    return constants.changed(dict(zip(names, map(float, values), strict=True)))


def errors_at(runs: Table, trials: Sequence[RooflineConstants]) -> Floats:
    """Return ln(predicted / measured step time) at each of some constants, shape (trials, n).

    Args:
        runs: Published runs.
        trials: The constants.
    """
    import numpy as np

    each = [trial.of_each(runs.cells) for trial in trials]
    columns = {}
    for name in (entry.name for entry in fields(each[0])):
        values = np.array([np.atleast_1d(getattr(one, name)) for one in each])
        # One number for what no trial changes is quicker than an array of it.
        columns[name] = float(values[0, 0]) if np.all(values == values[0, 0]) else values
    parts = roofline_step(runs.jobs, runs.stacks, replace(each[0], **columns))
    errors = np.log(roofline_step_s(parts) / runs.step_time_s)
    return np.broadcast_to(errors, (len(each), len(runs.samples)))


def subset(runs: Table, used: Flags) -> Table:
    """Return the runs of a table that are in use.

    Args:
        runs: Published runs.
        used: Which to keep, shape (n,).
    """
    from types import SimpleNamespace

    return Table(
        samples=tuple(sample for sample, keep in zip(runs.samples, used, strict=True) if keep),
        jobs=SimpleNamespace(**{name: values[used] for name, values in vars(runs.jobs).items()}),
        stacks=SimpleNamespace(
            **{name: values[used] for name, values in vars(runs.stacks).items()}
        ),
        step_time_s=runs.step_time_s[used],
        cells=tuple(cell for cell, keep in zip(runs.cells, used, strict=True) if keep),
    )


def calibrate(
    runs: Table, used: Flags | None = None, constants: RooflineConstants | None = None
) -> RooflineConstants:
    """Return the constants fitted stage by stage: dense runs in 16 bits first, then in fewer.

    What no run in use stands behind stays in the middle of its range.

    Args:
        runs: Published runs.
        used: Which of them may play a part, shape (n,); all that may if None.
        constants: Where to begin; the middle of all ranges if None.
    """
    import numpy as np

    bits = np.array([cell[1] for cell in runs.cells])
    allowed = runs.column(lambda sample: sample.fitted_to and sample.kind != EXPERTS)
    if used is not None:
        allowed = allowed & used
    result = constants or start()
    for stage in STAGES:
        chosen = allowed & (bits == stage.bits)
        if np.any(chosen):
            result = _fitted_once(runs, chosen.tobytes(), stage.names, result)
    return result


@functools.lru_cache(maxsize=256)
def _fitted_once(
    runs: Table, used: bytes, names: tuple[str, ...], constants: RooflineConstants
) -> RooflineConstants:
    """Return what `fit_stage` does: half of the fits without one unit have the same runs.

    A unit has runs of some stages alone, and many are left out both as a source and as a model.
    """
    import numpy as np

    return fit_stage(runs, np.frombuffer(used, dtype=np.bool_), names, constants)


def with_values(text: str, found: RooflineConstants) -> str:
    """Return the text of a data file with new values of the fitted constants, four digits each.

    Args:
        text: Of ``roofline_constants.toml`` or ``generations.toml``.
        found: Gives the values.
    """
    values = found.values()
    heads = {name: name for name in SHARED} | {
        share_name(*cell): f"{cell[0]}.efficiency.{cell[1]}" for cell in fitted_cells()
    }
    for name in fitted_names():
        value = f"value = {float(f'{values[name]:.4g}')!r}"
        head = re.escape(f"[{heads[name]}]\n")
        text = re.sub(rf"({head})value = .*", rf"\g<1>{value}", text)
    return text


def _refit() -> None:
    found = calibrate(all_runs())
    for name in ("roofline_constants.toml", "generations.toml"):
        path = data_path(name)
        write_whole(path, with_values(path.read_text("utf-8"), found))


if __name__ == "__main__":
    _refit()
