"""steptime: how long does one training step take, and where does the time go?

Imports are put off until a name is used, so that ``import steptime`` costs next to nothing
and needs the standard library alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steptime.answer.answer import Prediction, predict
    from steptime.answer.question import Question
    from steptime.inputs.accelerator import Accelerator
    from steptime.inputs.errors import ConfigError
    from steptime.inputs.layout import Batch, Layout
    from steptime.inputs.model import Experts, LatentAttention, ModelShape
    from steptime.inputs.training_step import TrainingStep, training_step

__version__ = "0.1.0"

_HOME = {
    "Accelerator": "steptime.inputs.accelerator",
    "Batch": "steptime.inputs.layout",
    "ConfigError": "steptime.inputs.errors",
    "Experts": "steptime.inputs.model",
    "LatentAttention": "steptime.inputs.model",
    "Layout": "steptime.inputs.layout",
    "ModelShape": "steptime.inputs.model",
    "Prediction": "steptime.answer.answer",
    "Question": "steptime.answer.question",
    "TrainingStep": "steptime.inputs.training_step",
    "predict": "steptime.answer.answer",
    "training_step": "steptime.inputs.training_step",
}

__all__ = [
    "Accelerator",
    "Batch",
    "ConfigError",
    "Experts",
    "LatentAttention",
    "Layout",
    "ModelShape",
    "Prediction",
    "Question",
    "TrainingStep",
    "__version__",
    "predict",
    "training_step",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'steptime' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
