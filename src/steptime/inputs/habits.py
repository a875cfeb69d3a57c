"""What software usually does of a layout: which it is, and what it does where nobody says it."""

from __future__ import annotations

from steptime.inputs.errors import ConfigError
from steptime.inputs.model import ModelShape
from steptime.inputs.said import Said
from steptime.inputs.stack import (
    USUAL_FAMILY,
    USUAL_SHARDED,
    Stack,
    family_stack,
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
    if model.zero_stage is not None and model.zero_stage in stack.zero_stages:
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
    known = chosen_stack(said, sharded=False).zero_stages
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
        raise ConfigError(
            f"recompute is not stated beside {stack.title}: it moves the step by a third"
        )
    return stack.recompute


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
    if stage not in stack.zero_stages:
        known = ", ".join(map(str, sorted(stack.zero_stages)))
        raise ConfigError(f"zero_stage={stage}: {stack.title} has no such sharding; use {known}")
