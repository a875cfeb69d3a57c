"""Published runs as arrays: all of them predicted at once, grouped by source and by kind."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from steptime.answer.reach import MOST_ATTENTION
from steptime.answer.width import kind_of
from steptime.evidence.contradictions import no_measurement
from steptime.evidence.measured import published_step_time_s
from steptime.evidence.row_question import RunQuestion, roofline_question
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.evidence.sweeps import figure_rows, playbook_rows
from steptime.formulas.flops import attention_share
from steptime.formulas.records import StepParts, TimeFacts
from steptime.formulas.roofline import roofline_step, roofline_step_s
from steptime.inputs.constants import Cell, RooflineConstants
from steptime.inputs.job import Job
from steptime.inputs.precision import precision_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Over 256 GPUs the playbook's cluster stalled: those runs are told apart.
SICK_OVER_GPUS = 256
# Its sweep is fitted to on one server only, where no network can stall.
ONE_SERVER = 8
# MT-NLG ran a fifth slower than the same layout did for narayanan2021: scored, not fitted to.
NOT_FITTED = ("mtnlg",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One published run with its measured step.

    Attributes:
        inputs: What the model takes.
        step_time_s: Measured.
        source: Who measured it: the part of the id before the last dash.
        kind: One of `steptime.evidence.residuals.KINDS`.
        unit: What weighs the same in a fit: the source, or the model where one source had all.
        origin: What is left out together: all rows of one source, its figures and sweeps too.
        sick: Whether it ran on more of the playbook's cluster than was healthy.
        fitted_to: Whether it may play a part in a constant.
    """

    inputs: RunQuestion
    step_time_s: float
    source: str
    kind: str
    unit: str
    origin: str
    sick: bool
    fitted_to: bool

    @property
    def cell(self) -> Cell:
        """Return the generation and the bits that its share of the matrix rate is for."""
        run = self.inputs.run
        return run.accelerator.generation, precision_named(run.layout.precision).bits

    @property
    def id(self) -> str:
        """Return the id of the row."""
        return self.inputs.run.id


def _family(row: PublishedRow) -> str:
    source = row.id.rsplit("-", 1)[0]
    return "nar21-figures" if source.startswith("nar21-fig") else source


def sample_of(row: PublishedRow) -> Sample:
    """Return a row as a sample.

    Args:
        row: A published run.

    Raises:
        Incomplete: If the model or the measurement lacks something.
    """
    inputs = roofline_question(run_of(row))
    source = _family(row)
    kind = kind_of(
        inputs.run.model.experts is not None, precision_named(inputs.run.layout.precision).fp8
    )
    together = {"playbook": "nanotron"}.get(source, source)
    if source.startswith("nar21"):
        together = "nar21"
    model = inputs.run.model.name.split(" (")[0]
    devices = inputs.run.layout.num_devices
    sick = together == "nanotron" and devices > SICK_OVER_GPUS
    return Sample(
        inputs=inputs,
        step_time_s=published_step_time_s(inputs.run),
        source=source,
        kind=kind,
        unit=f"{source} {model}" if source == "mbridge" else together,
        origin=together,
        sick=sick,
        fitted_to=not sick
        and source not in NOT_FITTED
        and (source != "playbook" or devices <= ONE_SERVER)
        and float(attention_share(inputs.job)) <= MOST_ATTENTION,
    )


def samples(rows: Iterable[PublishedRow]) -> tuple[Sample, ...]:
    """Return the rows that can be predicted and compared.

    Args:
        rows: Published runs.
    """
    kept = []
    for row in rows:
        try:
            kept.append(sample_of(row))
        except Incomplete:
            continue
    return tuple(kept)


@functools.cache
def main_samples() -> tuple[Sample, ...]:
    """Return the samples of ``data/published_runs.csv`` and of the Megatron-LM figures.

    Devices whose products nobody measured play no part: `beyond_samples` has their runs.
    """
    every = samples([*published_rows(), *figure_rows()])
    return tuple(one for one in every if not one.inputs.run.accelerator.inferred)


@functools.cache
def beyond_samples() -> tuple[Sample, ...]:
    """Return the published runs on devices whose rate of products is inferred.

    No constant was fitted to them, and no interval rests on them: they tell what an answer for a
    device that nobody measured is worth.
    """
    every = samples(published_rows())
    return tuple(one for one in every if one.inputs.run.accelerator.inferred)


@functools.cache
def sweep_samples() -> tuple[Sample, ...]:
    """Return the samples of the playbook's sweep."""
    return samples(playbook_rows())


def stacked(records: Sequence[Any], kind: Callable[..., Any]) -> Any:
    """Return one record whose fields are arrays, from many whose fields are numbers.

    Args:
        records: All of one kind.
        kind: The class they are of; a plain namespace is returned.
    """
    from types import SimpleNamespace

    import numpy as np

    names = [entry.name for entry in fields(kind)]  # type: ignore[arg-type]
    rows = np.array([*map(attrgetter(*names), records)], dtype=np.float64)
    return SimpleNamespace(**dict(zip(names, np.ascontiguousarray(rows.T), strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Samples as arrays, each table itself alone.

    Attributes:
        samples: The samples.
        jobs: Their records; each field has shape (n,).
        stacks: Their software; likewise.
        step_time_s: Measured, shape (n,).
        cells: Generation and bits of each.
    """

    samples: tuple[Sample, ...]
    jobs: Any
    stacks: Any
    step_time_s: Floats
    cells: tuple[Cell, ...]

    def parts(self, constants: RooflineConstants) -> StepParts:
        """Return the parts of all steps, each of shape (n,).

        Args:
            constants: Of the roofline model.
        """
        return roofline_step(self.jobs, self.stacks, constants.of_each(self.cells))

    def errors(self, constants: RooflineConstants) -> Floats:
        """Return ln(predicted / measured step time), shape (n,).

        Args:
            constants: Of the roofline model.
        """
        import numpy as np

        predicted = roofline_step_s(self.parts(constants))
        return np.asarray(np.log(predicted / self.step_time_s))

    def column(self, of: Callable[[Sample], Any]) -> Any:
        """Return one value of each sample as an array.

        Args:
            of: Gives the value.
        """
        import numpy as np

        return np.array([of(sample) for sample in self.samples])


def table(chosen: Sequence[Sample]) -> Table:
    """Return samples as arrays.

    Args:
        chosen: At least one sample.
    """
    import numpy as np

    return Table(
        samples=tuple(chosen),
        jobs=stacked([sample.inputs.job for sample in chosen], Job),
        stacks=stacked([sample.inputs.stack for sample in chosen], TimeFacts),
        step_time_s=np.array([sample.step_time_s for sample in chosen]),
        cells=tuple(sample.cell for sample in chosen),
    )


def measurable(chosen: Sequence[Sample], base: RooflineConstants) -> tuple[Sample, ...]:
    """Return the runs that one may have measured: no other teaches anything.

    Args:
        chosen: The runs.
        base: Constants to judge them by.
    """
    import numpy as np

    if not chosen:
        return ()
    times = np.exp(table(chosen).errors(base))
    return tuple(
        one
        for one, ratio in zip(chosen, map(float, times), strict=True)
        if not no_measurement(one.inputs.run, ratio * one.step_time_s)
    )


def scored(sample: Sample) -> bool:
    """Return whether a run counts in the score: healthy, and no row of a sweep.

    Args:
        sample: The run.
    """
    return not sample.sick and sample.source != "playbook"


@functools.cache
def all_runs() -> Table:
    """Return every run: those that are scored, and those that may only be fitted to."""
    chosen = [
        sample for sample in main_samples() + sweep_samples() if scored(sample) or sample.fitted_to
    ]
    return table(chosen)
