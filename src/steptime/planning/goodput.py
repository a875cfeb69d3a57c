"""What failures leave of a run's time: checkpoints, work done again, and restarts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from steptime.formulas.parameters import num_parameters
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError, check_number
from steptime.inputs.job import job
from steptime.inputs.layout import Batch, Layout
from steptime.planning.question import Question

SECONDS_PER_DAY, SECONDS_PER_HOUR, SECONDS_PER_MINUTE = 86400.0, 3600.0, 60.0

LEAST_FRACTION = 1e-3
"""A run that trains less than a thousandth of its time makes no progress that anybody waits for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """What a job meets; each is taken from ``data/failures.toml`` where it is None.

    Attributes:
        device_hours: Device hours between two failures of a job.
        checkpoint_s: Seconds in which training waits for a checkpoint.
        restart_minutes: From a failure to the first step after it.
    """

    device_hours: float | None = None
    checkpoint_s: float | None = None
    restart_minutes: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Goodput:
    """The share of a run's time that trains, and what it follows from.

    Attributes:
        fraction: Of the time, spent on steps that count.
        between_failures_s: Mean time between two failures of the job, M.
        checkpoint_s: To write a checkpoint.
        interval_s: Training between two checkpoints, the best by Daly.
        restart_s: From a failure to the first step after it.
        sources: Where what was not stated comes from.
    """

    fraction: float
    between_failures_s: float
    checkpoint_s: float
    interval_s: float
    restart_s: float
    sources: tuple[str, ...]


def best_interval_s(checkpoint_s: float, between_failures_s: float) -> float:
    """Return the time to train between two checkpoints that loses the least.

    Young's ``sqrt(2 C M)`` is the first term; Daly's next two matter where failures are near.

    Args:
        checkpoint_s: To write one, C.
        between_failures_s: Mean time between failures, M.

    References:
        young1974, the first-order optimum.
        daly2006, Eq. 37; Fig. 3 to 5 give three of its values.
    """
    if checkpoint_s >= 2.0 * between_failures_s:
        return between_failures_s
    ratio = checkpoint_s / (2.0 * between_failures_s)
    first = math.sqrt(2.0 * checkpoint_s * between_failures_s)
    return first * (1.0 + math.sqrt(ratio) / 3.0 + ratio / 9.0) - checkpoint_s


def goodput_fraction(
    interval_s: float, checkpoint_s: float, restart_s: float, between_failures_s: float
) -> float:
    """Return useful time over all, for failures that come at random at a constant rate.

    Args:
        interval_s: Training between two checkpoints.
        checkpoint_s: To write one.
        restart_s: To start again.
        between_failures_s: Mean time between failures.

    References:
        daly2006, Eq. 20, the total time.
    """
    mean = between_failures_s
    if max(restart_s, interval_s + checkpoint_s) > 500.0 * mean:
        # No restart would ever end, and the exponential would overflow.
        return 0.0
    lost = math.exp(restart_s / mean) * mean * math.expm1((interval_s + checkpoint_s) / mean)
    return interval_s / lost


def checkpoint_bytes(question: Question) -> float:
    """Return the bytes of one checkpoint: weights, master copies and moments of the optimizer.

    Args:
        question: Gives model and software.
    """
    layout = Layout(precision=question.precision)
    batch = Batch(global_batch_size=1, seq_length=question.seq_length)
    record = job(question.model, question.accelerator, layout, batch)
    facts = question.known().plain.memory
    each = facts.weight_bytes + facts.master_bytes + facts.moment_bytes
    return float(num_parameters(record) * each)


def goodput(question: Question, failures: Failures) -> Goodput:
    """Return what failures leave of the time of a job.

    Args:
        question: Gives devices, model and software.
        failures: What is stated.

    Raises:
        ConfigError: If a number is out of range, or failures leave nothing.
    """
    table: dict[str, Any] = data_table("failures.toml")
    stops, storage, restart = table["interruptions"], table["storage"], table["restart"]
    sources: list[str] = []

    def stated(name: str, value: float | None, usual: float, source: str) -> float:
        if value is not None:
            return check_number(name, value, most=1e12)
        sources.append(source)
        return usual

    usual_hours = stops["days"] * 24.0 * stops["devices"] / stops["count"]
    rate = storage["bytes_per_s"] * question.num_devices / storage["devices"]
    hours = stated("device_hours", failures.device_hours, usual_hours, stops["source"])
    written_s = stated(
        "checkpoint_s",
        failures.checkpoint_s,
        checkpoint_bytes(question) / rate,
        storage["source"],
    )
    minutes = stated(
        "restart_minutes", failures.restart_minutes, float(restart["minutes"]), restart["source"]
    )
    mean_s, restart_s = (
        hours * SECONDS_PER_HOUR / question.num_devices,
        minutes * SECONDS_PER_MINUTE,
    )
    interval_s = best_interval_s(written_s, mean_s)
    fraction = goodput_fraction(interval_s, written_s, restart_s, mean_s)
    if fraction < LEAST_FRACTION:
        raise ConfigError(_never(mean_s, restart_s, interval_s + written_s))
    return Goodput(
        fraction=fraction,
        between_failures_s=mean_s,
        checkpoint_s=written_s,
        interval_s=interval_s,
        restart_s=restart_s,
        sources=tuple(sources),
    )


def _never(mean_s: float, restart_s: float, round_s: float) -> str:
    """Return that a run does not finish, with what its failures leave no time for."""
    return (
        f"a failure every {mean_s:.3g} s leaves no time to restart in {restart_s:.3g} s and to "
        f"come from one checkpoint to the next in {round_s:.3g} s: next to nothing trains, and the "
        "run never finishes; give more device hours between failures, or a shorter restart"
    )
