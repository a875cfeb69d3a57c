"""From a schedule's name, or an order of one's own, and durations to a timeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from steptime.inputs.errors import ConfigError, check_number
from steptime.inputs.schedule_name import searched_name
from steptime.pipeline.durations import stage_times
from steptime.pipeline.execute import execute
from steptime.pipeline.schedules import check_schedule, schedule_orders
from steptime.pipeline.searched import searched_orders

LARGEST_SLOT = 2**40


Times = float | tuple[float, ...]
"""One time for every stage, or a time for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How long actions and messages take, in any one unit of time.

    A stage is one chunk of one rank. Its times may be one for all stages or a tuple with
    one for each, in the order that a micro-batch meets them.

    Attributes:
        forward: Time of F.
        backward: Time of B, the backward in one piece; I and W together if None.
        backward_input: Time of I; half of ``backward``, or 1, if None.
        backward_weight: Time of W; half of ``backward``, or 1, if None.
        stage_scale: A factor for each stage, 0 where it has no layer; or nothing where all
            are equal.
        send_latency: Time of a message beyond its bytes.
        send_transfer: Time its bytes hold the sender's port: bytes over bandwidth.
        blocking_sends: Whether a rank waits for its own messages to arrive.
        pair: Time of an F and a B run as a pair; None where it saves nothing. Either way both
            results are handed on when the pair ends.
        pairs_apart: Whether the two actions of a pair run one after the other instead, each
            handing on its result when it ends.
    """

    forward: Times = 1
    backward: Times | None = None
    backward_input: Times | None = None
    backward_weight: Times | None = None
    stage_scale: tuple[float, ...] = ()
    send_latency: float = 0
    send_transfer: float = 0
    blocking_sends: bool = False
    pair: float | None = None
    pairs_apart: bool = False

    def __post_init__(self) -> None:
        _check_times("forward", self.forward)
        if self.backward is not None:
            _check_times("backward", self.backward)
        for field in ("backward_input", "backward_weight"):
            if getattr(self, field) is not None:
                _check_times(field, getattr(self, field), may_be_zero=True)
        for field in ("send_latency", "send_transfer"):
            check_number(field, getattr(self, field), above=-1e-300)
        if self.stage_scale:
            _check_times("stage_scale", self.stage_scale)
        if self.pair is None:
            return
        check_number("pair", self.pair)
        if self.pairs_apart:
            raise ConfigError("give pair or pairs_apart, not both")
        times = (self.forward, self.backward, self.backward_input, self.backward_weight)
        if any(isinstance(time, tuple) for time in times):
            raise ConfigError("pair needs one forward and one backward time for all stages")
        ends = (float(_exact(self.forward)), float(_backward(self, 1)[0]))
        longest, both = max(ends), sum(ends)
        if not longest <= self.pair <= both:
            raise ConfigError(
                f"pair={self.pair:g} must be from {longest:g}, the longer of forward and "
                f"backward, to {both:g}, their sum"
            )


def _check_times(field: str, value: object, may_be_zero: bool = False) -> None:
    if not isinstance(value, tuple):
        check_number(field, value, above=-1e-300 if may_be_zero else 0.0)
        return
    for part in value:
        check_number(field, part, above=-1e-300)
    if not may_be_zero and not sum(value) > 0:
        raise ConfigError(f"{field} must leave some stage with work, got {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """One step of a pipeline: who does what when.

    Times are whole slots wherever the durations are fractions of a common unit, so sums
    are exact; ``slots_per_unit`` turns them back into the unit of `Work`.

    Attributes:
        name: Of the schedule.
        ranks: Pipeline ranks, p.
        micro_batches: Micro-batches, m.
        chunks: Chunks a rank holds, v.
        stages: Stages a micro-batch goes through, S.
        orders: Action codes of each rank, see `codes`.
        result: ``starts``, ``ends`` and ``ready`` in slots, see `execute.execute`.
        times: Durations in slots by row, see `durations.stage_times`.
        slots_per_unit: Slots in one unit of time.
    """

    name: str
    ranks: int
    micro_batches: int
    chunks: int
    stages: int
    orders: list[list[int]]
    result: dict[str, Any]
    times: dict[str, Any]
    slots_per_unit: int

    def in_units(self, slots: Any) -> Any:
        """Return a number of slots in the unit of time that the durations came in."""
        return slots if self.slots_per_unit == 1 else slots / self.slots_per_unit


_UNIT_WORK = Work()


def simulate(
    name: str,
    ranks: int,
    micro_batches: int,
    chunks: int | None = None,
    work: Work = _UNIT_WORK,
    kept: float = 1.0,
) -> Timeline:
    """Return the timeline of a named schedule.

    Args:
        name: A key of ``schedules.SCHEDULES``.
        ranks: Pipeline ranks, p.
        micro_batches: Micro-batches, m.
        chunks: Chunks a rank holds, v; the schedule's usual number if None.
        work: Durations.
        kept: Share of a micro-batch's activations that W needs after I, which a search counts.

    Raises:
        ConfigError: If the schedule cannot run at these sizes, or the durations do not fit.
    """
    held = check_schedule(name, ranks, micro_batches, chunks)
    searched = searched_name(name)
    if searched:
        orders = _searched(searched, ranks, micro_batches, work, kept)
        return simulate_orders(searched, orders, ranks, micro_batches, work)
    orders = schedule_orders(name, ranks, micro_batches, held)
    return simulate_orders(name, orders, ranks * held, micro_batches, work)


def _searched(
    name: str, ranks: int, micro_batches: int, work: Work, kept: float
) -> list[list[int]]:
    """Return what a search makes of durations: whole slots, so that equal times are equal."""
    send = _exact(work.send_latency) + _exact(work.send_transfer)
    slots, _ = whole_slots([*_lengths(work, ranks), send])
    forward, _, inputs, weights = (slots[i * ranks : (i + 1) * ranks] for i in range(4))
    lengths = list(zip(forward, inputs, weights, strict=True))
    return searched_orders(name, lengths, micro_batches, slots[-1], _exact(kept))


def simulate_orders(
    name: str, orders: list[list[int]], stages: int, micro_batches: int, work: Work = _UNIT_WORK
) -> Timeline:
    """Return the timeline of per-rank orders, cut short where they deadlock.

    Args:
        name: What to call them.
        orders: Action codes of each rank, see `codes`.
        stages: Stages a micro-batch goes through, S.
        micro_batches: Micro-batches, m.
        work: Durations.

    Raises:
        ConfigError: If some times are not as many as the stages.
    """
    lengths = _lengths(work, stages)
    sends = [_exact(work.send_latency), _exact(work.send_transfer)]
    hidden = Fraction(0)
    if work.pair is not None:
        # Work has checked that these are single times.
        hidden = _exact(work.forward) + _backward(work, stages)[0] - _exact(work.pair)
    whole, slots_per_unit = whole_slots([*lengths, *sends, hidden])
    names = ("forward", "backward", "backward_input", "backward_weight")
    parts = {key: whole[i * stages : (i + 1) * stages] for i, key in enumerate(names)}
    send = {"latency": whole[-3], "transfer": whole[-2], "blocking": work.blocking_sends}
    pair = {"paired": not work.pairs_apart, "hidden": whole[-1]}
    times = stage_times(orders, stages, micro_batches, parts, send, pair)
    return Timeline(
        name=name,
        ranks=len(orders),
        micro_batches=micro_batches,
        chunks=-(-stages // len(orders)),
        stages=stages,
        orders=orders,
        result=execute(orders, stages, micro_batches, times),
        times=times,
        slots_per_unit=slots_per_unit,
    )


def _lengths(work: Work, stages: int) -> list[Fraction]:
    """Return the times of F, B, I and W by stage, one after the other."""
    backward = _backward(work, stages)
    half = (Fraction(1),) * stages
    if work.backward is not None:
        half = tuple(part / 2 for part in backward)
    scale = _by_stage("stage_scale", work.stage_scale or 1, stages)
    kinds = [
        _by_stage("forward", work.forward, stages),
        backward,
        half
        if work.backward_input is None
        else _by_stage("backward_input", work.backward_input, stages),
        half
        if work.backward_weight is None
        else _by_stage("backward_weight", work.backward_weight, stages),
    ]
    return [_exact(kind[at]) * _exact(scale[at]) for kind in kinds for at in range(stages)]


def _backward(work: Work, stages: int) -> tuple[Fraction, ...]:
    if work.backward is not None:
        return tuple(_exact(part) for part in _by_stage("backward", work.backward, stages))
    halves = [1 if one is None else one for one in (work.backward_input, work.backward_weight)]
    inputs = _by_stage("backward_input", halves[0], stages)
    weights = _by_stage("backward_weight", halves[1], stages)
    return tuple(_exact(i) + _exact(w) for i, w in zip(inputs, weights, strict=True))


def _by_stage(field: str, value: Times, stages: int) -> tuple[Any, ...]:
    if not isinstance(value, tuple):
        return (value,) * stages
    if len(value) != stages:
        raise ConfigError(f"{field} needs one number for each of {stages} stages, got {len(value)}")
    return value


def whole_slots(values: Sequence[Fraction]) -> tuple[list[Any], int]:
    """Return times as whole slots and the slots in a unit; as floats where they get too long.

    Args:
        values: Times in any unit.
    """
    slots_per_unit = lcm(*(value.denominator for value in values))
    slots = [value * slots_per_unit for value in values]
    if slots_per_unit > LARGEST_SLOT or max(slots) > LARGEST_SLOT:
        return [float(value) for value in values], 1
    return [int(value) for value in slots], slots_per_unit


def _exact(value: Any) -> Fraction:
    # By way of the decimal that prints: 0.1 is meant as a tenth, not as its nearest double.
    return value if isinstance(value, Fraction) else Fraction(str(value))
