"""What software usually does of a layout: which it is, and what it does where nobody says it."""

from __future__ import annotations

from dataclasses import replace

from steptime.inputs.ability import ability_of
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError, check_count
from steptime.inputs.layout import RECOMPUTE
from steptime.inputs.model import ModelShape
from steptime.inputs.precision import precision_named
from steptime.inputs.said import Said, in_its_time
from steptime.inputs.stack import (
    USUAL_FAMILY,
    USUAL_SHARDED,
    Stack,
    family_stack,
    last_of,
    learnt_to_shard,
    stack_named,
)


def chosen_stack(said: Said, sharded: bool) -> Stack:
    """Return the software that is named, or else what is usual.

    Args:
        said: Of the software.
        sharded: Whether data-parallel ranks share the weights: then FSDP is usual.
    """
    if said.stack is None:
        return family_stack(USUAL_SHARDED if sharded else USUAL_FAMILY, said.date)
    return stack_named(said.stack) if said.exact else family_stack(said.stack, said.date)


def usual_zero_stage(said: Said, model: ModelShape, pp: int) -> tuple[int, str]:
    """Return what data parallelism shards where nobody says it, and why that is taken.

    Args:
        said: Of the software.
        model: Its own report may say what it was trained with.
        pp: Pipeline stages: some software shards less beside a pipeline.
    """
    stack = chosen_stack(said, sharded=False)
    if model.zero_stage is not None and model.zero_stage in stack.shards(said.date):
        return model.zero_stage, "its own report"
    usual = stack.zero_in_pipeline if pp > 1 else stack.zero_stages[0]
    return usual, f"usual with {stack.name}" if said.stack is not None else ""


def zero_stages(said: Said, tried: tuple[int, ...]) -> tuple[int, ...]:
    """Return which ways to shard the software has, of those that are tried; all its own if none.

    Args:
        said: Of the software; all are had where it is not named.
        tried: 0 to 3.
    """
    if said.stack is None:
        return tried
    known = chosen_stack(said, sharded=False).shards(said.date)
    return tuple(stage for stage in tried if stage in known) or tuple(sorted(known))


def usual_stack(said: Said) -> Stack:
    """Return the software whose habits fill in what nobody states of the layout.

    Args:
        said: Of the software.
    """
    return chosen_stack(said, sharded=False)


def usual_recompute(said: Said) -> str:
    """Return what is recomputed where nobody says it.

    Args:
        said: Of the software.

    Raises:
        ConfigError: If the software has no usual mode.
    """
    stack = usual_stack(said)
    if not stack.recompute:
        runs = ability_of(said)
        known = " or ".join(mode for mode in RECOMPUTE if runs.runs("recompute", mode))
        raise ConfigError(
            f"recompute is not stated beside {stack.title}: it moves the step by a third; "
            f"state {known}"
        )
    return stack.recompute


def sharding(said: Said, device: Accelerator, *stages: int) -> Said:
    """Return what is said of software that is stated to have some ways to shard.

    Where nobody gives a date, and its family learnt one of them after the device was usual, it is
    taken to be as young as that. Who asks makes no difference: options, a row, a launch file.

    Args:
        said: Of the software; nothing is refused where it is not named.
        device: Says when it was current where nobody does.
        *stages: 0 to 3, as they are stated.

    Raises:
        ConfigError: If one is none, or the software does not have it, with those that it has.
    """
    for stage in stages:
        check_count("zero_stage", stage, least=0, most=3)
    if said.stack is None:
        return said
    if not _has(said, device, stages) and said.date is None:
        young = replace(said, shards=tuple(dict.fromkeys(stages)))
        said = young if _has(young, device, stages) else said
    for stage in stages:
        check_zero_stage(in_its_time(said, device), stage)
    return said


def _has(said: Said, device: Accelerator, stages: tuple[int, ...]) -> bool:
    era = in_its_time(said, device)
    known = had_by(era, chosen_stack(era, sharded=False))
    return {*stages} <= {*known}


def had_by(said: Said, stack: Stack) -> tuple[int, ...]:
    """Return what data parallelism can shard by the month that is said, the usual stage first.

    Exact software has all that it ever learnt: what its month lacked is told beside the answer, as
    it may be a code of its own that does as the stack does.

    Args:
        said: Of the software.
        stack: What that means.
    """
    return stack.shards(None if said.exact else said.date)


def check_zero_stage(said: Said, stage: int) -> None:
    """Refuse a way to shard that the software does not have.

    Args:
        said: Of the software; nothing is refused where it is not named.
        stage: 0 to 3.

    Raises:
        ConfigError: With the stages that it has.
    """
    if said.stack is None:
        return
    stack = chosen_stack(said, sharded=stage > 2)
    had = had_by(said, stack)
    if stage not in had:
        known = ", ".join(map(str, sorted(had)))
        learnt = said.date and not said.exact and learnt_to_shard(said.stack, (stage,), said.date)
        later = f", or --date {learnt}, when it came" if learnt else ""
        raise ConfigError(
            f"zero_stage={stage}: {stack.title} has no such sharding; use {known}{later}"
        )


def check_bits(said: Said, stack: Stack, precision: str) -> None:
    """Refuse products in fewer bits than the software can have.

    Args:
        said: Of the software.
        stack: What that means.
        precision: A key of ``data/precisions.toml``.

    Raises:
        ConfigError: With the way out.
    """
    one = precision_named(precision)
    if one.fp8 and stack.no_eight_bits:
        raise ConfigError(
            f"precision={precision!r}: {stack.title} ({stack.name}) has no products of {one.bits} "
            f"bits ({stack.no_eight_bits}); use bf16 or newer software"
        )
    if said.date is not None and said.date < one.since:
        raise ConfigError(
            f"precision={precision!r} came in {one.since}, after date {said.date!r}; use bf16 or a "
            "later date"
        )
    if not said.exact or said.date is not None:
        return
    last = last_of(stack)
    # What took a stack's place in the month of a format left it no time to have it.
    if last and (last < one.since or (last == one.since and not stack.of)):
        raise ConfigError(
            f"precision={precision!r} came in {one.since}, after {stack.title} ({stack.name}, "
            f"current from {stack.since}); use bf16, newer software or a later date"
        )


def check_date_of(said: Said, stack: Stack) -> None:
    """Refuse a month in which an exact stack was not yet there.

    Args:
        said: Of the software.
        stack: What that means.

    Raises:
        ConfigError: With the way out.
    """
    if said.exact and said.date is not None and said.date < stack.since:
        raise ConfigError(
            f"date {said.date!r} is before {stack.title} ({stack.name}), which has been current "
            f"since {stack.since}; use that month or a later one, or its family, "
            f"stack {stack.family!r}"
        )
