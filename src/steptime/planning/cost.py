"""What a run of a given step time takes: days, money, energy."""

from __future__ import annotations

from dataclasses import dataclass

from steptime.inputs.errors import check_number
from steptime.planning.question import Question

SECONDS_PER_HOUR = 3600.0
JOULES_PER_MWH = 3.6e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A whole training run at one step time, with no stop and no restart.

    Attributes:
        num_steps: Steps of the run.
        days: Its length.
        gpu_hours: GPU hours.
        cost: GPU hours times the price; None without one.
        energy_mwh: At the boards' rated power, hosts and cooling not included; None where
            the accelerator's power is not known.
    """

    num_steps: float
    days: float
    gpu_hours: float
    cost: float | None
    energy_mwh: float | None


def run_cost(
    question: Question, step_time_s: float, num_tokens: float, price_per_gpu_hour: float | None
) -> Run:
    """Return what a run of ``num_tokens`` takes at one step time.

    Args:
        question: Gives the devices and the tokens of a step.
        step_time_s: Seconds of one step.
        num_tokens: Tokens of the whole run.
        price_per_gpu_hour: In any currency.

    Raises:
        ConfigError: If a number is out of range.
    """
    check_number("tokens", num_tokens, most=1e20)
    steps = num_tokens / (question.global_batch_size * question.seq_length)
    hours = steps * step_time_s / SECONDS_PER_HOUR
    gpu_hours = hours * question.num_devices
    cost = None
    if price_per_gpu_hour is not None:
        cost = gpu_hours * check_number("price_per_gpu_hour", price_per_gpu_hour, most=1e9)
    watt = question.accelerator.watt
    joules = gpu_hours * SECONDS_PER_HOUR * watt
    return Run(
        num_steps=steps,
        days=hours / 24.0,
        gpu_hours=gpu_hours,
        cost=cost,
        energy_mwh=joules / JOULES_PER_MWH if watt > 0.0 else None,
    )
