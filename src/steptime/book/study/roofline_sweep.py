"""§17b: the playbook's sweep, repeated measurements, and the picks of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steptime.evidence.calibration import calibrate
from steptime.evidence.leave_out import all_runs
from steptime.evidence.noise_floor import Repeats, repeats
from steptime.evidence.samples import SICK_OVER_GPUS, main_samples, sweep_samples, table


@dataclass(frozen=True, slots=True)
class Size:
    """The sweep's runs on one number of GPUs, or on all up to it.

    Attributes:
        gpus: How many.
        runs: How many layouts ran.
        median: Median error, source left out.
        quarter: Error that a quarter of the runs stay under.
        pick: Measured time of the model's pick over the best measured, median over model sizes.
    """

    gpus: int
    runs: int
    median: float
    quarter: float
    pick: float

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


def _size(gpus: int, found: NDArray[np.float64], picks: Sequence[float]) -> Size:
    return Size(
        gpus,
        len(found),
        float(np.median(found)),
        float(np.quantile(found, 0.25)),
        float(np.median(picks)),
    )


def sweep_study(least_layouts: int) -> SweepStudy:
    """Return the sweep by its source's left-out constants.

    Args:
        least_layouts: Layouts that a model size needs on some GPUs for its pick to count.
    """
    runs = all_runs()
    constants = calibrate(runs, runs.column(lambda sample: sample.unit) != "nanotron")
    sweep = table(sweep_samples())
    jobs = sweep.jobs
    found = np.abs(sweep.errors(constants))
    predicted = np.exp(sweep.errors(constants)) * sweep.step_time_s
    gpus = jobs.tp * jobs.cp * jobs.pp * jobs.dp
    sizes, all_picks = [], []
    for count in np.unique(gpus):
        here = gpus == count
        picks = []
        for width in np.unique(jobs.hidden_size):
            rows = np.flatnonzero(here & (jobs.hidden_size == width))
            if len(rows) >= least_layouts:
                times = sweep.step_time_s[rows]
                picks.append(float(times[np.argmin(predicted[rows])] / times.min()))
        if count <= SICK_OVER_GPUS:
            all_picks += picks
        sizes.append(_size(int(count), found[here], picks))
    healthy = gpus <= SICK_OVER_GPUS
    main = main_samples()
    return SweepStudy(
        tuple(sizes),
        _size(SICK_OVER_GPUS, found[healthy], all_picks),
        float(np.median(found[healthy & (jobs.tp <= 8)])),
        repeats(main, across_releases=False),
        repeats(main, across_releases=True),
    )
