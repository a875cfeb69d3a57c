"""What the models say of a launch file, and the layout they would take instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steptime.evidence.predict import default_predictor
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import check_layout
from steptime.planning.question import Question
from steptime.planning.result import Candidate, evaluated, memory_parts, step_interval, step_parts
from steptime.planning.search import search
from steptime.readers.completed import completed
from steptime.readers.reading import Reading, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Time, memory and a suggestion for one launch file.

    Attributes:
        question: Model, devices and batch of the file.
        own: The file's own layout.
        interval_s: Where its measured step lies nine times in ten, None where not known.
        parts: Where its time goes, seconds.
        memory: Where the memory of its fullest device goes, bytes.
        best: The fastest layout that fits, None if none does.
        gain_fraction: Time that it saves; None where there is nothing to compare.
        tie_fraction: Differences up to here the model cannot tell.
    """

    question: Question
    own: Candidate
    interval_s: tuple[float, float] | None
    parts: dict[str, float]
    memory: dict[str, float]
    best: Candidate | None
    gain_fraction: float | None
    tie_fraction: float


def explained(
    reading: Reading,
    accelerator: Accelerator,
    given: Mapping[str, Value],
    predictor: str | None = None,
) -> Explanation:
    """Return what the models say of a file that gives a layout.

    Args:
        reading: What was understood of the file; ``model`` is set.
        accelerator: The device and its links.
        given: What the file leaves out.
        predictor: baseline or roofline; None for the better one that knows the device.

    Raises:
        ConfigError: If something is missing or contradicts the model.
    """
    if reading.model is None:
        raise ConfigError(f"{reading.path} does not give the sizes of a model; give --model")
    if reading.kind == "huggingface":
        raise ConfigError(
            f"{reading.path} describes a model, not a run: use it as `steptime search --model`"
        )
    layout, batch = completed(reading, given)
    check_layout(reading.model, layout, batch)
    question = Question(
        model=reading.model,
        accelerator=accelerator,
        num_devices=layout.num_devices,
        global_batch_size=batch.global_batch_size,
        seq_length=batch.seq_length,
        precision=layout.precision,
        predictor=predictor or default_predictor(accelerator),
    )
    own = evaluated(question, layout, batch)
    result = search(question, keep=1)
    best = result.best[0] if result.best else None
    gain = None
    if best is not None and own.headroom_bytes >= 0:
        gain = max(0.0, 1.0 - best.step_time_s / own.step_time_s)
    return Explanation(
        question=question,
        own=own,
        interval_s=step_interval(question, own),
        parts=step_parts(question, own),
        memory=memory_parts(question, own),
        best=best,
        gain_fraction=gain,
        tie_fraction=result.tie_fraction,
    )
