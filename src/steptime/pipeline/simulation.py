"""A pipeline schedule run from Python: what was asked, its timeline, and what that amounts to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from steptime.inputs.in_number import counted
from steptime.inputs.schedule_name import schedule_meant
from steptime.inputs.shown import Row, Shown
from steptime.inputs.signed import checked_names
from steptime.pipeline.report import intervals, summary
from steptime.pipeline.schedules import check_schedule
from steptime.pipeline.svg import svg
from steptime.pipeline.timeline import Timeline, Times, Work
from steptime.pipeline.timeline import simulate as timeline_of


@dataclass(frozen=True, kw_only=True)
class Simulation(Shown):
    """A schedule, run action by action.

    Attributes:
        schedule: Its name.
        stages: Pipeline ranks, p.
        micro_batches: Micro-batches, m.
        chunks: Chunks a rank holds, v.
        work: How long actions and messages take.
    """

    schedule: str
    stages: int
    micro_batches: int
    chunks: int
    work: Work

    @cached_property
    def timeline(self) -> Timeline:
        """Return who does what when."""
        return timeline_of(self.schedule, self.stages, self.micro_batches, self.chunks, self.work)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Return what ``steptime schedule --json`` prints first: see `pipeline.report.summary`."""
        return summary(self.timeline)

    @property
    def makespan(self) -> float:
        """Return the time from the first start to the last end."""
        return float(self.summary["makespan"])

    @property
    def bubble_fraction(self) -> float:
        """Return the share of the ranks' time that is idle."""
        return float(self.summary["bubble_fraction"])

    def title(self) -> str:
        """Return the sizes and the idle share."""
        return (
            f"{self.schedule}, {counted(self.stages, 'stages')}, "
            f"{counted(self.micro_batches, 'micro-batches')}, "
            f"{counted(self.chunks, 'chunks')}: makespan {self.makespan:g}, "
            f"idle {self.bubble_fraction:.1%}"
        )

    def records(self) -> list[Row]:
        """Return a row a rank: its busy time, its idle time by cause, what it holds and sends."""
        told = self.summary
        return [
            {"rank": rank, "busy": told["busy"][rank]}
            | {f"idle_{cause}": time for cause, time in told["idle_by_cause"][rank].items()}
            | {"peak_in_flight": told["peak_in_flight"][rank], "sends": told["sends"][rank]}
            for rank in range(self.stages)
        ]

    def to_svg(self) -> str:
        """Return the timeline drawn."""
        return svg(self.timeline)

    def _draw(self, axes: Any) -> None:
        unit = self.timeline.in_units
        for rank in range(self.stages):
            spans = [
                (unit(start), unit(end - start)) for start, end in intervals(self.timeline, rank)
            ]
            axes.broken_barh(spans, (rank - 0.4, 0.8), edgecolor="white")
        axes.invert_yaxis()
        axes.set_xlabel("time (units of a forward)")
        axes.set_ylabel("pipeline rank")


@checked_names
def simulate(
    schedule: str = "1f1b",
    *,
    stages: int = 4,
    micro_batches: int = 8,
    chunks: int | None = None,
    forward: Times = 1,
    backward: Times | None = None,
    backward_input: Times | None = None,
    backward_weight: Times | None = None,
    stage_scale: tuple[float, ...] = (),
    send_latency: float = 0,
    send_transfer: float = 0,
    blocking_sends: bool = False,
    pair: float | None = None,
) -> Simulation:
    """Return a pipeline schedule run action by action.

    Args:
        schedule: Its name; ``steptime schedules`` lists them.
        stages: Pipeline ranks.
        micro_batches: Micro-batches of a step.
        chunks: Chunks a rank holds; the schedule's usual number if None.
        forward: Time of F: one for all stages, or a tuple with one for each.
        backward: Time of the whole backward; 2 if None.
        backward_input: Time of the backward for inputs; half of ``backward`` if None.
        backward_weight: Time of the backward for weights; half of ``backward`` if None.
        stage_scale: A factor for each stage.
        send_latency: Time of a message beyond its bytes.
        send_transfer: Time that its bytes hold the sender's port.
        blocking_sends: Whether a rank waits for its own messages to arrive.
        pair: Time of an F and a B that run as a pair; None where it saves nothing.

    Raises:
        ConfigError: If the schedule cannot run at these sizes.

    Example:
        >>> import steptime
        >>> run = steptime.simulate("1f1b", stages=4, micro_batches=8)
        >>> run.makespan, round(run.bubble_fraction, 3)
        (33.0, 0.273)
    """
    work = Work(
        forward=forward,
        backward=backward,
        backward_input=backward_input,
        backward_weight=backward_weight,
        stage_scale=stage_scale,
        send_latency=send_latency,
        send_transfer=send_transfer,
        blocking_sends=blocking_sends,
        pair=pair,
    )
    name = schedule_meant(schedule)
    return Simulation(
        schedule=name,
        stages=stages,
        micro_batches=micro_batches,
        chunks=check_schedule(name, stages, micro_batches, chunks),
        work=work,
    )
