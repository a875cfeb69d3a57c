"""What `steptime validate` says of rows beside its tables: each sentence once, with its rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from steptime.cli.output import console, percent
from steptime.evidence.diagnose import Diagnosis
from steptime.evidence.validate import Validation
from steptime.inputs.assumed import Assumed

if TYPE_CHECKING:
    from steptime.evidence.own_software import Likely

_LISTED = 12
_NAMED = 10
"""Rows that a sentence names; of more it says how many."""
_NUMBER = re.compile(r"\d[\d.,]*(?:e[+-]?\d+)?|[+-](?=\d)")


def names(ids: Sequence[str]) -> str:
    """Return ids in a row, the first ten and how many more there are.

    Args:
        ids: Of rows.
    """
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return ", ".join(ids[:_NAMED]) + more


def told_once(found: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return sentences that are alike but for their numbers once, with the rows they hold for.

    Args:
        found: Id of a row, and what is said of it.

    Returns:
        The first row of each kind, and what is said of it; the others stand behind the sentence.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, why in found:
        own = rf"(?<!\w){re.escape(name)}(?!\w)"
        kind = _NUMBER.sub("#", re.sub(own, "#", why))
        groups.setdefault(kind, []).append((name, why))
    told = []
    for (name, why), *others in groups.values():
        more = f"; likewise {names([one for one, _ in others])}" if others else ""
        told.append((name, why + more))
    return told


def print_notes(
    notes: Iterable[str], conflicts: Iterable[tuple[str, str]], kept_out: Mapping[str, str]
) -> None:
    """Print what is odd about a file before anything is compared.

    Args:
        notes: On its columns.
        conflicts: Id of each row that contradicts itself or its device, and how.
        kept_out: Why no mean counts a row: that is said of it below, and only there.
    """
    for note in notes:
        console().print(note, markup=False)
    for name, why in told_once((n, why) for n, why in conflicts if kept_out.get(n) != why):
        console().print(f"{name}: {why}", markup=False)


def print_kept_out(kept_out: Sequence[tuple[str, str]]) -> None:
    """Print which rows nobody can have measured, and why.

    Args:
        kept_out: Id and reason of each.
    """
    for name, why in told_once(kept_out):
        console().print(f"{name} is no measurement, no mean or fit counts it: {why}", markup=False)


def print_skipped(skipped: Sequence[tuple[str, str]]) -> None:
    """Print which rows were not scored and why.

    Args:
        skipped: Id and reason of each.
    """
    for name, why in told_once(skipped):
        console().print(f"skipped {name}: {why}", markup=False)


def not_understood(result: Validation) -> list[tuple[str, Assumed]]:
    """Return the words of the rows that nobody knows, each with its row's id.

    Args:
        result: A model's results.
    """
    return [(row.id, one) for row in result.rows for one in row.assumed if one.word]


def print_not_understood(found: Sequence[tuple[str, Assumed]]) -> None:
    """Print the words that nobody knows, once each.

    Args:
        found: Id of a row, and its record.
    """
    rows: dict[Assumed, list[str]] = {}
    for name, one in found:
        rows.setdefault(one, []).append(name)
    for one in sorted(rows, key=lambda one: -len(rows[one])):
        console().print(f"{names(rows[one])}: {one}; state it as {one.how}", markup=False)


def _advice(doubts: Sequence[Diagnosis]) -> Iterable[str]:
    kinds = {doubt.suspicion for doubt in doubts}
    if "mis-described" in kinds:
        yield "mis-described: compare that cell with the run's own log or command line"
    measured = [doubt for doubt in doubts if doubt.suspicion == "mis-measured"]
    if any(doubt.error < 0.0 for doubt in measured):
        yield (
            "mis-measured, too slow: look for a slow node, other jobs, or warm-up steps in the mean"
        )
    if any(doubt.error > 0.0 for doubt in measured):
        yield (
            "mis-measured, too fast: see that the clock waits for the device, and that units, "
            "gpus and gbs are the run's"
        )
    if "unexplained" in kinds:
        yield "unexplained: see what the row leaves open (`assumed` in --json) and state it"


def _beside(doubt: Diagnosis, kept_out: Mapping[str, str]) -> str:
    """Return what is said of a doubtful row that its being kept out does not say already."""
    known = kept_out.get(doubt.id)
    if known is None:
        return doubt.why
    return doubt.why.removeprefix(known).removeprefix("; ") or "as said above"


def print_doubts(doubts: Sequence[Diagnosis], kept_out: Mapping[str, str] | None = None) -> None:
    """Print which rows stand out, and what to do about them.

    Args:
        doubts: Rows that look mis-measured or mis-described.
        kept_out: Why no mean counts a row, where that is printed already.
    """
    out = console()
    shown = doubts[:_LISTED]
    for suspicion in dict.fromkeys(doubt.suspicion for doubt in shown):
        alike = [one for one in shown if one.suspicion == suspicion]
        for name, why in told_once((one.id, _beside(one, kept_out or {})) for one in alike):
            out.print(f"{name} looks {suspicion}: {why}", markup=False)
    if len(doubts) > _LISTED:
        out.print(f"{len(doubts) - _LISTED} more rows stand out less; --json lists them all")
    for line in _advice(doubts):
        out.print(f"what to do: {line}", markup=False)


def print_likely(likely: Likely) -> None:
    """Print which family of software the runs behave like that name none.

    Args:
        likely: The family.
    """
    console().print(
        f"{likely.rows} rows that name no software behave like {likely.family}: mean error in "
        f"ln(step time) {percent(likely.mean_after)} with --stack {likely.family}, "
        f"{percent(likely.mean_before)} without; name yours where you know it",
        markup=False,
    )
