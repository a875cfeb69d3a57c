"""§17b: the playbook's sweep, repeated measurements, and the picks of the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steptime.evidence.calibration import calibrate
from steptime.evidence.leave_out import all_runs
from steptime.evidence.noise_floor import Repeats, repeats
from steptime.evidence.samples import main_samples, sweep_samples, table


@dataclass(frozen=True, slots=True)
class Size:
    """The sweep's runs on one number of GPUs.

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


@dataclass(frozen=True, slots=True)
class SweepStudy:
    """What the sweep shows.

    Attributes:
        sizes: By number of GPUs.
        median: Median error up to 256 GPUs.
        median_in_server: The same where tensor parallelism stays in a server.
        pick: Median of the picks up to 256 GPUs.
        repeated: Spread of repeats on one software release.
        renewed: Spread over releases.
    """

    sizes: tuple[Size, ...]
    median: float
    median_in_server: float
    pick: float
    repeated: tuple[Repeats, ...]
    renewed: tuple[Repeats, ...]

    @property
    def pick_excess(self) -> float:
        """Return what the pick costs over the best measured, as a fraction."""
        return self.pick - 1.0


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
        if count <= 256:
            all_picks += picks
        sizes.append(
            Size(
                int(count),
                int(here.sum()),
                float(np.median(found[here])),
                float(np.quantile(found[here], 0.25)),
                float(np.median(picks)),
            )
        )
    healthy = gpus <= 256
    main = main_samples()
    return SweepStudy(
        tuple(sizes),
        float(np.median(found[healthy])),
        float(np.median(found[healthy & (jobs.tp <= 8)])),
        float(np.median(all_picks)),
        repeats(main, across_releases=False),
        repeats(main, across_releases=True),
    )
