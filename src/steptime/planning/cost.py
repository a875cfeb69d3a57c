"""What a run of a given step time takes: days, money, energy."""

from __future__ import annotations

from dataclasses import dataclass

from steptime.answer.answer import Prediction
from steptime.inputs.errors import check_number
from steptime.inputs.in_number import in_number
from steptime.planning.goodput import Failures, Goodput, goodput
from steptime.planning.question import Question

SECONDS_PER_HOUR = 3600.0
JOULES_PER_MWH = 3.6e9
MOST_TOKENS, MOST_PRICE = 1e20, 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A whole training run at one step time.

    Attributes:
        num_steps: Steps of the run; under 1 where its tokens are less than a step takes.
        tokens_per_step: What a step takes.
        days: Its length.
        days_low: The same at the lower end of the step's interval; None without one.
        days_high: And at the upper end.
        gpu_hours: GPU hours.
        cost: GPU hours times the price; None without one.
        cost_low: At the lower end; None without a price or an interval.
        cost_high: At the upper end.
        energy_mwh: At the boards' rated power, hosts and cooling not included; None where
            the accelerator's power is not known.
        goodput: What failures leave of the time; None where no stop and no restart is counted.
    """

    num_steps: float
    tokens_per_step: int
    days: float
    days_low: float | None
    days_high: float | None
    gpu_hours: float
    cost: float | None
    cost_low: float | None
    cost_high: float | None
    energy_mwh: float | None
    goodput: Goodput | None

    @property
    def length(self) -> str:
        """Return its steps in words, and that they are less than one where nothing is trained."""
        if self.num_steps < 1.0:
            return f"less than one step ({self.tokens_per_step:,} tokens)"
        return f"{self.num_steps:,.0f} {in_number(round(self.num_steps), 'steps')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """What is said of a whole run, so that its days and cost can be told.

    Attributes:
        tokens: Of the run.
        price_per_gpu_hour: In any currency; None for no cost.
        failures: What the job meets, ``Failures()`` for what is usual; None for no stops.
    """

    tokens: float
    price_per_gpu_hour: float | None = None
    failures: Failures | None = None

    def __post_init__(self) -> None:
        """Refuse numbers out of range before anything is asked."""
        check_number("tokens", self.tokens, most=MOST_TOKENS)
        if self.price_per_gpu_hour is not None:
            check_number("price_per_gpu_hour", self.price_per_gpu_hour, most=MOST_PRICE)


Ends = tuple[float | None, float | None]


def run_of(
    answer: Prediction,
    tokens: float,
    *,
    price_per_gpu_hour: float | None = None,
    failures: Failures | None = None,
) -> Run:
    """Return days, cost and energy of a whole run at the step time of an answer.

    Args:
        answer: Of `steptime.predict`.
        tokens: Of the run.
        price_per_gpu_hour: In any currency.
        failures: What the job meets, ``Failures()`` for what is usual; none if None.

    Raises:
        ConfigError: If a number is out of range, or failures leave nothing.

    Example:
        >>> import steptime
        >>> step = steptime.predict(
        ...     model="llama3-8b", accelerator="h100", num_gpus=64, tp=2,
        ...     seq_length=8192, global_batch_size=128,
        ... )
        >>> f"{steptime.run_of(step, 1e12).num_steps:,.0f} steps"
        '953,674 steps'
    """
    step = answer.step
    question = Question(
        model=step.model,
        accelerator=step.accelerator,
        num_devices=step.layout.num_devices,
        global_batch_size=step.batch.global_batch_size,
        seq_length=step.batch.seq_length,
        precision=step.layout.precision,
        predictor=answer.predictor,
        said=step.said,
    )
    return run_cost(
        question,
        answer.step_time_s,
        tokens,
        price_per_gpu_hour,
        (answer.step_time_low_s, answer.step_time_high_s),
        None if failures is None else goodput(question, failures),
    )


def run_cost(
    question: Question,
    step_time_s: float,
    num_tokens: float,
    price_per_gpu_hour: float | None,
    ends: Ends = (None, None),
    stops: Goodput | None = None,
) -> Run:
    """Return what a run of ``num_tokens`` takes at one step time.

    Args:
        question: Gives the devices and the tokens of a step.
        step_time_s: Seconds of one step.
        num_tokens: Tokens of the whole run.
        price_per_gpu_hour: In any currency.
        ends: Of the interval of the step time.
        stops: What failures leave of the time; all of it trains if None.

    Raises:
        ConfigError: If a number is out of range.
    """
    check_number("tokens", num_tokens, most=MOST_TOKENS)
    price = price_per_gpu_hour
    if price is not None:
        price = check_number("price_per_gpu_hour", price, most=MOST_PRICE)
    step = question.global_batch_size * question.seq_length
    steps = num_tokens / step
    fraction = 1.0 if stops is None else stops.fraction

    def hours(step_s: float | None) -> float | None:
        return None if step_s is None else steps * step_s / SECONDS_PER_HOUR / fraction

    def times(value: float | None, factor: float | None) -> float | None:
        return None if value is None or factor is None else value * factor

    whole = steps * step_time_s / SECONDS_PER_HOUR / fraction
    low, high = (hours(end) for end in ends)
    gpu_hours = whole * question.num_devices
    per_hour = times(price, float(question.num_devices))
    watt = question.accelerator.watt
    joules = gpu_hours * SECONDS_PER_HOUR * watt
    return Run(
        num_steps=steps,
        tokens_per_step=step,
        days=whole / 24.0,
        days_low=times(low, 1.0 / 24.0),
        days_high=times(high, 1.0 / 24.0),
        gpu_hours=gpu_hours,
        cost=times(gpu_hours, price),
        cost_low=times(low, per_hour),
        cost_high=times(high, per_hour),
        energy_mwh=joules / JOULES_PER_MWH if watt > 0.0 else None,
        goodput=stops,
    )
