"""The tables of a search: layouts with chunks and splits on one line, and what a run takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from steptime.answer.predictor import PREDICTORS
from steptime.cli.output import console, percent, print_table, seconds
from steptime.formulas.judgement import TIGHT_SHARE
from steptime.inputs.chance import chance_text
from steptime.inputs.fields import BY_NAME, SIZES
from steptime.inputs.layout import STAGE_FIELDS, Layout
from steptime.inputs.schedule_name import with_one_chunk
from steptime.inputs.shown import unit_of
from steptime.inputs.usual import USUAL_SCHEDULE
from steptime.planning.cost import Run
from steptime.planning.goodput import SECONDS_PER_DAY, Goodput
from steptime.planning.question import Question

if TYPE_CHECKING:
    from steptime.planning.result import Candidate, SearchResult

ALWAYS = ("tp", "cp", "pp", "dp")
"""Sizes that are told of every layout; the others where one is above 1."""
RECOMPUTE_WORDS = {"none": "no", "selective": "sel", "full": "full"}
_CUT = ("vpp", "schedule", *STAGE_FIELDS)
_ALIKE = attrgetter(*(one.name for one in fields(Layout) if one.name not in _CUT))


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: a layout, and those that differ in chunks or in the split alone.

    Attributes:
        choice: Its place among the best, from 1.
        one: The fastest of them.
        chunks: Of the others that tie with it.
        others: How many layouts the line stands for beside the first.
    """

    choice: int
    one: Candidate
    chunks: tuple[int, ...]
    others: int


def lines_of(layouts: Sequence[Candidate], tie_fraction: float, most: int) -> list[Line]:
    """Return layouts with those that differ in chunks or in the split alone on one line.

    Args:
        layouts: The fastest first.
        tie_fraction: Up to which two times cannot be told apart.
        most: Lines to return.
    """
    groups: dict[tuple[Any, ...], list[tuple[int, Candidate]]] = {}
    for choice, one in enumerate(layouts, 1):
        # Schedules that are one and the same but for the chunks stand in one line.
        key = (_ALIKE(one.layout), with_one_chunk(one.layout.schedule), one.batch)
        if key in groups or len(groups) < most:
            groups.setdefault(key, []).append((choice, one))
    found = []
    for (choice, first), *rest in groups.values():
        near = first.step_time_s * (1.0 + tie_fraction)
        chunks = [one.layout.vpp for _, one in rest if one.step_time_s <= near]
        found.append(Line(choice, first, tuple(sorted(set(chunks))), len(rest)))
    return found


def print_layouts(result: SearchResult, shown: list[Line]) -> None:
    """Print the layouts of a search as a table.

    Args:
        result: The search.
        shown: The layouts to print.
    """
    question = result.question
    model = PREDICTORS[str(question.predictor)].title
    title = (
        f"{question.model.name} on {question.num_devices} x {question.accelerator.name}, "
        f"batch {question.global_batch_size} x {question.seq_length} ({model})"
    )
    sizes = [name for name in SIZES if _shown(shown, name)]
    split = any(getattr(line.one.layout, name) for line in shown for name in STAGE_FIELDS)
    several = {*map(with_one_chunk, question.schedules)} != {USUAL_SCHEDULE}
    heads = [
        "#",
        "step s",
        *(BY_NAME[name].label for name in sizes),
        *(["ends"] if split else []),
        "mb",
        "SP",
        "ZeRO",
        "redo",
        "GB",
        "full",
        "fits",
    ]
    heads += ["schedule"] if several else []
    tie = shown[0].one.step_time_s * (1.0 + result.tie_fraction)
    rows = []
    for line in shown:
        mark = "=" if line.one.step_time_s <= tie and line is not shown[0] else ""
        row = [str(line.choice), f"{mark}{line.one.step_time_s:.4g}"]
        row += _cells(question, line, sizes, split)
        row += [line.one.layout.schedule] if several else []
        rows.append(row)
    sides = ["left" if head == "schedule" else "right" for head in heads]
    print_table(title, list(zip(heads, sides, strict=True)), rows)
    more = any(line.chunks for line in shown)
    console().print(
        "# choice, mb micro-batch, SP sequence parallel, redo recomputation, full share of the "
        "memory (! tight), fits chance that it fits"
        + (", 4+2: as good in two other counts of chunks" if more else "")
        + (", ends layers of the first and the last pipeline rank" * split)
    )


def print_runs(shown: list[Line], runs: list[Run]) -> None:
    """Print what the whole run takes with each layout, with its range.

    Args:
        shown: The layouts.
        runs: What the run takes with each.
    """
    priced = runs[0].cost is not None
    _, unit_s, unit = unit_of(min(run.days for run in runs) * SECONDS_PER_DAY)
    scale = SECONDS_PER_DAY / unit_s

    def told(days: float) -> str:
        return f"{days * scale:,.1f}"

    heads = ["#", unit, "90 %", *(["cost", "90 %"] if priced else []), "MWh"]
    rows = []
    for line, run in zip(shown, runs, strict=True):
        row = [str(line.choice), told(run.days), _range(run.days_low, run.days_high, told)]
        if priced:
            row += [amount(run.cost), _range(run.cost_low, run.cost_high, amount)]
        rows.append([*row, amount(run.energy_mwh)])
    print_table("the whole run", [(head, "right") for head in heads], rows)
    if runs[0].num_steps < 1.0:
        console().print(f"the whole run is {runs[0].length}", markup=False)


def _range(low: float | None, high: float | None, shown: Callable[[float], str]) -> str:
    return "-" if low is None or high is None else f"{shown(low)} to {shown(high)}"


def print_goodput(found: Goodput) -> None:
    """Print what failures leave of the time, and what that follows from.

    Args:
        found: The share and its reasons.
    """
    console().print(
        f"goodput {percent(found.fraction)}: a failure every {_span(found.between_failures_s)}, "
        f"{_span(found.restart_s)} to restart, a checkpoint of {_span(found.checkpoint_s)} every "
        f"{_span(found.interval_s)} (the best by Daly); days and cost count it",
        markup=False,
    )
    for source in found.sources:
        console().print(f"  taken: {source}", markup=False)


def _span(value_s: float) -> str:
    for scale, unit in ((86400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if value_s >= 2.0 * scale:
            return f"{value_s / scale:.3g} {unit}"
    return seconds(value_s)


def _shown(lines: list[Line], name: str) -> bool:
    """Return whether a count is worth a column: not where it is 1 in all that are shown."""
    more = any(getattr(line.one.layout, name) > 1 for line in lines)
    return name in ALWAYS or more or (name == "vpp" and any(line.chunks for line in lines))


def _cells(question: Question, line: Line, sizes: list[str], split: bool) -> list[str]:
    one = line.one
    layout, share = one.layout, one.memory_bytes / question.accelerator.hbm_bytes
    more = len(set(line.chunks) - {layout.vpp})
    chunks = f"{layout.vpp}+{more}" if more else str(layout.vpp)
    return [
        *(chunks if name == "vpp" else str(getattr(layout, name)) for name in sizes),
        *([_ends(layout)] if split else []),
        str(one.batch.micro_batch_size),
        "yes" if layout.sequence_parallel else "no",
        str(layout.zero_stage),
        RECOMPUTE_WORDS[layout.recompute],
        f"{one.memory_bytes / 1e9:.1f}",
        ("!" if share >= TIGHT_SHARE else "") + f"{100 * share:.0f}%",
        chance_text(one.fit_probability, short=True),
    ]


def _ends(layout: Layout) -> str:
    """Return the layers of both ends of a pipeline, where they are not the software's cut."""
    given = [getattr(layout, name) for name in STAGE_FIELDS]
    return "/".join(str(one or "-") for one in given) if any(given) else "-"


def amount(value: float | None) -> str:
    """Return a large amount for the eye: in millions from a million on."""
    if value is None:
        return "-"
    return f"{value / 1e6:,.2f}M" if value >= 1e6 else f"{value:,.0f}"
