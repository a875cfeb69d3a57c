"""Constants for a user's own cluster: fitted to a few runs, held near the published ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from steptime.evidence.calibration import SCATTER
from steptime.evidence.samples import Table, samples, table
from steptime.evidence.schema import PublishedRow
from steptime.inputs.constants import RooflineConstants, published_constants, share_name
from steptime.inputs.datafiles import write_whole
from steptime.inputs.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FEWEST_ROWS = 3
FOLDS = 10
PRIOR = 0.15
"""Spread of a constant between clusters, in its logarithm: a lone row moves it little."""
# A run is set aside if its error is this many typical errors from the middle, and this large.
_STANDS_OUT = 3.5
_LEAST = math.log(1.15)
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
        scatter: Spread of the runs about the fit, in the logarithm of the step time.
        set_aside: Ids of runs that stand out so far that they were not fitted to.
    """

    constants: RooflineConstants
    fitted: tuple[OwnConstant, ...]
    rows: int
    mean_before: float
    mean_after: float
    mean_left_out: float
    scatter: float
    set_aside: tuple[str, ...]

    @property
    def worth_it(self) -> bool:
        """Return whether runs that were left out are predicted better than before."""
        return self.mean_left_out < self.mean_before


def _names(runs: Table) -> list[str]:
    """Return the constants that the runs say something about."""
    # All of a generation's shares: a file that names one without bits speaks of all of them.
    own = {generation for generation, _ in runs.cells}
    chosen = [share_name(*cell) for cell in published_constants().efficiency if cell[0] in own]
    return [*chosen, *_COMMON]


def _solve(
    runs: Table,
    used: Floats,
    names: Sequence[str],
    base: RooflineConstants,
    scatter: float = SCATTER,
    loss: Literal["soft_l1", "cauchy"] = "soft_l1",
) -> tuple[Floats, Floats]:
    """Return the fitted logarithms and their standard deviations."""
    import numpy as np
    from scipy.optimize import least_squares

    first = np.array([base.values()[name] for name in names])

    def residuals(x: Floats) -> Floats:
        values = first * np.exp(x)
        trial = base.changed(dict(zip(names, map(float, values), strict=True)))
        return np.concatenate([used * runs.errors(trial) / scatter, x / PRIOR])

    found = least_squares(residuals, np.zeros(len(names)), loss=loss, diff_step=[1e-3] * len(names))
    slopes = np.asarray(found.jac, dtype=np.float64)
    covariance = np.linalg.inv(slopes.T @ slopes)
    return found.x, np.sqrt(np.diag(covariance))


def _left_out(
    runs: Table,
    names: Sequence[str],
    base: RooflineConstants,
    constants: Callable[[Floats], RooflineConstants],
    scatter: float,
) -> Floats:
    """Return the size of each run's error with its fold left out of the fit."""
    import numpy as np

    count = len(runs.samples)
    folds = np.arange(count) % min(count, FOLDS)
    errors = np.empty(count)
    for fold in np.unique(folds):
        out = folds == fold
        found, _ = _solve(runs, np.where(out, 0.0, 1.0), names, base, scatter)
        errors[out] = np.abs(runs.errors(constants(found)))[out]
    return errors


def _spread(errors: Floats) -> tuple[float, float]:
    """Return the middle of some errors and how far they typically lie from it."""
    import numpy as np

    middle = float(np.median(errors))
    return middle, 1.4826 * float(np.median(np.abs(errors - middle)))


def _standing_out(errors: Floats) -> NDArray[np.bool_]:
    """Return which errors are too far from the others to be fitted to."""
    import numpy as np

    middle, spread = _spread(errors)
    far = np.abs(errors - middle) > max(_STANDS_OUT * max(spread, 0.03), _LEAST)
    # Half of the runs can not be the odd ones.
    return np.asarray(far if 2 * far.sum() < len(errors) else np.zeros(len(errors), bool))


def _fitted_constants(
    names: Sequence[str], found: RooflineConstants, spread: Floats, base: RooflineConstants
) -> tuple[OwnConstant, ...]:
    made = []
    for name, deviation in zip(names, map(float, spread), strict=True):
        value, factor = found.values()[name], math.exp(1.645 * deviation)
        published = base.values()[name]
        made.append(OwnConstant(name, value, value / factor, value * factor, published))
    return tuple(made)


def own_fit(rows: Sequence[PublishedRow]) -> OwnFit:
    """Return constants fitted to a user's runs.

    A first fit finds runs that stand out, and how far the others scatter; a second one leaves
    the former aside and trusts the latter as far as they agree.

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
        values = [base.values()[n] * math.exp(v) for n, v in zip(names, x, strict=True)]
        return base.changed(dict(zip(names, values, strict=True)))

    x, _ = _solve(runs, np.ones(len(chosen)), names, base, loss="cauchy")
    errors = runs.errors(constants(x))
    far = _standing_out(errors)
    kept = table([sample for sample, out in zip(chosen, far, strict=True) if not out])
    scatter = max(SCATTER, _spread(errors[~far])[1])
    x, spread = _solve(kept, np.ones(len(kept.samples)), names, base, scatter)
    found = constants(x)
    left_out = _left_out(kept, names, base, constants, scatter)
    return OwnFit(
        constants=found,
        fitted=_fitted_constants(names, found, spread, base),
        rows=len(kept.samples),
        mean_before=float(np.abs(kept.errors(base)).mean()),
        mean_after=float(np.abs(kept.errors(found)).mean()),
        mean_left_out=float(left_out.mean()),
        scatter=scatter,
        set_aside=tuple(sample.id for sample, out in zip(chosen, far, strict=True) if out),
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
        *(["# Not fitted to: " + ", ".join(fit.set_aside)] if fit.set_aside else []),
        "[constants]",
        *(f"{one.name} = {one.value!r}" for one in fit.fitted),
        "",
        "[interval]",
        *(f"{one.name} = [{one.low!r}, {one.high!r}]" for one in fit.fitted),
        "",
    ]
    try:
        write_whole(path, "\n".join(lines))
    except OSError as error:
        raise ConfigError(f"cannot write --fit {path}: {error.strerror or error}") from None
