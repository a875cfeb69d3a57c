"""Constants for a user's own cluster: fitted to a few runs, held near the published ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from steptime.evidence.calibration import SCATTER
from steptime.evidence.samples import Table, samples, table
from steptime.evidence.schema import PublishedRow
from steptime.inputs.constants import RooflineConstants, published_constants
from steptime.inputs.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FEWEST_ROWS = 3
FOLDS = 10
PRIOR = 0.15
"""Spread of a constant between clusters, in its logarithm: a lone row moves it little."""
_BY_GENERATION = ("ampere_efficiency", "hopper_efficiency", "blackwell_efficiency")
_COMMON = ("hbm_efficiency", "link_efficiency", "network_efficiency")


@dataclass(frozen=True, slots=True)
class OwnConstant:
    """One constant of a cluster.

    Attributes:
        name: Field of `RooflineConstants`.
        value: Fitted.
        low: Lower end of its 90 % interval.
        high: Upper end.
        published: The value it was held near.
    """

    name: str
    value: float
    low: float
    high: float
    published: float


@dataclass(frozen=True, slots=True)
class OwnFit:
    """The constants of a cluster, and what they buy.

    Attributes:
        constants: All constants, the fitted ones changed.
        fitted: The fitted ones.
        rows: Runs that were fitted to.
        mean_before: Mean error with the published constants.
        mean_after: Mean error with the fitted ones.
        mean_left_out: Mean error when each run, or each tenth of them, is left out of its fit.
    """

    constants: RooflineConstants
    fitted: tuple[OwnConstant, ...]
    rows: int
    mean_before: float
    mean_after: float
    mean_left_out: float


def _names(runs: Table) -> list[str]:
    """Return the constants that the runs say something about."""
    present = {sample.inputs.run.accelerator.generation for sample in runs.samples}
    chosen = [name for name in _BY_GENERATION if name.split("_")[0] in present]
    return [*chosen, *_COMMON]


def _solve(
    runs: Table, used: Floats, names: Sequence[str], base: RooflineConstants
) -> tuple[Floats, Floats]:
    """Return the fitted logarithms and their standard deviations."""
    import numpy as np
    from scipy.optimize import least_squares

    first = np.array([getattr(base, name) for name in names])

    def residuals(x: Floats) -> Floats:
        values = first * np.exp(x)
        trial = replace(base, **dict(zip(names, map(float, values), strict=True)))
        return np.concatenate([used * runs.errors(trial) / SCATTER, x / PRIOR])

    found = least_squares(
        residuals, np.zeros(len(names)), loss="soft_l1", diff_step=[1e-3] * len(names)
    )
    slopes = np.asarray(found.jac, dtype=np.float64)
    covariance = np.linalg.inv(slopes.T @ slopes)
    return found.x, np.sqrt(np.diag(covariance))


def _left_out(
    runs: Table,
    names: Sequence[str],
    base: RooflineConstants,
    constants: Callable[[Floats], RooflineConstants],
) -> Floats:
    """Return the size of each run's error with its fold left out of the fit."""
    import numpy as np

    count = len(runs.samples)
    folds = np.arange(count) % min(count, FOLDS)
    errors = np.empty(count)
    for fold in np.unique(folds):
        out = folds == fold
        found, _ = _solve(runs, np.where(out, 0.0, 1.0), names, base)
        errors[out] = np.abs(runs.errors(constants(found)))[out]
    return errors


def own_fit(rows: Sequence[PublishedRow]) -> OwnFit:
    """Return constants fitted to a user's runs.

    Args:
        rows: The runs; those that cannot be predicted are left aside.

    Raises:
        ConfigError: If fewer than three can be.
    """
    import numpy as np

    chosen = samples(rows)
    if len(chosen) < FEWEST_ROWS:
        raise ConfigError(
            f"--fit needs at least {FEWEST_ROWS} rows that can be predicted, got {len(chosen)}"
        )
    runs, base = table(chosen), published_constants()
    names = _names(runs)

    def constants(x: Floats) -> RooflineConstants:
        values = [getattr(base, n) * math.exp(v) for n, v in zip(names, x, strict=True)]
        return replace(base, **dict(zip(names, values, strict=True)))

    x, spread = _solve(runs, np.ones(len(chosen)), names, base)
    found = constants(x)
    left_out = _left_out(runs, names, base, constants)
    fitted = tuple(
        OwnConstant(
            name,
            getattr(found, name),
            getattr(found, name) * math.exp(-1.645 * float(deviation)),
            getattr(found, name) * math.exp(1.645 * float(deviation)),
            getattr(base, name),
        )
        for name, deviation in zip(names, spread, strict=True)
    )
    return OwnFit(
        found,
        fitted,
        len(chosen),
        float(np.abs(runs.errors(base)).mean()),
        float(np.abs(runs.errors(found)).mean()),
        float(left_out.mean()),
    )


def write_fit(fit: OwnFit, path: Path) -> None:
    """Write a fit as a file that ``--constants`` takes.

    Args:
        fit: The fit.
        path: File to write.

    Raises:
        ConfigError: If it cannot be written.
    """
    lines = [
        "# Constants of the roofline model fitted to your runs; give this file to --constants.",
        f"# {fit.rows} runs: mean error {100 * fit.mean_before:.1f} % with the published",
        f"# constants, {100 * fit.mean_after:.1f} % with these, {100 * fit.mean_left_out:.1f} %",
        "# when each run is left out of its own fit.",
        "[constants]",
        *(f"{one.name} = {one.value!r}" for one in fit.fitted),
        "",
        "[interval]",
        *(f"{one.name} = [{one.low!r}, {one.high!r}]" for one in fit.fitted),
        "",
    ]
    try:
        path.write_text("\n".join(lines), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
