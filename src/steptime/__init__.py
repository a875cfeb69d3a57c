"""steptime: how long does one training step take, and where does the time go?

Imports are put off until a name is used, so that ``import steptime`` costs next to nothing
and needs the standard library alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steptime.answer.answer import Prediction
    from steptime.answer.asked import memory, predict
    from steptime.answer.peak import Memory
    from steptime.answer.question import Question
    from steptime.evidence.asked import validate
    from steptime.evidence.validate import Validation
    from steptime.inputs.accelerator import Accelerator
    from steptime.inputs.errors import ConfigError
    from steptime.inputs.layout import Batch, Layout
    from steptime.inputs.model import Experts, LatentAttention, ModelShape
    from steptime.inputs.training_step import TrainingStep, training_step
    from steptime.pipeline.simulation import Simulation, simulate
    from steptime.planning.asked import search
    from steptime.planning.asked_place import place
    from steptime.planning.cost import run_of
    from steptime.planning.explain import Explanation
    from steptime.planning.explained import explain
    from steptime.planning.goodput import Failures
    from steptime.planning.placement import Placement
    from steptime.planning.remedy import remedies
    from steptime.planning.result import SearchResult

__version__ = "0.1.0"

_HOME = {
    "Accelerator": "steptime.inputs.accelerator",
    "Batch": "steptime.inputs.layout",
    "ConfigError": "steptime.inputs.errors",
    "Experts": "steptime.inputs.model",
    "Explanation": "steptime.planning.explain",
    "Failures": "steptime.planning.goodput",
    "LatentAttention": "steptime.inputs.model",
    "Layout": "steptime.inputs.layout",
    "Memory": "steptime.answer.peak",
    "ModelShape": "steptime.inputs.model",
    "Placement": "steptime.planning.placement",
    "Prediction": "steptime.answer.answer",
    "Question": "steptime.answer.question",
    "SearchResult": "steptime.planning.result",
    "Simulation": "steptime.pipeline.simulation",
    "TrainingStep": "steptime.inputs.training_step",
    "Validation": "steptime.evidence.validate",
    "explain": "steptime.planning.explained",
    "memory": "steptime.answer.asked",
    "place": "steptime.planning.asked_place",
    "predict": "steptime.answer.asked",
    "remedies": "steptime.planning.remedy",
    "run_of": "steptime.planning.cost",
    "search": "steptime.planning.asked",
    "simulate": "steptime.pipeline.simulation",
    "training_step": "steptime.inputs.training_step",
    "validate": "steptime.evidence.asked",
}

__all__ = [
    "Accelerator",
    "Batch",
    "ConfigError",
    "Experts",
    "Explanation",
    "Failures",
    "LatentAttention",
    "Layout",
    "Memory",
    "ModelShape",
    "Placement",
    "Prediction",
    "Question",
    "SearchResult",
    "Simulation",
    "TrainingStep",
    "Validation",
    "__version__",
    "explain",
    "memory",
    "place",
    "predict",
    "remedies",
    "run_of",
    "search",
    "simulate",
    "training_step",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        try:
            found = getattr(importlib.import_module(_HOME[name]), name)
        except ModuleNotFoundError as missing:
            from steptime.inputs.extras import way_out

            line = way_out(missing.name, f"steptime.{name}")
            raise ModuleNotFoundError(line, name=missing.name) from None
        # The next who asks finds it without this function.
        globals()[name] = found
        return found
    raise AttributeError(f"module 'steptime' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
