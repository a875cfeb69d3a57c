"""What each kind of knowledge of the software buys: the same runs asked on three rungs.

The runs are asked as their sources tell them, then as somebody would who knows the family and
the date alone, then as somebody who knows nothing of the software. Model, device, layout and
precision stay as they are. The constants are the published ones, fitted to all runs, unless
`steptime.evidence.ladder_left_out` gives others.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from steptime.answer.answer import answer
from steptime.evidence.measured import published_step_time_s
from steptime.evidence.row_device import measured
from steptime.evidence.row_question import roofline_question
from steptime.evidence.row_said import dated, named
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.errors import ConfigError
from steptime.inputs.stack import families, stack_named

_SOFTWARE_CELLS: dict[str, str | None] = {
    "attention_kernel": "",
    "compiled": None,
    "dispatcher": "",
    "overlap": "",
    "facts": "",
    "release": "",
}
"""Cells that tell of the software, as they are where nobody tells."""


def as_told(row: PublishedRow) -> PublishedRow:
    """Return a row as its source, and what is known of it, tell it.

    Args:
        row: A published run.
    """
    return row


def family_and_date(row: PublishedRow) -> PublishedRow:
    """Return a row as if no more than family and date of its software were known.

    Args:
        row: A published run.
    """
    name = named(row.software)
    family = name if name is None or name in families() else stack_named(name).family
    month, _ = dated(row)
    known = {"software": family or "", "date": month or ""}
    return row.model_copy(update=_SOFTWARE_CELLS | known)


def nothing(row: PublishedRow) -> PublishedRow:
    """Return a row as if nothing of its software were known.

    Args:
        row: A published run.
    """
    return row.model_copy(update=_SOFTWARE_CELLS | {"software": "", "date": ""})


RUNGS: Mapping[str, Callable[[PublishedRow], PublishedRow]] = {
    "as told": as_told,
    "family and date": family_and_date,
    "nothing": nothing,
}
"""What is known of the software, most first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """Errors of some runs on one rung.

    Attributes:
        mean_size: Mean size of ln(predicted over measured step time).
        bias: Its mean with sign: above zero, the model is too slow.
        inside: Share of the runs inside their interval.
    """

    mean_size: float
    bias: float
    inside: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderLine:
    """One source on every rung, over the runs that can be asked on all of them.

    Attributes:
        source: The part of the ids before the last dash.
        runs: How many.
        rungs: By the names of `RUNGS`.
    """

    source: str
    runs: int
    rungs: Mapping[str, Rung]


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """One run's error.

    Attributes:
        error: ln(predicted over measured step time).
        inside: Whether the measured step lies in the interval.
    """

    error: float
    inside: bool


def missed(row: PublishedRow, constants: RooflineConstants | None = None) -> Miss:
    """Return ln(predicted over measured) of a run, and whether its interval holds it.

    Args:
        row: A published run.
        constants: Of the roofline model; the published ones if None.

    Raises:
        Incomplete: If the model or the measurement lacks something.
    """
    question = roofline_question(run_of(row))
    measured_s = published_step_time_s(question.run)
    try:
        told = answer(replace(question.question("roofline"), constants=constants))
    except ConfigError as error:
        raise Incomplete(str(error)) from None
    low_s, high_s = told.step_time_low_s or 0.0, told.step_time_high_s or math.inf
    return Miss(error=math.log(told.step_time_s / measured_s), inside=low_s <= measured_s <= high_s)


def _on_all(row: PublishedRow, constants: RooflineConstants | None) -> dict[str, Miss] | None:
    try:
        return {name: missed(rung(row), constants) for name, rung in RUNGS.items()}
    except Incomplete:
        return None


def _rung(misses: list[Miss]) -> Rung:
    count = len(misses)
    return Rung(
        mean_size=math.fsum(abs(miss.error) for miss in misses) / count,
        bias=math.fsum(miss.error for miss in misses) / count,
        inside=sum(miss.inside for miss in misses) / count,
    )


def _published(_: PublishedRow) -> None:
    return None


def ladder_of(
    rows: Iterable[PublishedRow],
    constants_of: Callable[[PublishedRow], RooflineConstants | None] = _published,
) -> tuple[LadderLine, ...]:
    """Return what each rung makes of each source's runs, in the rows' order.

    Args:
        rows: Published runs; those that some rung cannot be asked are left out of all.
        constants_of: The roofline model's constants for a run; the published ones if None.
    """
    found: dict[str, list[dict[str, Miss]]] = {}
    for row in rows:
        misses = _on_all(row, constants_of(row))
        if misses is not None:
            found.setdefault(row.id.rpartition("-")[0], []).append(misses)
    return tuple(
        LadderLine(
            source=source,
            runs=len(several),
            rungs={name: _rung([one[name] for one in several]) for name in RUNGS},
        )
        for source, several in found.items()
    )


@functools.cache
def ladder() -> tuple[LadderLine, ...]:
    """Return the ladder of ``data/published_runs.csv``, of devices that somebody measured."""
    return ladder_of(row for row in published_rows() if measured(row))


def weighed(lines: Iterable[LadderLine], least_runs: int = 3) -> dict[str, Rung]:
    """Return each rung over all sources, every source weighing the same.

    Args:
        lines: One a source.
        least_runs: Sources of fewer runs are left out.
    """
    kept = [line for line in lines if line.runs >= least_runs]
    return {
        name: Rung(
            mean_size=math.fsum(line.rungs[name].mean_size for line in kept) / len(kept),
            bias=math.fsum(line.rungs[name].bias for line in kept) / len(kept),
            inside=math.fsum(line.rungs[name].inside for line in kept) / len(kept),
        )
        for name in RUNGS
    }


def _cells(rungs: Mapping[str, Rung]) -> str:
    return " | ".join(
        f"{rung.mean_size:.1%} | {rung.bias:+.1%} | {rung.inside:.0%}" for rung in rungs.values()
    )


def markdown(lines: Iterable[LadderLine]) -> str:
    """Return the ladder as a table: mean size, bias and coverage on each rung.

    Args:
        lines: One a source.
    """
    several = tuple(lines)
    heads = " | ".join(f"{name}: mean | bias | inside" for name in RUNGS)
    body = [f"| {line.source} | {line.runs} | {_cells(line.rungs)} |" for line in several]
    total = f"| sources alike | | {_cells(weighed(several))} |"
    rule = "|".join(["", "---", *["---:"] * (1 + 3 * len(RUNGS)), ""])
    return "\n".join([f"| source | runs | {heads} |", rule, *body, total])


if __name__ == "__main__":
    print(markdown(ladder()))
