"""Runs that ran: the memory model must not say that they do not fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from steptime.answer.peak import Memory
from steptime.evidence.memory_reading import ran_in
from steptime.evidence.row_question import question_of_run
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import PublishedRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A published run, and whether the model says that it fits the device it ran on.

    Attributes:
        run: Its inputs.
        memory: All ranks, by part.
        recompute_stated: Whether the row says what is recomputed.
    """

    run: Run
    memory: Memory
    recompute_stated: bool

    @property
    def share(self) -> float:
        """Return the bytes that the model counts over what the device has."""
        return self.memory.total_bytes / self.memory.limit_bytes


def ran(rows: Iterable[PublishedRow]) -> tuple[Ran, ...]:
    """Return every published run whose layout is known, with the memory it should need.

    All of them ran, so all of them fit.

    Args:
        rows: Published rows, with or without ``mem_gb``.
    """
    found = []
    for row in rows:
        try:
            found_run = question_of_run(run_of(row))
        except Incomplete:
            continue
        run = found_run.run
        if not run.micro_batch_stated:
            continue
        stated = bool(row.recompute.strip())
        _, memory = ran_in(found_run)
        found.append(Ran(run=run, memory=memory, recompute_stated=stated))
    return tuple(found)
