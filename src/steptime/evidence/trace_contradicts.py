"""What a trace or a log says of its run that contradicts the question beside it, or itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from steptime.answer.answer import Prediction
from steptime.evidence.contradictions import CHECK, Outcomes
from steptime.inputs.presets import accelerator_names
from steptime.readers.trace.rank import RankTrace
from steptime.readers.trace.run_log import RunLog

_LAST_DIGIT_TFLOPS = 0.05
"""Half of the last digit of a rate: of the logs that are read, none prints fewer than one place."""
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


def log_contradiction(log: RunLog, told: Prediction) -> str:
    """Return a sentence if what a log prints of one pace cannot all be of the question's run.

    Its step time, tokens and FLOP a second are one number, printed up to three ways.

    Args:
        log: Of a run.
        told: The answer to the question.
    """
    rate = None if log.flop_per_s_per_gpu is None else log.flop_per_s_per_gpu / 1e12
    rounding = _LAST_DIGIT_TFLOPS / rate if rate else 0.0
    printed = Outcomes(log.step_time_s, log.tokens_per_s_per_gpu, rate, rounding)
    why, _ = printed.conflict(told.record)
    if not why:
        return ""
    said = why.removesuffix(CHECK)
    count = told.step.layout.num_devices
    return (
        f"the log's numbers are not one run's as it is asked here: {said}; one of them is wrong, "
        f"or the run has another model, batch (-B), sequence length (-s) or number of GPUs "
        f"than {count}"
    )
