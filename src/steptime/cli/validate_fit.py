"""What `steptime validate --fit` learns, writes and prints."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steptime.cli.output import console, percent, print_table
from steptime.evidence.fitted import NOTHING_LEFT

if TYPE_CHECKING:
    from steptime.evidence.own_fit import OwnFit

NO_FIT: dict[str, Any] = {"rows": 0, "worth_it": False, "written": None, "refused": NOTHING_LEFT}
"""What is told where every row is kept out."""


def print_worth(fit: OwnFit) -> None:
    """Print what a fit buys, and which rows it was not made from.

    Args:
        fit: Constants of a cluster.
    """
    out = console()
    left_out = (
        f"{percent(fit.mean_left_out)} when each run is left out of its own fit"
        if fit.mean_left_out is not None
        else "too few runs to leave one out: no more is learned than sources are known to differ"
    )
    out.print(
        f"mean error in ln(step time) {percent(fit.mean_before)} with the published constants, "
        f"{percent(fit.mean_after)} with these, {left_out}; runs scatter by {percent(fit.scatter)}"
    )
    if fit.set_aside:
        out.print("not fitted to, as they stand out: " + ", ".join(fit.set_aside), markup=False)


def fit_dict(fit: OwnFit, path: Path) -> dict[str, Any]:
    """Return a fit as JSON holds it.

    Args:
        fit: Constants of a cluster.
        path: Where they were written.
    """
    found = asdict(fit)
    del found["constants"]
    return found | {"worth_it": fit.worth_it, "written": str(path) if fit.worth_it else None}


def print_fit(fit: OwnFit, path: Path) -> None:
    """Print the constants of a cluster.

    Args:
        fit: The constants.
        path: Where they were written.
    """
    out = console()
    if fit.refused:
        out.print(f"no constants are learned, and nothing is written to {path}", markup=False)
        return
    if not fit.worth_it:
        out.print(
            f"left-out runs gain nothing by a fit to {fit.rows} rows: keep the published "
            f"constants; nothing is written to {path}",
            markup=False,
        )
        print_worth(fit)
        return
    heads = (("learned", "left"), ("times published", "right"), ("90 %", "right"))
    cells = [
        (one.name, f"{one.value:.3f}", f"{one.low:.3f} to {one.high:.3f}") for one in fit.learned
    ]
    print_table(f"learned from {fit.rows} rows, written to {path}", heads, cells)
    moved = ", ".join(f"{one.name} {one.published:.4g} to {one.value:.4g}" for one in fit.fitted)
    out.print(f"constants moved: {moved}", markup=False)
    print_worth(fit)
