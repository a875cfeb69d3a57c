"""One training step, asked by name: what a user of Python calls."""

from __future__ import annotations

from typing import Unpack

from steptime.answer.answer import Prediction, answer
from steptime.answer.peak import Memory
from steptime.answer.question import Question
from steptime.inputs.constants import constants_named
from steptime.inputs.face import PredictInputs
from steptime.inputs.signed import checked_names
from steptime.inputs.training_step import step_asked


@checked_names
def predict(**inputs: Unpack[PredictInputs]) -> Prediction:
    """Return the predicted step time and memory of a model, an accelerator and a layout.

    Args:
        **inputs: As in `steptime.inputs.face.PredictInputs`.

    Raises:
        ConfigError: If an input cannot be used.

    Example:
        >>> import steptime
        >>> step = steptime.predict(
        ...     model="llama3-8b", accelerator="h100", num_gpus=64, tp=2,
        ...     seq_length=8192, global_batch_size=128,
        ... )
        >>> step.step.layout.dp, step.fits
        (32, True)
        >>> step == steptime.Prediction.from_json(step.to_json())
        True
    """
    # Names are checked and all of them are there: no need to do that twice.
    step = step_asked(inputs)
    predictor, constants = inputs["predictor"], constants_named(inputs["constants"])
    return answer(Question(step=step, predictor=predictor, constants=constants))


@checked_names
def memory(**inputs: Unpack[PredictInputs]) -> Memory:
    """Return what a training step needs in memory, rank by rank.

    Args:
        **inputs: As in `steptime.inputs.face.PredictInputs`.

    Raises:
        ConfigError: If an input cannot be used.

    Example:
        >>> import steptime
        >>> kept = steptime.memory(
        ...     model="gpt3-175b", accelerator="a100", tp=8, seq_length=2048, global_batch_size=8
        ... )
        >>> kept.fits, kept.fullest.rank
        (False, 0)
    """
    return predict(**inputs).memory
