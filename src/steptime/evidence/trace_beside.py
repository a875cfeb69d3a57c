"""A measured step beside the predicted one, part by part, worst gap first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from steptime.answer.answer import Prediction
from steptime.answer.kinds import compute_kinds
from steptime.inputs.constants import RooflineConstants
from steptime.readers.trace.kernel_names import parts

_COMPUTING = ("products", "attention", "elementwise", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One part of a step, measured and predicted.

    Attributes:
        part: Its name.
        title: For the eye.
        measured_s: Seconds that it adds to the step.
        predicted_s: Likewise.
        hidden_s: Measured behind other work.
    """

    part: str
    title: str
    measured_s: float
    predicted_s: float
    hidden_s: float

    @property
    def gap_s(self) -> float:
        """Return the seconds measured over those predicted."""
        return self.measured_s - self.predicted_s


def predicted_parts(
    prediction: Prediction, constants: RooflineConstants | None = None
) -> dict[str, float]:
    """Return a prediction by the parts that a trace shows; they add up to its step.

    Args:
        prediction: Of any model.
        constants: It was made with; the published ones if None.
    """
    found = dict(prediction.breakdown_s)
    computing = found.pop("compute") + found.pop("recompute", 0.0)
    kinds = compute_kinds(prediction, constants)
    return found | (kinds if kinds is not None else {"compute": computing})


def beside(
    measured_s: Mapping[str, float], hidden_s: Mapping[str, float], predicted_s: Mapping[str, float]
) -> tuple[Row, ...]:
    """Return the parts of a step measured and predicted, worst gap first.

    Args:
        measured_s: By part.
        hidden_s: Of messages behind work.
        predicted_s: By part; where ``compute`` is whole, what was measured is taken together.
    """
    titles = {name: one.title for name, one in parts().items()}
    seen = dict(measured_s)
    if "compute" in predicted_s:
        titles["compute"] = "compute"
        seen["compute"] = math.fsum(seen.pop(name, 0.0) for name in _COMPUTING)
    rows = []
    for part in {**seen, **predicted_s, **hidden_s}:
        found, said = seen.get(part, 0.0), predicted_s.get(part, 0.0)
        hidden = hidden_s.get(part, 0.0)
        if found or said or hidden:
            rows.append(
                Row(
                    part=part,
                    title=titles.get(part, part),
                    measured_s=found,
                    predicted_s=said,
                    hidden_s=hidden,
                )
            )
    return tuple(sorted(rows, key=lambda row: -abs(row.gap_s)))
