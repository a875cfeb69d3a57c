"""What a measured step may do that its launch file does not tell, and what each would change."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from steptime.answer.answer import Prediction, answer
from steptime.answer.question import Question
from steptime.evidence.measured import counted_flop_per_token
from steptime.formulas.flops import model_flop_per_token
from steptime.inputs.constants import RooflineConstants
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.training_step import TrainingStep
from steptime.planning.cause_flags import FILE, causes_known, flag_of
from steptime.planning.change import may_run

CONVENTIONS = {
    "hardware": "the rate counts the recomputed forward pass too",
    "causal": "the rate counts half of attention, for the causal mask",
    "parameters": "the rate counts six FLOP a parameter and token",
}
"""Other ways to count the FLOP of a rate, besides the model's with attention in full."""

_LEAST = 0.01
"""A cause that changes the step by less is not worth a line."""

MOST_SHARE = 2.0
"""What explains more of a gap than this leaves more of it than it closes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One thing that the gap could be.

    Attributes:
        name: Its key in ``data/causes.toml``, or that of a way to count.
        title: A sentence.
        step_time_s: What the model says of a step with it; for a way to count, what the
            measured step then took.
        gap_fraction: Share of the gap that it explains; over 1 where it explains more.
        flag: What to change; empty where nothing of the run has to.
    """

    name: str
    title: str
    step_time_s: float
    gap_fraction: float
    flag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Asks the model what each cause would change.

    Attributes:
        own: The answer as the file has it.
        software: Family of the launch file's software.
        constants: Of the roofline model; the published ones if None.
        ruled_out: Causes that the launch file rules out.
        asked_for: The cause that the file itself asks for; empty if none.
    """

    own: Prediction
    software: str
    constants: RooflineConstants | None = None
    ruled_out: frozenset[str] = frozenset()
    asked_for: str = ""

    def causes(self, measured_s: float, *, is_rate: bool) -> Iterator[Cause]:
        """Yield what brings answer and measured step nearer to each other.

        Args:
            measured_s: Seconds of the measured step.
            is_rate: Whether FLOP were counted, which can be done in other ways.
        """
        gap = measured_s - self.own.step_time_s
        if gap == 0.0:
            return
        if is_rate:
            yield from self._counts(measured_s, gap)
        for name, entry in causes_known().items():
            if self.rules_out(name, entry):
                continue
            # A faster run has the better side of a cause, where the answer does not.
            found = self.with_cause(entry) if gap > 0.0 else self.without_cause(entry)
            if found is None:
                continue
            time_s = found if isinstance(found, float) else found.step_time_s
            share = (time_s - self.own.step_time_s) / gap
            # What the file itself asks for is said, however far beyond the gap.
            most = math.inf if name == self.asked_for else MOST_SHARE
            if not 0.0 < share < most:
                continue
            if abs(time_s / self.own.step_time_s - 1.0) < _LEAST:
                continue
            yield Cause(
                name=name,
                title=entry["title"] if gap > 0.0 else f"not so in the run: {entry['title']}",
                step_time_s=time_s,
                gap_fraction=share,
                flag=self.flag(name) if gap > 0.0 else "",
            )

    def flag(self, name: str) -> str:
        """Return what mends a cause here; empty where the run lacks what that asks for.

        Args:
            name: Key of the cause.
        """
        return flag_of(name, self.software, self.own)

    def rules_out(self, name: str, entry: Mapping[str, Any]) -> bool:
        """Return whether a cause contradicts what is stated, or what the software ever does.

        Args:
            name: Key of the cause.
            entry: Of ``causes_known``.
        """
        step = self.own.step
        stated = dict(step.said.facts)
        if name in self.ruled_out or self.own.software.stack.family in entry.get("never", {}):
            return True
        if "recompute" in entry and "recompute" not in step.open:
            return True
        is_dated = entry.get("age", False) and step.said.date is not None
        return is_dated or bool(entry.get("facts", {}).keys() & stated.keys())

    def _counts(self, measured_s: float, gap: float) -> Iterator[Cause]:
        """Yield the other ways to count FLOP that bring a rate nearer to the answer."""
        usual = float(model_flop_per_token(self.own.record))
        for name, title in CONVENTIONS.items():
            then = measured_s * counted_flop_per_token(self.own.record, name) / usual
            share = (measured_s - then) / gap
            if share > 0.0 and abs(then / measured_s - 1.0) >= _LEAST:
                yield Cause(name=name, title=title, step_time_s=then, gap_fraction=share, flag="")

    def _again(self, step: TrainingStep) -> Prediction | None:
        question = Question(step=step, predictor=self.own.predictor, constants=self.constants)
        try:
            return answer(question)
        except ConfigError:
            return None

    def _with_facts(self, facts: Mapping[str, Any]) -> Prediction | None:
        step = self.own.step
        said = replace(step.said, facts=(*step.said.facts, *facts.items()))
        return self._again(replace(step, said=said))

    def _recomputing(self, word: str) -> Prediction | None:
        step = self.own.step
        return self._again(replace(step, layout=replace(step.layout, recompute=word)))

    def with_cause(self, entry: Mapping[str, Any]) -> Prediction | float | None:
        """Return the step with a cause; None where it does not apply.

        Args:
            entry: Of ``causes_known``.

        Returns:
            The answer; its seconds alone for products in 32 bits.
        """
        step = self.own.step
        if entry.get("wide"):
            return wide_time_s(self.own)
        if "facts" in entry:
            return self._with_facts(entry["facts"])
        if "network" in entry:
            rate = step.accelerator.network_bytes_per_s * entry["network"]
            device = replace(step.accelerator, network_bytes_per_s=rate)
            return self._again(replace(step, accelerator=device))
        mended = step.layout.recompute == entry["better_recompute"]
        return None if mended else self._recomputing(entry["recompute"])

    def without_cause(self, entry: Mapping[str, Any]) -> Prediction | None:
        """Return the answer where a cause is mended; None where there is nothing to mend.

        Args:
            entry: Of ``causes_known``.
        """
        if "better" in entry:
            return self._with_facts(entry["better"])
        if self.own.step.layout.recompute == entry.get("recompute"):
            return self._recomputing(entry["better_recompute"])
        return None

    def best_change(self) -> tuple[str, float]:
        """Return the one flag that saves most of the predicted step and fits, and that share."""
        best, gain = "", 0.0
        for name, entry in causes_known().items():
            # What newer software mends is no flag of the file.
            if entry.get("age") or not self.flag(name):
                continue
            found = self.without_cause(entry)
            if found is None or not (may_run(found) or found.total_bytes <= self.own.total_bytes):
                continue
            saved = 1.0 - found.step_time_s / self.own.step_time_s
            if saved > max(gain, _LEAST):
                best, gain = self.flag(name), saved
        return best, gain


def wide_slowdown(own: Prediction) -> float | None:
    """Return how many times longer products take in 32 bits; None if no rate is known.

    Args:
        own: The answer in 16 bits.

    References:
        derived here, from the rates of ``data/causes.toml``.
    """
    device = own.step.accelerator
    rates = data_table(FILE)["wide"].get(device.generation)
    if rates is None or own.step.layout.precision not in ("bf16", "fp16"):
        return None
    return device.peak_flop_per_s / float(rates["tflop_per_s"] * 1e12)


def wide_time_s(own: Prediction) -> float | None:
    """Return about what a step takes with its products in 32 bits; None if no rate is known.

    Products slow down as the device's rates do, and idle time with them; activations have twice
    the bytes as they travel.

    Args:
        own: The answer in 16 bits.

    References:
        derived here.
    """
    slower = wide_slowdown(own)
    if slower is None:
        return None
    factor = {
        **dict.fromkeys(("compute", "recompute", "bubble"), slower),
        **dict.fromkeys(
            ("tensor_parallel", "context_parallel", "expert_parallel", "pipeline_sends"), 2.0
        ),
    }
    parts = (part_s * factor.get(name, 1.0) for name, part_s in own.breakdown_s.items())
    return math.fsum(parts)
