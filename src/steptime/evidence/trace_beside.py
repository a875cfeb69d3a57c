"""A measured step beside the predicted one, worst gap first, and what usually causes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steptime.answer.answer import Prediction
from steptime.answer.kinds import compute_kinds
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.datafiles import data_table
from steptime.readers.kernel_names import parts

_COMPUTING = ("products", "attention", "elementwise", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What usually makes a part differ.

    Attributes:
        cause: In a few words.
        remedy: What to try.
        source: Who says so.
    """

    cause: str
    remedy: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One part of a step, measured and predicted.

    Attributes:
        part: Its name.
        title: For the eye.
        measured_s: Seconds that it adds to the step.
        predicted_s: Likewise.
        hidden_s: Measured behind other work.
        cause: Of the gap; None where it is small or nothing is known of it.
    """

    part: str
    title: str
    measured_s: float
    predicted_s: float
    hidden_s: float
    cause: Cause | None

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
        seen["compute"] = sum(seen.pop(name, 0.0) for name in _COMPUTING)
    step_s = sum(predicted_s.values())
    rows = []
    for part in {**seen, **predicted_s, **hidden_s}:
        found, said = seen.get(part, 0.0), predicted_s.get(part, 0.0)
        hidden = hidden_s.get(part, 0.0)
        if found or said or hidden:
            cause = _cause(part, found - said, step_s)
            rows.append(
                Row(
                    part=part,
                    title=titles.get(part, part),
                    measured_s=found,
                    predicted_s=said,
                    hidden_s=hidden,
                    cause=cause,
                )
            )
    return tuple(sorted(rows, key=lambda row: -abs(row.gap_s)))


def _cause(part: str, gap_s: float, step_s: float) -> Cause | None:
    table = data_table("trace_causes.toml")
    if abs(gap_s) < table["least"] * step_s:
        return None
    # Where computing is one part, its largest kind speaks for it.
    words = table.get("products" if part == "compute" else part, {})
    found = words.get("slower" if gap_s > 0 else "faster")
    if found is None:
        return None
    return Cause(cause=found["cause"], remedy=found["try"], source=found["source"])
