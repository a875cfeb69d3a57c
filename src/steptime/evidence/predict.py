"""One training step, predicted: its time, its parts, what they amount to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steptime.formulas.baseline import baseline_step, num_microbatches
from steptime.formulas.outcome import outcome
from steptime.inputs.baseline_constants import baseline_constants
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.job import Job
from steptime.inputs.training_step import TrainingStep, training_step

PREDICTORS = ("baseline",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a model says of one training step.

    Attributes:
        predictor: Which model.
        step: What was asked.
        step_time_s: Seconds of one step.
        step_time_low_s: Lower end of the interval, None where there is none.
        step_time_high_s: Upper end.
        breakdown_s: Parts of the step, exposed seconds; they add up to it.
        tflops_per_gpu: Model FLOP a second and device, attention in full.
        mfu_fraction: The same as a share of the 16-bit peak.
        tokens_per_s: Of the whole job.
        num_microbatches: Per data-parallel rank and step.
    """

    predictor: str
    step: TrainingStep
    step_time_s: float
    breakdown_s: dict[str, float]
    tflops_per_gpu: float
    mfu_fraction: float
    tokens_per_s: float
    num_microbatches: int
    step_time_low_s: float | None = None
    step_time_high_s: float | None = None

    @property
    def tokens_per_s_per_gpu(self) -> float:
        """Return tokens per second and device."""
        return self.tokens_per_s / self.step.layout.num_devices


def baseline_parts(step: TrainingStep, record: Job) -> dict[str, float]:
    """Return the parts of a step by the baseline model.

    Args:
        step: What is asked.
        record: The same as numbers.

    Raises:
        ConfigError: In 8 bits, where its constant says nothing.
    """
    if step.layout.precision not in ("fp16", "bf16"):
        raise ConfigError(
            f"the baseline's one constant was fitted in 16 bits, not {step.layout.precision}; "
            "use --predictor roofline"
        )
    parts: dict[str, float] = baseline_step(record, baseline_constants())
    return parts


def prediction(
    predictor: str, step: TrainingStep, parts: dict[str, float], record: Job
) -> Prediction:
    """Return a prediction from its parts.

    Args:
        predictor: Name of the model.
        step: What was asked.
        parts: Exposed seconds of each part.
        record: The flat record of the step.
    """
    step_time_s = sum(parts.values())
    means: dict[str, Any] = outcome(record, step_time_s, 1.0)
    return Prediction(
        predictor=predictor,
        step=step,
        step_time_s=step_time_s,
        breakdown_s=parts,
        tflops_per_gpu=means["model_flop_per_s"] / 1e12,
        mfu_fraction=means["mfu_fraction"],
        tokens_per_s=means["tokens_per_s"],
        num_microbatches=int(num_microbatches(record)),
    )


def predict_step(step: TrainingStep, predictor: str = "baseline") -> Prediction:
    """Return the prediction of one model for a checked training step.

    Args:
        step: What is asked.
        predictor: A name of ``PREDICTORS``.

    Raises:
        ConfigError: If there is no such model, or the step is beyond it.
    """
    check_choice("predictor", predictor, PREDICTORS)
    record = step.job()
    return prediction(predictor, step, baseline_parts(step, record), record)


def predict(*, predictor: str = "baseline", **inputs: Any) -> Prediction:
    """Return the predicted step time of a model, an accelerator and a layout.

    Args:
        predictor: A name of ``PREDICTORS``.
        **inputs: As in `steptime.inputs.training_step.training_step`.

    Raises:
        ConfigError: If an input cannot be used.
    """
    return predict_step(training_step(**inputs), predictor)
