"""Runs compared with constants that are fitted to them: what `validate --fit` does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from steptime.answer.known import DEFAULT
from steptime.answer.predictor import PREDICTORS
from steptime.evidence.judge import kept_out_as, validation
from steptime.evidence.schema import PublishedRow
from steptime.evidence.validate import Validation
from steptime.inputs.constants import published_constants
from steptime.inputs.errors import ConfigError

if TYPE_CHECKING:
    from steptime.evidence.own_fit import OwnFit

NOTHING_LEFT = "every row that can be predicted is kept out: nothing is left to fit to"


def check_fits(name: str, predictor: str, flag: str) -> None:
    """Refuse to fit a model that has no constants of a cluster.

    Args:
        name: Of the input, as it is asked.
        predictor: Name of the model.
        flag: How the other model is asked for.

    Raises:
        ConfigError: If it is another than the roofline model.
    """
    if not PREDICTORS[predictor].uses_software:
        raise ConfigError(f"{name} belongs to {flag}")


def fitted_validation(rows: Sequence[PublishedRow], path: Path) -> tuple[Validation, OwnFit | None]:
    """Return rows compared with constants fitted to them, which are written where worth it.

    Args:
        rows: A cluster's runs.
        path: Where the constants go.

    Returns:
        The comparison, and the fit; None where every row is kept out, as nobody can have measured
        it: then the published constants stand.

    Raises:
        ConfigError: If no row can be fitted to, or the file cannot be written.
    """
    from steptime.evidence.own_fit import own_fit, write_fit

    before = validation(rows, DEFAULT, published_constants())
    if before.rows and len(before.rows) == len(before.kept_out):
        return before, None
    fit = own_fit(rows)
    if fit.worth_it:
        write_fit(fit, path)
    return kept_out_as(validation(rows, DEFAULT, fit.constants), before), fit
