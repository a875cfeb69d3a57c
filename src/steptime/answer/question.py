"""What is asked of one training step."""

from __future__ import annotations

from dataclasses import dataclass, replace

from steptime.answer.known import Known, check_order, default_predictor, known_of
from steptime.answer.predictor import PREDICTORS
from steptime.inputs.assumed import taken
from steptime.inputs.constants import RooflineConstants, check_constants
from steptime.inputs.errors import check_choice
from steptime.inputs.training_step import TrainingStep
from steptime.inputs.usual import USUAL_INTERLEAVED


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A training step, and what is to answer for its time.

    Attributes:
        step: Model, device, layout, batch, and what is said of the software.
        predictor: A name of ``PREDICTORS``; the better one that knows the device if None.
        constants: Of the roofline model, such as a cluster's own; the published ones if None.
    """

    step: TrainingStep
    predictor: str | None = None
    constants: RooflineConstants | None = None

    def __post_init__(self) -> None:
        check_constants(self.constants)

    def known(self) -> Known:
        """Return all that goes into the formulas beside the layout.

        Raises:
            ConfigError: If a name is unknown, or the model says nothing of this step.
        """
        step = self.step
        if self.predictor is not None:
            check_choice("predictor", self.predictor, PREDICTORS)
        check_order(step.layout.order, self.predictor or default_predictor(step.accelerator))
        return known_of(
            step.model,
            step.accelerator,
            step.layout.precision,
            step.said,
            self.predictor,
            self.constants,
        )


def most_chunks(num_layers: int, pp: int) -> int:
    """Return the most model chunks a device can hold: a layer each.

    Args:
        num_layers: Layers, l.
        pp: Stages, p.
    """
    return -(-num_layers // pp)


def as_chapter(step: TrainingStep) -> TrainingStep:
    """Return a step as the chapter has it: the most chunks where none are given.

    Args:
        step: What is asked.
    """
    if step.chunks_given:
        return step
    chunks = most_chunks(step.model.num_layers, step.layout.pp)
    name = USUAL_INTERLEAVED if chunks > 1 else step.layout.schedule
    why = f"the most that {step.model.num_layers} layers allow"
    kept = tuple(one for one in step.assumed if one.what not in ("vpp", "schedule"))
    return replace(
        step,
        layout=replace(step.layout, vpp=chunks, schedule=name),
        assumed=(*kept, taken("vpp", str(chunks), why, "--vpp N")),
    )
