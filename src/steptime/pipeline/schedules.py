"""The schedules by name: who made them, what they need, what their papers promise."""

from __future__ import annotations

from dataclasses import dataclass, fields

from steptime.formulas.schedules.registry import ENTRIES
from steptime.inputs.errors import ConfigError, check_count
from steptime.inputs.schedule_name import check_schedule_name, searched_name
from steptime.pipeline.build import build_orders, fixed_chunks, refusal

MOST_ACTIONS = 30_000_000
MOST_SEARCHED = 100_000
"""Actions of a schedule that a search makes: it goes through a dozen orders of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """One pipeline schedule.

    Attributes:
        name: As on the command line.
        title: As papers write it.
        inventor: Who proposed it, and when.
        source: Key in ``references.bib`` and place in it.
        constraints: What it asks of stages p, micro-batches m and chunks v.
        splits_backward: Whether the backward for weights is an action of its own.
        bubble: Idle time of a rank by the source's formula, equal stages and free sends.
        activations: Most micro-batches that a rank holds, by the source's formula.
        idea: What it does, in one sentence.
        copies: Copies of the weights that the ranks hold together.
        vee: 1 where the last chunk is on the first rank.
        torchtitan: Its name there, or "".
    """

    name: str
    title: str
    inventor: str
    source: str
    constraints: str
    splits_backward: bool
    bubble: str
    activations: str
    idea: str
    copies: float
    vee: float
    torchtitan: str


SCHEDULES: dict[str, Schedule] = {
    str(entry["name"]): Schedule(**{one.name: entry[one.name] for one in fields(Schedule)})
    for entry in ENTRIES
}


def default_chunks(name: str, stages: int) -> int:
    """Return the chunks a rank holds unless told: 2 where there is a choice, 1 without a pipeline.

    Args:
        name: A key of ``SCHEDULES``.
        stages: Pipeline ranks.
    """
    return (fixed_chunks(searched_name(name) or name) or 2) if stages > 1 else 1


def splits_backward(name: str) -> bool:
    """Return whether a schedule cuts the backward in two.

    Args:
        name: A key of ``SCHEDULES``.
    """
    return SCHEDULES[searched_name(name) or name].splits_backward


def check_schedule(name: str, p: int, m: int, v: int | None = None) -> int:
    """Refuse sizes that a schedule cannot run; return the chunks a rank holds.

    Args:
        name: A key of ``SCHEDULES``.
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; the schedule's usual number if None.

    Raises:
        ConfigError: With what does not fit and sizes that would.
    """
    searched = searched_name(name)
    name = searched or check_schedule_name(name)
    check_count("stages", p, most=100_000)
    check_count("micro_batches", m, most=10_000_000)
    chunks = default_chunks(name, p) if v is None else check_count("chunks", v, most=100_000)
    reason = refusal(name, p, m, chunks)
    if reason:
        raise ConfigError(reason)
    most = MOST_SEARCHED if searched else MOST_ACTIONS
    if 3 * p * m * chunks > most:
        raise ConfigError(
            f"stages={p} x micro_batches={m} x chunks={chunks} makes over "
            f"{most:,} actions; use smaller numbers"
        )
    return chunks


def schedule_orders(name: str, p: int, m: int, v: int | None = None) -> list[list[int]]:
    """Return the action codes of each rank, see `codes`.

    Args:
        name: A key of ``SCHEDULES``.
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; the schedule's usual number if None.

    Raises:
        ConfigError: If the schedule cannot run at these sizes.
    """
    return build_orders(name, p, m, check_schedule(name, p, m, v))
