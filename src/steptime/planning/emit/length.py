"""How long a run is, in the words of each framework: steps, from tokens."""

from __future__ import annotations

import math

from steptime.inputs.layout import Batch

LINES = {
    "megatron": ("    --global-batch-size ", "    --train-iters {steps} \\"),
    "torchtitan": ("global_batch_size = ", "steps = {steps}"),
    "megatron-bridge": ("  global_batch_size: ", "  train_iters: {steps}"),
    "nemo": ("  devices: ", "  max_steps: {steps}"),
    "deepspeed": ("    --per_device_train_batch_size ", "    --max_steps {steps} \\"),
    "nanotron": ("  sequence_length: ", "  train_steps: {steps}"),
}
"""Of each format, how the line starts after which the steps stand, and the line that says them."""


def steps_of(tokens: float, batch: Batch) -> int:
    """Return the steps in which a run sees its tokens; the last may see more than are left.

    Args:
        tokens: Of the whole run.
        batch: Of a step.
    """
    return math.ceil(tokens / (batch.global_batch_size * batch.seq_length))


def with_steps(kind: str, text: str, steps: int) -> str:
    """Return a file that says how many steps its run takes.

    Args:
        kind: Its format.
        text: The file, as `steptime.planning.emit.emitted` writes it.
        steps: Of the run.
    """
    starts, line = LINES[kind]
    key = line.split()[0]
    # A placeholder, and what tells of it, go.
    lines = [one for one in text.split("\n") if key not in one.split()[:2]]
    place = next(at for at, one in enumerate(lines) if one.startswith(starts))
    return "\n".join([*lines[: place + 1], line.format(steps=steps), *lines[place + 1 :]])
