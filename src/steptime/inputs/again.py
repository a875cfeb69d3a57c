"""A training step asked again, with one more thing stated."""

from __future__ import annotations

from typing import Any

from steptime.inputs.fields import LAYOUT_FIELDS
from steptime.inputs.training_step import TrainingStep, training_step


def inputs_of(step: TrainingStep) -> dict[str, Any]:
    """Return what was stated of a step, by name of the field; None where nothing was.

    The network is part of the accelerator.

    Args:
        step: What is asked.
    """
    stated = {name: getattr(step.layout, name) for name in LAYOUT_FIELDS}
    stated |= {
        "model": step.model,
        "accelerator": step.accelerator,
        "seq_length": step.batch.seq_length,
        "global_batch_size": step.batch.global_batch_size,
        "micro_batch_size": step.batch.micro_batch_size,
        "num_gpus": step.layout.num_devices if step.gpus_stated else None,
        "stack": step.said.stack,
        "date": step.said.date,
        "facts": dict(step.said.facts),
    }
    return stated | dict.fromkeys(step.open)


def asked_again(step: TrainingStep, **stated: Any) -> TrainingStep:
    """Return a step with more of it stated; what is still open follows anew.

    Args:
        step: What was asked.
        **stated: Fields by name; ``facts`` stand beside those that were stated.

    Raises:
        ConfigError: If a value is out of range or does not fit the rest.
    """
    given = inputs_of(step)
    facts = given["facts"] | stated.pop("facts", {})
    return training_step(**given | stated | {"facts": facts})
