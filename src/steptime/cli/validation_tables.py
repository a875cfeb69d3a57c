"""How `steptime validate` shows its results: rows, sources, doubts and what to do about them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from steptime.cli.output import console, percent, print_table, seconds
from steptime.cli.validation_words import (
    not_understood,
    print_kept_out,
    print_not_understood,
    print_skipped,
)
from steptime.evidence.open_rows import OpenRow
from steptime.evidence.validate import NO_SOURCE, RowResult, Summary, Validation
from steptime.inputs.in_number import counted
from steptime.inputs.stack import USUAL_FAMILY, USUAL_SHARDED

_LONGEST = 24
# From how many rows, and from what bias and share of one sign, a whole source looks off.
_FEW = 3
_BIASED = 0.1
_ALIKE = 0.85


def _unread(row: RowResult) -> str:
    """Return the cells of a row that nobody understands, by column."""
    return ", ".join(f"{one.what}: {one.word[:_LONGEST]!r}" for one in row.assumed if one.word)


def _error(row: RowResult) -> str:
    if row.kept_out:
        return "kept out"
    outside = "" if row.inside in (None, True) else " !"
    return "fitted" if row.fitted else f"{row.error_fraction * 100:+.1f} %{outside}"


def _cells(row: RowResult) -> tuple[str, ...]:
    others = [(time_s, part) for part, time_s in row.breakdown_s.items() if part != "compute"]
    largest = sorted((pair for pair in others if pair[0]), reverse=True)[:2]
    rest = ", ".join(f"{part.replace('_', ' ')} {seconds(time_s)}" for time_s, part in largest)
    return (
        row.id,
        seconds(row.published_step_time_s),
        seconds(row.step_time_s),
        f"{row.published_tflops_per_gpu:,.1f}",
        f"{row.tflops_per_gpu:,.1f}",
        _error(row),
        rest,
    )


def _source_cells(name: str, found: Summary) -> tuple[str, ...]:
    return (
        name,
        str(found.rows),
        percent(found.mean_error_fraction),
        percent(found.mean_abs_error_fraction),
        percent(found.median_abs_error_fraction),
        percent(found.max_abs_error_fraction),
        percent(found.covered_fraction, 0),
    )


def _print_sources(sources: dict[str, Summary]) -> None:
    columns = (
        ("source", "left"),
        ("rows", "right"),
        ("bias", "right"),
        ("mean", "right"),
        ("median", "right"),
        ("largest", "right"),
        ("inside", "right"),
    )
    cells = (_source_cells(name, found) for name, found in sources.items())
    print_table("error by source; inside: share of rows within their 90 % interval", columns, cells)


def _unnamed(rows: Sequence[RowResult]) -> list[str]:
    """Return which columns rows leave open that say most of a source: software and network."""
    usual = {"software": (USUAL_FAMILY, USUAL_SHARDED)}
    columns = {"stack": "software", "network": "network"}
    taken = [
        (columns[one.what], one.value) for row in rows for one in row.assumed if one.what in columns
    ]
    open_ = {column for column, value in taken if value in usual.get(column, (value,))}
    return [column for column in columns.values() if column in open_]


def _one_sided(result: Validation) -> Iterable[str]:
    """Yield a sentence for each source whose rows all miss to one side: no row is odd, all are."""
    for name, found in result.by_source.items():
        bias, size = found.mean_ln_error, found.mean_abs_ln_error
        if found.rows < _FEW or bias is None or size is None:
            continue
        if abs(bias) > _BIASED and abs(bias) > _ALIKE * size:
            side = "slower" if bias < 0.0 else "faster"
            columns = " and ".join(_unnamed([row for row in result.rows if row.source == name]))
            first = f"name their {columns} (columns of that name), or " if columns else ""
            whose = f"{found.rows} rows" if name == NO_SOURCE else f"{found.rows} rows of {name}"
            yield (
                f"the {whose} are on average {percent(math.expm1(abs(bias)), 0)} {side} than "
                f"predicted: {first}fit the constants with --fit"
            )


def _print_rows(result: Validation) -> None:
    columns = [
        ("run", "left"),
        ("published", "right"),
        ("predicted", "right"),
        ("TFLOP/s publ.", "right"),
        ("pred.", "right"),
        ("error", "right"),
        ("largest parts beside compute", "left"),
    ]
    unread = [_unread(row) for row in result.rows]
    cells = [_cells(row) for row in result.rows]
    if any(unread):
        columns.append(("not understood", "left"))
        cells = [(*row, words) for row, words in zip(cells, unread, strict=True)]
    print_table(f"{result.model} model", columns, cells)


def print_validation(result: Validation) -> None:
    """Print a validation as tables.

    Args:
        result: The validation.
    """
    if result.rows:
        _print_rows(result)
    if len(result.by_source) > 1:
        _print_sources(result.by_source)
    out = console()
    print_not_understood(not_understood(result))
    print_kept_out(result.kept_out)
    print_skipped(result.skipped)
    summary = result.summary
    if not summary.rows:
        out.print("no row could be predicted")
        return
    shown = "undefined" if summary.correlation is None else f"{summary.correlation:.3f}"
    out.print(
        f"{counted(summary.rows, 'predictions')}: mean error "
        f"{percent(summary.mean_abs_error_fraction)}, "
        f"median {percent(summary.median_abs_error_fraction)}, largest "
        f"{percent(summary.max_abs_error_fraction)}, bias {percent(summary.mean_error_fraction)}, "
        f"correlation of TFLOP/s {shown} (error: predicted over published throughput, less one)"
    )
    if summary.covered_fraction is not None:
        out.print(
            f"within their 90 % interval: {percent(summary.covered_fraction, 0)} of "
            f"{counted(summary.intervals, 'rows')}; ! marks one that is not"
        )
    for sentence in _one_sided(result):
        out.print(sentence, markup=False)


def _open_cells(row: OpenRow) -> tuple[str, ...]:
    return (
        row.id,
        ", ".join(row.open),
        seconds(row.published_step_time_s),
        seconds(row.step_time_low_s),
        seconds(row.step_time_high_s),
        "yes" if row.inside else "no",
        row.fastest,
        row.slowest,
    )


def print_open(bounded: Sequence[OpenRow]) -> None:
    """Print what rows lie between that leave too much open for one prediction.

    Args:
        bounded: Rows that leave something open.
    """
    if not bounded:
        return
    heads = (
        "run",
        "not stated",
        "published",
        "from",
        "to",
        "inside",
        "fastest with",
        "slowest with",
    )
    sides = ("left", "left", "right", "right", "right", "left", "left", "left")
    title = "runs that leave something open: bounds over every choice, with their intervals"
    print_table(title, tuple(zip(heads, sides, strict=True)), map(_open_cells, bounded))
