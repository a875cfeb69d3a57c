"""§17b: the playbook's sweep, repeated measurements, and the picks of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steptime.evidence.calibration import calibrate
from steptime.evidence.noise_floor import Repeats, repeats
from steptime.evidence.samples import (
    SICK_OVER_GPUS,
    Table,
    all_runs,
    main_samples,
    sweep_samples,
    table,
)

# Runs fall into two kinds: near their prediction, or a second and more late for every
# micro-batch, whatever the layout. Twice the prediction parts them.
STALLED = 2.0


@dataclass(frozen=True, slots=True)
class Pick:
    """The layout that the model calls the fastest for one model size on some GPUs.

    Attributes:
        excess: Its measured time over the best measured.
        stalled: Whether it took over ``STALLED`` times its prediction.
    """

    excess: float
    stalled: bool


@dataclass(frozen=True, slots=True)
class Size:
    """The sweep's runs on one number of GPUs, or on all up to it.

    Attributes:
        gpus: How many.
        runs: How many layouts ran.
        median: Median error, source left out.
        quarter: Error that a quarter of the runs stay under.
        pick: Measured time of the model's pick over the best measured, median over model sizes.
        stalled: Share of the runs that took over ``STALLED`` times their prediction.
        healthy_median: Median error of the others.
        picks: How many model sizes have a pick.
        stalled_picks: How many of the picks stalled.
    """

    gpus: int
    runs: int
    median: float
    quarter: float
    pick: float
    stalled: float
    healthy_median: float
    picks: int
    stalled_picks: int

    @property
    def pick_excess(self) -> float:
        """Return what the pick costs over the best measured, as a fraction."""
        return self.pick - 1.0


@dataclass(frozen=True, slots=True)
class SweepStudy:
    """What the sweep shows.

    Attributes:
        sizes: By number of GPUs.
        whole: All runs up to 256 GPUs, the picks over every model on every number of GPUs.
        median_in_server: Median error up to 256 GPUs where tensor parallelism stays in a server.
        repeated: Spread of repeats on one software release.
        renewed: Spread over releases.
    """

    sizes: tuple[Size, ...]
    whole: Size
    median_in_server: float
    repeated: tuple[Repeats, ...]
    renewed: tuple[Repeats, ...]

    @property
    def worst_pick(self) -> Size:
        """Return the number of GPUs, up to 256, whose picks cost most."""
        known = [one for one in self.sizes if one.gpus <= self.whole.gpus]
        return max(known, key=lambda one: one.pick)


def _size(gpus: int, errors: NDArray[np.float64], picks: Sequence[Pick]) -> Size:
    sizes, stalled = np.abs(errors), errors < -np.log(STALLED)
    return Size(
        gpus,
        len(errors),
        float(np.median(sizes)),
        float(np.quantile(sizes, 0.25)),
        float(np.median([one.excess for one in picks])),
        float(stalled.mean()),
        float(np.median(sizes[~stalled])) if not stalled.all() else float("nan"),
        len(picks),
        sum(one.stalled for one in picks),
    )


def _picks(sweep: Table, errors: NDArray[np.float64], here: NDArray[np.bool_], least: int) -> Any:
    found = []
    for width in np.unique(sweep.jobs.hidden_size):
        rows = np.flatnonzero(here & (sweep.jobs.hidden_size == width))
        if len(rows) >= least:
            times = sweep.step_time_s[rows]
            best = int(np.argmin(times * np.exp(errors[rows])))
            late = bool(errors[rows][best] < -np.log(STALLED))
            found.append(Pick(float(times[best] / times.min()), late))
    return found


def sweep_study(least_layouts: int) -> SweepStudy:
    """Return the sweep by its source's left-out constants.

    Args:
        least_layouts: Layouts that a model size needs on some GPUs for its pick to count.
    """
    runs = all_runs()
    constants = calibrate(runs, runs.column(lambda sample: sample.unit) != "nanotron")
    sweep = table(sweep_samples())
    jobs = sweep.jobs
    errors = sweep.errors(constants)
    gpus = jobs.tp * jobs.cp * jobs.pp * jobs.dp
    sizes, all_picks = [], []
    for count in np.unique(gpus):
        here = gpus == count
        picks = _picks(sweep, errors, here, least_layouts)
        if count <= SICK_OVER_GPUS:
            all_picks += picks
        sizes.append(_size(int(count), errors[here], picks))
    healthy = gpus <= SICK_OVER_GPUS
    main = main_samples()
    return SweepStudy(
        tuple(sizes),
        _size(SICK_OVER_GPUS, errors[healthy], all_picks),
        float(np.median(np.abs(errors[healthy & (jobs.tp <= 8)]))),
        repeats(main, across_releases=False),
        repeats(main, across_releases=True),
    )
