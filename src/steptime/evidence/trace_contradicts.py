"""What a trace says of its run that contradicts the question beside it: device and processes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from steptime.answer.answer import Prediction
from steptime.inputs.presets import accelerator_names
from steptime.readers.trace.rank import RankTrace

_PART = re.compile(r"(?<![a-z0-9])[a-z]+[0-9]+[a-z]*(?![a-z0-9])")


def _parts_named(name: str) -> set[str]:
    """Return the known devices that a name holds, such as a100 in NVIDIA A100-SXM4-80GB."""
    known = {part for key in accelerator_names() for part in _PART.findall(key.lower())}
    return {*_PART.findall(name.lower())} & known


def contradictions(traces: Sequence[RankTrace], told: Prediction) -> tuple[str, ...]:
    """Return a sentence for each thing that traces say otherwise than the question.

    Args:
        traces: Of one run.
        told: The answer to the question.
    """
    device, count = told.step.accelerator.name, told.step.layout.num_devices
    found = []
    for name in dict.fromkeys(one.device for one in traces):
        seen, asked = _parts_named(name), _parts_named(device)
        if seen and asked and not seen & asked:
            found.append(f"the trace is of {name}, but the prediction is for {device} (-a)")
    for size in dict.fromkeys(one.world_size for one in traces):
        if size is not None and size != count:
            found.append(
                f"the trace is of {size} processes, but the prediction is for {count} devices"
            )
    return tuple(found)
