"""The models of a step time by name: which formula, what it takes, what it cannot do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from steptime.formulas.baseline import baseline_step, chapter_step, step_s
from steptime.formulas.number import Number
from steptime.formulas.roofline import roofline_step, roofline_step_s

Parts = dict[str, Number]


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictor:
    """One model of the step time.

    Attributes:
        name: As ``--predictor`` takes it.
        title: As a sentence names it.
        parts: From records to seconds by part.
        total: Adds the parts up, in one fixed order.
        uses_software: Whether ``parts`` takes the facts of the software, after the job.
        sixteen_bits_only: Whether it says nothing of fewer bits.
        any_order: Whether it knows other rank orders than Megatron-LM's.
        most_chunks: Whether it takes the most chunks where none are given, as the chapter does.
        says: What it is, in a few words.
    """

    TABLE: ClassVar[str] = "steptime.answer.predictor:PREDICTORS"

    name: str
    title: str
    parts: Callable[..., Any]
    total: Callable[[Any], Number]
    uses_software: bool = False
    sixteen_bits_only: bool = False
    any_order: bool = True
    most_chunks: bool = False
    says: str = ""


PREDICTORS: dict[str, Predictor] = {
    one.name: one
    for one in (
        Predictor(
            name="roofline",
            title="roofline model",
            parts=roofline_step,
            total=roofline_step_s,
            uses_software=True,
            any_order=False,
            says="each product and message by its size and its link",
        ),
        Predictor(
            name="baseline",
            title="baseline model",
            parts=baseline_step,
            total=step_s,
            sixteen_bits_only=True,
            says="one fitted constant, nothing overlaps",
        ),
        Predictor(
            name="chapter",
            title="chapter's baseline",
            parts=chapter_step,
            total=step_s,
            sixteen_bits_only=True,
            most_chunks=True,
            says="the baseline as the chapter has it: fixed links, most chunks",
        ),
    )
}
"""Every model, the default first."""
