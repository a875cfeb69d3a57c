"""The options that say how long a whole run is and what it meets, the same for all commands."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from steptime.answer.answer import Prediction
from steptime.cli import options as opt
from steptime.cli.output import console
from steptime.inputs.errors import ConfigError
from steptime.inputs.shown import unit_of

if TYPE_CHECKING:
    # Loaded where a run is told of: most questions are of a step.
    from steptime.planning.cost import Run
    from steptime.planning.goodput import Failures


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What is told of a whole run.

    Attributes:
        tokens: Of the run; None where nothing is told.
        price_per_gpu_hour: In any currency; None for no cost.
        failures: What the job meets; None where nobody counts them.
    """

    tokens: float | None
    price_per_gpu_hour: float | None
    failures: Failures | None

    @property
    def more(self) -> bool:
        """Return whether more than its length is told."""
        return self.price_per_gpu_hour is not None or self.failures is not None

    def of(self, answer: Prediction) -> Run | None:
        """Return the run at the step time of an answer; None where nothing is told of one.

        Args:
            answer: The answer.
        """
        if self.tokens is None:
            return None
        from steptime.planning.cost import run_of

        price = self.price_per_gpu_hour
        return run_of(answer, self.tokens, price_per_gpu_hour=price, failures=self.failures)


def _options(
    tokens: Annotated[
        float | None,
        Option(
            "--tokens",
            help="Tokens of the whole run, as 15T, for its length and cost.",
            parser=opt.number,
        ),
    ] = None,
    price_per_gpu_hour: Annotated[
        float | None, Option("--price-per-gpu-hour", help="In any currency.")
    ] = None,
    count_failures: Annotated[
        bool, Option("--goodput", help="Count failures, checkpoints and restarts.")
    ] = False,
    device_hours: Annotated[
        float | None,
        Option("--gpu-hours-between-failures", help="Default: as of a large public run."),
    ] = None,
    checkpoint_s: Annotated[
        float | None,
        Option("--checkpoint-seconds", help="Default: by the size of a checkpoint."),
    ] = None,
    restart_minutes: Annotated[
        float | None, Option("--restart-minutes", help="Default: 10.")
    ] = None,
) -> Told:
    """Return what the options tell.

    Raises:
        ConfigError: If something is told of a run whose length is not.
    """
    failures = None
    if count_failures or (device_hours, checkpoint_s, restart_minutes) != (None, None, None):
        from steptime.planning.goodput import Failures

        failures = Failures(
            device_hours=device_hours, checkpoint_s=checkpoint_s, restart_minutes=restart_minutes
        )
    told = Told(tokens=tokens, price_per_gpu_hour=price_per_gpu_hour, failures=failures)
    if told.more and tokens is None:
        name = "--goodput" if price_per_gpu_hour is None else "--price-per-gpu-hour"
        raise ConfigError(f"{name} needs --tokens, the length of the run")
    return told


def takes_run(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of a whole run after its own.

    Args:
        command: Takes ``run``, of `Told`, by name.
    """
    shared = inspect.signature(_options, eval_str=True).parameters
    own = inspect.signature(command, eval_str=True).parameters
    every = (*(one for name, one in own.items() if name != "run"), *shared.values())
    options = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in every]

    def of_run(**given: Any) -> None:
        told = _options(**{name: given.pop(name) for name in shared})
        command(run=told, **given)

    of_run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    of_run.__doc__, of_run.__name__ = command.__doc__, command.__name__
    return of_run


def print_run(run: Run) -> None:
    """Print what a whole run takes at one step time, with its range.

    Args:
        run: The run.
    """
    from steptime.cli.search_table import amount, print_goodput
    from steptime.planning.goodput import SECONDS_PER_DAY

    _, unit_s, unit = unit_of(run.days * SECONDS_PER_DAY)
    scale = SECONDS_PER_DAY / unit_s

    def told(value: float, low: float | None, high: float | None, shown: Callable[..., str]) -> str:
        ends = "" if low is None or high is None else f" ({shown(low)} to {shown(high)})"
        return f"{shown(value)}{ends}"

    days = told(run.days, run.days_low, run.days_high, lambda value: f"{value * scale:,.1f}")
    parts = [f"{days} {unit}", f"{amount(run.gpu_hours)} GPU hours"]
    if run.cost is not None:
        parts.append(f"cost {told(run.cost, run.cost_low, run.cost_high, amount)}")
    if run.energy_mwh is not None:
        parts.append(f"{amount(run.energy_mwh)} MWh")
    console().print(f"the whole run, {run.length}: {', '.join(parts)}", markup=False)
    if run.goodput is not None:
        print_goodput(run.goodput)
