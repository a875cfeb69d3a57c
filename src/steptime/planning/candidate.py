"""A layout that a search found, and the file of one."""

from __future__ import annotations

from dataclasses import dataclass

from steptime.inputs.layout import Batch, Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One layout with what the models say of it.

    Attributes:
        layout: The layout.
        batch: The batch, with the micro-batch size.
        step_time_s: Seconds of a step.
        memory_bytes: On the fullest device.
        headroom_bytes: What is left there; below 0 if it does not fit.
        fit_probability: The chance that it fits the device; None where too few peaks are known.
    """

    layout: Layout
    batch: Batch
    step_time_s: float
    memory_bytes: float
    headroom_bytes: float
    fit_probability: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Emission:
    """A file, and what its user must know of it.

    Attributes:
        text: The file.
        notes: Sentences for its user: of which layout it is, and what it does not say.
        candidate: The layout, with what was predicted of it.
    """

    text: str
    notes: tuple[str, ...]
    candidate: Candidate
