"""Constants for a user's own cluster: learned from a few runs, held near the published ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from steptime.evidence.adding import step_of
from steptime.evidence.own_steps import (
    FEWEST_LEFT_OUT,
    STEPS,
    Line,
    Spreads,
    left_out_mean,
    line_at,
    moved,
    scatter_of,
    solved,
    spread_of,
    spreads,
    steps_taken,
)
from steptime.evidence.samples import Sample, Table, measurable, samples, table
from steptime.evidence.schema import PublishedRow
from steptime.inputs.constants import (
    RooflineConstants,
    check_constant,
    published_constants,
)
from steptime.inputs.errors import ConfigError
from steptime.inputs.said import EXACT, KNOWLEDGE
from steptime.inputs.written import write_output

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# A run is set aside if its error is this many typical errors from the middle, and this large.
_STANDS_OUT = 3.5
_LEAST = math.log(1.15)
_NINETY = 1.645


@dataclass(frozen=True, slots=True)
class OwnStep:
    """One thing learned of a cluster.

    Attributes:
        name: Of `steptime.evidence.own_steps.STEPS`.
        value: How many times longer its times are than published.
        low: Lower end of its 90 % interval.
        high: Upper end.
    """

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class OwnConstant:
    """One constant of a cluster.

    Attributes:
        name: Field of `RooflineConstants`.
        value: Fitted.
        published: The value it was held near.
    """

    name: str
    value: float
    published: float


@dataclass(frozen=True, slots=True)
class OwnFit:
    """The constants of a cluster, and what they buy.

    Attributes:
        constants: All constants, the learned ones changed; the published ones where nothing is.
        learned: What was learned, in order; empty where left-out runs gain nothing.
        fitted: The constants that it moves.
        rows: Runs that were fitted to.
        mean_before: Mean size of ln(predicted / measured step time) with the published constants.
        mean_after: The same with the learned ones.
        mean_left_out: The same when each run, or each tenth of them, is left out of its fit;
            None with too few runs to leave one out.
        scatter: Spread of the runs about the fit, in the logarithm of the step time.
        set_aside: Ids of runs that stand out so far that they were not fitted to.
        refused: Why what fits best is not learned, as no cluster is like that; else empty.
    """

    constants: RooflineConstants
    learned: tuple[OwnStep, ...]
    fitted: tuple[OwnConstant, ...]
    rows: int
    mean_before: float
    mean_after: float
    mean_left_out: float | None
    scatter: float
    set_aside: tuple[str, ...]
    refused: str = ""

    @property
    def worth_it(self) -> bool:
        """Return whether runs that were left out are predicted better than before."""
        return bool(self.learned)


def _standing_out(errors: Floats) -> NDArray[np.bool_]:
    """Return which errors are too far from the others to be fitted to."""
    import numpy as np

    if len(errors) < FEWEST_LEFT_OUT:
        return np.zeros(len(errors), bool)
    middle, spread = spread_of(errors)
    far = np.abs(errors - middle) > max(_STANDS_OUT * max(spread, 0.03), _LEAST)
    # Half of the runs can not be the odd ones.
    return np.asarray(far if 2 * far.sum() < len(errors) else np.zeros(len(errors), bool))


def known_of(chosen: Sequence[Sample]) -> str:
    """Return what is known of the software of runs: as little as of any of them.

    Args:
        chosen: The runs.
    """
    levels = (
        EXACT if one.inputs.software.known else one.inputs.software.knowledge for one in chosen
    )
    return max(levels, key=KNOWLEDGE.index)


def own_line(runs: Table, base: RooflineConstants, known: Spreads) -> Line:
    """Return how the errors of runs change about some constants.

    Args:
        runs: The runs.
        base: The constants, from which no step is taken.
        known: How far clusters differ.
    """
    import numpy as np

    generations = frozenset(cell[0] for cell in runs.cells)
    parts = runs.parts(base)
    exposed = 1.0 - (parts["compute"] + parts["recompute"]) / step_of(parts)
    return line_at(lambda x: runs.errors(moved(base, generations, x)), np.asarray(exposed), known)


def _learned(x: Floats, deviation: Floats, taken: int) -> tuple[OwnStep, ...]:
    return tuple(
        OwnStep(
            name,
            math.exp(value),
            math.exp(value - _NINETY * spread),
            math.exp(value + _NINETY * spread),
        )
        for name, value, spread in list(
            zip(STEPS, map(float, x), map(float, deviation), strict=True)
        )[:taken]
    )


def _changed(found: RooflineConstants, base: RooflineConstants) -> tuple[OwnConstant, ...]:
    old = base.values()
    return tuple(
        OwnConstant(name, value, old[name])
        for name, value in found.values().items()
        if value != old[name]
    )


def own_fit(rows: Sequence[PublishedRow], base: RooflineConstants | None = None) -> OwnFit:
    """Return constants learned from a user's runs: one factor, then the network, then the host.

    A first fit finds runs that stand out, and how far the others scatter; a second one leaves
    the former aside. Each thing is learned only where left-out runs gain by it.

    Args:
        rows: The runs; those that cannot be predicted are left aside, and those that nobody can
            have measured.
        base: What is learned beside; the published constants if None.

    Raises:
        ConfigError: If none is left.
    """
    used = base or published_constants()
    return fit_to(measurable(samples(rows), used), used)


def _refused(found: RooflineConstants, base: RooflineConstants) -> str:
    """Return why a file of constants may not hold what fits best, else nothing."""
    try:
        for one in _changed(found, base):
            check_constant(one.name, one.value)
    except ConfigError as error:
        return (
            f"{error}: that fits these rows best, and no device is so fast; they are likely "
            "mis-described: check units, gpus, gbs, seq_len and precision"
        )
    return ""


def fit_to(
    chosen: Sequence[Sample],
    base: RooflineConstants,
    without: str = "",
    line: Line | None = None,
) -> OwnFit:
    """Return constants learned from runs that can be predicted.

    Args:
        chosen: The runs.
        base: What is learned beside.
        without: A source that may not say how far clusters differ.
        line: How the errors of these runs change about ``base``, where that is known already.

    Raises:
        ConfigError: If there is none.
    """
    import numpy as np

    if not chosen:
        raise ConfigError("--fit needs at least 1 row that can be predicted and measured, got 0")
    known = spreads(known_of(chosen), without)
    every = replace(line or own_line(table(chosen), base, known), spreads=known)
    x, _ = solved(every, np.ones(len(chosen)), 1, known.runs)
    far = _standing_out(every.at(x))
    kept = table([sample for sample, out in zip(chosen, far, strict=True) if not out])
    line, count = every.of(~far), len(kept.samples)
    taken = steps_taken(line)
    scatter = scatter_of(line, max(taken, 1))
    x, deviation = solved(line, np.ones(count), taken, scatter)
    generations = frozenset(cell[0] for cell in kept.cells)
    steps = (float(x[0]), float(x[1]), float(x[2]))
    found = moved(base, generations, steps) if taken else base
    if refused := _refused(found, base):
        found, taken = base, 0
    return OwnFit(
        constants=found,
        learned=_learned(x, deviation, taken),
        fitted=_changed(found, base),
        rows=count,
        mean_before=float(np.abs(line.start).mean()),
        mean_after=float(np.abs(kept.errors(found) if taken else line.start).mean()),
        mean_left_out=left_out_mean(line, max(taken, 1), scatter)
        if count >= FEWEST_LEFT_OUT
        else None,
        scatter=scatter * float(np.median(line.scale)),
        set_aside=tuple(sample.id for sample, out in zip(chosen, far, strict=True) if out),
        refused=refused,
    )


def write_fit(fit: OwnFit, path: Path) -> None:
    """Write a fit as a file that ``--constants`` takes.

    Args:
        fit: The fit, of something learned.
        path: File to write.

    Raises:
        ConfigError: If it cannot be written.
    """
    left_out = (
        "too few to leave one out"
        if fit.mean_left_out is None
        else f"{100 * fit.mean_left_out:.1f} % when each run is left out of its own fit"
    )
    lines = [
        "# Constants of the roofline model learned from your runs; give this file to --constants.",
        f"# {fit.rows} runs: mean error in ln(step time) {100 * fit.mean_before:.1f} % with the",
        f"# published constants, {100 * fit.mean_after:.1f} % with these, {left_out}.",
        *(["# Not fitted to: " + ", ".join(fit.set_aside)] if fit.set_aside else []),
        "[constants]",
        *(f"{one.name} = {one.value!r}" for one in fit.fitted),
        "",
        "# How many times longer than published, with the 90 % interval.",
        "[learned]",
        *(f"{one.name} = [{one.value!r}, {one.low!r}, {one.high!r}]" for one in fit.learned),
        "",
    ]
    write_output("--fit", path, "\n".join(lines))
