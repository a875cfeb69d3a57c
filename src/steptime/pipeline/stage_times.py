"""Times of F, I and W as papers print them, and schedules compared at equal parameters."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import check_choice
from steptime.pipeline.build import refusal
from steptime.pipeline.report import summary
from steptime.pipeline.schedules import SCHEDULES, default_chunks
from steptime.pipeline.timeline import Work, simulate

BYTES_PER_WIDTH = 34.0
"""Of a GPT layer for each token and unit of width, scores apart (korthikanti2022, Sec. 4.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTimes:
    """Times of one micro-batch on one rank, however many chunks it holds.

    Attributes:
        title: What was timed.
        source: Key in ``references.bib`` and place in it.
        seconds: Whether the times are seconds; else one is F.
        forward: Time of F.
        input: Time of I.
        weight: Time of W.
        send: Time of a message.
        num_layers: Layers of the model that was timed; 0 where none is named.
        hidden_size: Its width.
        num_ranks: Pipeline ranks that it ran on.
        num_micro_batches: Micro-batches of a step.
        micro_batch_tokens: Tokens of one; 0 where the source names none.
    """

    title: str
    source: str
    seconds: bool
    forward: float
    input: float
    weight: float
    send: float
    num_layers: int = 0
    hidden_size: int = 0
    num_ranks: int = 0
    num_micro_batches: int = 0
    micro_batch_tokens: int = 0

    @property
    def activation_bytes(self) -> float:
        """Return what a rank keeps of one micro-batch, scores apart; 0 where no model is named.

        References:
            korthikanti2022, Sec. 4.1 (34 s b h a layer without scores).
        """
        layers = self.num_layers / max(self.num_ranks, 1)
        return BYTES_PER_WIDTH * self.micro_batch_tokens * self.hidden_size * layers

    def work(self, chunks: int = 1, share: float = 1.0) -> Work:
        """Return the times of one chunk.

        Args:
            chunks: Chunks a rank holds, v.
            share: Part of the rank's layers that one copy of a chunk set holds.
        """
        part = share / chunks
        return Work(
            forward=self.forward * part,
            backward_input=self.input * part,
            backward_weight=self.weight * part,
            send_latency=self.send,
        )


@functools.cache
def presets() -> dict[str, StageTimes]:
    """Return the stage times of ``data/stage_times.toml`` by name."""
    table: dict[str, Any] = data_table("stage_times.toml")
    return {name: StageTimes(**entry) for name, entry in table.items()}


def stage_times_named(name: str) -> StageTimes:
    """Return stage times by name.

    Args:
        name: A table of ``data/stage_times.toml``.

    Raises:
        ConfigError: If there is none.
    """
    return presets()[check_choice("stage times", name, presets())]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One schedule on ranks that hold as many parameters as those of the others.

    Attributes:
        name: Of the schedule.
        ranks: Pipeline ranks: more where weights are held more than once.
        micro_batches: Of one pipeline in a step: as many more, as there are fewer pipelines.
        chunks: Chunks a rank holds.
        step: Time of a step, in the unit of the stage times.
        idle: Idle share of the step.
        held: Micro-batches of a rank of one copy's layers that the fullest rank holds.
        messages: Messages that the busiest rank sends in a step.
    """

    name: str
    ranks: int
    micro_batches: int
    chunks: int
    step: float
    idle: float
    held: float
    messages: int


def compared(
    p: int, m: int, times: StageTimes, names: Sequence[str] = tuple(SCHEDULES)
) -> list[Compared]:
    """Return every schedule that can run, at equal parameters and equal work per device.

    Where a schedule holds c copies of the weights, a pipeline takes c times the ranks, each
    with a c-th of the layers per copy; there are a c-th of the pipelines, so each takes c
    times the micro-batches.

    Args:
        p: Pipeline ranks of a schedule that holds the weights once.
        m: Micro-batches of its pipeline.
        times: Of one micro-batch on one of its ranks.
        names: Of the schedules.
    """
    found = []
    for name in names:
        copies = int(SCHEDULES[name].copies)
        chunks = default_chunks(name, copies * p)
        if refusal(name, copies * p, copies * m, chunks):
            continue
        work = times.work(chunks, 1.0 / copies)
        numbers = summary(simulate(name, copies * p, copies * m, chunks, work))
        found.append(
            Compared(
                name=name,
                ranks=copies * p,
                micro_batches=copies * m,
                chunks=chunks,
                step=numbers["makespan"],
                idle=numbers["bubble_fraction"],
                held=max(numbers["peak_micro_batches"]) / copies,
                messages=max(numbers["sends"]),
            )
        )
    return found
