"""A user's file of runs: every row that can be read, and the reason of every other."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from steptime.evidence.own_cells import COLUMNS, cleaned, column_of, folded
from steptime.evidence.own_table import own_table
from steptime.evidence.schema import PublishedRow, cell_fault, expanded
from steptime.evidence.sweeps import figure_row, playbook_row
from steptime.inputs.errors import ConfigError
from steptime.inputs.said import Said

_FEWEST_COLUMNS = 3
# Columns of published runs that tell of a row and are no input.
_REMARKS = {
    "confidence",
    "arch_confidence",
    "derived_from",
    "derived_tokens_per_s_per_gpu",
    "consistent",
    "nodes",
}

Cells = dict[str, str]


@dataclass(frozen=True, slots=True)
class OwnRows:
    """What a file of runs holds.

    Attributes:
        rows: Those that could be read, in the file's order.
        faults: Id and reason of each that could not.
        notes: Sentences on columns that were read under another name or left alone.
    """

    rows: tuple[PublishedRow, ...]
    faults: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def _columns(heads: Sequence[str], name: str) -> tuple[dict[int, str], list[str]]:
    """Return the column that each place means, an exact name before others, and notes."""
    found: dict[int, str] = {}
    notes, renamed = [], []
    exact = [head.strip() for head in heads]
    twice = sorted({head for head in exact if head in COLUMNS and exact.count(head) > 1})
    if twice:
        raise ConfigError(f"{name}: line 1: column {twice[0]!r} stands twice")
    for place, head in enumerate(exact):
        column = head if head in COLUMNS else column_of(head)
        taken = column in found.values() or (column in exact and column != head)
        if column is None or taken:
            near = difflib.get_close_matches(folded(head), COLUMNS, n=1, cutoff=0.8)
            hint = f"; did you mean {near[0]}?" if near and not taken else ""
            if head and head not in _REMARKS:
                notes.append(f"column {head[:60]!r} is left alone{hint}")
            continue
        found[place] = column
        if column != head:
            renamed.append(f"{head[:60]!r} as {column}")
    if renamed:
        notes.insert(0, "columns read under other names: " + ", ".join(renamed))
    if len(found) < _FEWEST_COLUMNS:
        raise ConfigError(
            f"{name}: line 1: no table of runs: it needs columns such as model, gpu, gpus, tp, pp, "
            "mbs, gbs, seq_len and step_time_s"
        )
    return found, notes


def _share(text: str) -> str:
    """Return a share of the peak in per cent: up to 1 it is a fraction."""
    value = float(text)
    return f"{100.0 * value if value <= 1.0 else value!r}"


def _in_our_units(cells: Cells) -> Cells:
    """Return cells whose columns of other units became ours."""
    ours = {name: text for name, text in cells.items() if name in COLUMNS}

    def put(column: str, text: Callable[[], str]) -> None:
        if not ours.get(column):
            ours[column] = text()

    theirs = {name: text for name, text in cells.items() if name not in COLUMNS and text}
    if time_ms := theirs.get("step_time_ms"):
        put("step_time_s", lambda: f"{float(time_ms) / 1000.0!r}")
    for share, column in (("mfu", "mfu_pct"), ("hfu", "hfu_pct")):
        if share in theirs:
            put(column, lambda text=theirs[share]: _share(text))  # type: ignore[misc]
    if rate := theirs.get("tokens_per_s"):
        devices = float(ours.get("gpus") or "nan")
        put("tokens_per_s_per_gpu", lambda: f"{float(rate) / devices!r}")
    if tokens := theirs.get("gbs_tokens"):
        sequences = float(tokens) / float(ours.get("seq_len") or "nan")
        put("gbs", lambda: f"{sequences:.10g}")
    if samples := theirs.get("samples_per_s"):
        batch = float(ours.get("gbs") or "nan")
        put("step_time_s", lambda: f"{batch / float(samples)!r}")
    return {name: "" if text == "nan" else text for name, text in ours.items()}


def _reason(line: int, error: Exception, cells: Cells) -> str:
    if isinstance(error, ValidationError):
        return f"line {line}: {cell_fault(error, cells)}"
    return f"line {line}: {error}"


def _sweep(heads: Sequence[str]) -> Callable[[int, Cells], PublishedRow] | None:
    """Return the reader of a published sweep in its own columns, or None."""
    names = set(heads)
    if {"tok_s_gpu", "grad_acc", "seq"} <= names and "gpu" not in names:
        return playbook_row
    return figure_row if {"figure", "unit", "value"} <= names else None


def _sweep_rows(path: Path, heads: Sequence[str]) -> OwnRows | None:
    reader = _sweep(heads)
    if reader is None:
        return None
    rows, faults = [], []
    for line, texts in own_table(path).rows:
        cells = dict(zip(heads, texts, strict=True))
        try:
            if cells.get("consistent") == "n":
                raise ConfigError("marked as inconsistent: its sizes do not multiply up")
            rows.append(reader(line, cells))
        except (ValidationError, ConfigError, ValueError, KeyError) as error:
            faults.append((f"line-{line}", _reason(line, error, cells)))
    notes = ("columns of a published sweep: the rest as its source has it",)
    return OwnRows(tuple(rows), tuple(faults), notes)


def with_said(row: PublishedRow, said: Said, network_gbit: float | None) -> PublishedRow:
    """Return a row whose blank cells are filled by what is said of all rows at once.

    Args:
        row: A row.
        said: Of the software; facts stand beside the row's own.
        network_gbit: Gb/s of a device's share of the network, None where nothing is said.
    """
    changes: dict[str, str] = {}
    if said.stack and not row.software:
        changes["software"] = said.stack
    if said.date and not row.date:
        changes["date"] = said.date
    if said.facts:
        stated = "; ".join(f"{name}={value}" for name, value in said.facts)
        changes["facts"] = "; ".join(filter(None, (row.facts, stated)))
    if network_gbit is not None and not row.network:
        changes["network"] = f"{network_gbit:g} Gb/s per GPU"
    return row.model_copy(update=changes) if changes else row


def own_rows(path: Path) -> OwnRows:
    """Return what a user's file of runs holds.

    Args:
        path: A table in the columns of ``data/published_runs.csv`` or under usual other names,
            or one of ``data/sweeps``.

    Raises:
        ConfigError: If it is no table of runs at all.
    """
    table = own_table(path)
    if sweep := _sweep_rows(path, table.heads):
        return sweep
    places, notes = _columns(table.heads, path.name)
    rows, seen = [], set[str]()
    faults = [(f"line-{line}", f"line {line}: {reason}") for line, reason in table.faults]
    for line, texts in table.rows:
        raw = {column: texts[place] for place, column in places.items()}
        cells = {column: cleaned(column, text) for column, text in raw.items()}
        name = cells.get("id") or f"line-{line}"
        cells["id"] = name if name not in seen else f"{name}#{line}"
        seen.add(cells["id"])
        try:
            ours = _in_our_units(cells)
            rows.append(PublishedRow.model_validate({**ours, **expanded(ours)}))
        except (ValidationError, ValueError) as error:
            faults.append((cells["id"], _reason(line, error, raw)))
    return OwnRows(tuple(rows), tuple(faults), tuple(notes))
