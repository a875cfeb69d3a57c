"""One training step, answered: its time, its parts, how sure, and whether it fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from steptime.answer.heads import check_heads
from steptime.answer.known import Known
from steptime.answer.limits import limits_of
from steptime.answer.peak import Memory, job_memory
from steptime.answer.question import Question, as_chapter
from steptime.answer.reach import BEYOND, beyond, cell_of
from steptime.answer.remarks import (
    facts_unused,
    over_the_peak,
    past_the_positions,
    sharding_holds_more,
)
from steptime.answer.unused import unused_facts
from steptime.formulas.flops import causal_flop_per_token, model_flop_per_token, num_microbatches
from steptime.formulas.judgement import fit_verdict, interval_s
from steptime.formulas.memory import memory_total_bytes
from steptime.formulas.outcome import outcome
from steptime.formulas.records import Outcome
from steptime.formulas.roofline.modules import full_share
from steptime.inputs.ability import not_had
from steptime.inputs.assumed import Assumed
from steptime.inputs.job import Job
from steptime.inputs.kept import kept
from steptime.inputs.shown import Row, Shown, bars, seconds
from steptime.inputs.software import Software
from steptime.inputs.training_step import TrainingStep

if TYPE_CHECKING:
    from steptime.answer.unstated import OpenPeak, Unstated


@dataclass(frozen=True, kw_only=True)
class Prediction(Shown):
    """What a model says of one training step.

    Time and memory are here at once; what they mean, how sure they are and what was assumed is
    worked out when it is asked for, and then kept.

    Attributes:
        question: What was asked, and of which model.
        known: What went into the formulas beside the layout.
        step: What was asked.
        record: The same as numbers.
        software: What it runs on, and the facts of it.
        step_time_s: Seconds of one step.
        breakdown_s: Parts of the step, exposed seconds; they add up to it.
        total_bytes: Memory on the fullest device.
    """

    question: Question
    known: Known
    step: TrainingStep
    record: Job
    software: Software
    step_time_s: float
    breakdown_s: Mapping[str, float]
    total_bytes: float

    @property
    def predictor(self) -> str:
        """Return which model says it."""
        return self.known.predictor.name

    @property
    def stack(self) -> str | None:
        """Return the name of the software where it was named exactly."""
        return self.software.stack.name if self.software.known else None

    @kept
    def _ends_s(self) -> tuple[float | None, float | None]:
        width, facts = self.known.width, self.software.time
        if width is None or facts is None:
            return None, None
        parts: Any = self.breakdown_s
        slowest_s = self.known.slowest_s(self.record, self.software, self.step_time_s)
        ends = interval_s(self.record, facts, width, parts, self.step_time_s, slowest_s)
        return float(ends["low_s"]), float(ends["high_s"])

    @property
    def step_time_low_s(self) -> float | None:
        """Return the lower end of the interval, None where there is none."""
        return self._ends_s[0]

    @property
    def step_time_high_s(self) -> float | None:
        """Return the upper end of the interval, None where there is none."""
        return self._ends_s[1]

    @kept
    def _means(self) -> Outcome:
        facts = self.software.time
        # Where some layers are recomputed, the share of them executes its FLOP again.
        again = self.record.recompute_full if facts is None else full_share(self.record, facts)
        record = self.record
        if again != record.recompute_full:
            record = replace(record, recompute_full=float(again))
        return outcome(record, self.step_time_s, 1.0)

    @property
    def tflops_per_gpu(self) -> float:
        """Return the model FLOP a second and device, attention in full."""
        return float(self._means["model_flop_per_s"]) / 1e12

    @property
    def peak_said(self) -> str:
        """Return the peak that shares are of, in words: a processor may have none of 16 bits."""
        rates_in = self.step.accelerator.rates_in
        return f"best rate measured ({rates_in})" if rates_in else "16-bit peak"

    @property
    def mfu_fraction(self) -> float:
        """Return the same as a share of the 16-bit peak."""
        return float(self._means["mfu_fraction"])

    @property
    def hfu_fraction(self) -> float:
        """Return the share of the 16-bit peak with the FLOP that recomputation executes again."""
        return float(self._means["hfu_fraction"])

    @property
    def tokens_per_s(self) -> float:
        """Return the tokens per second of the whole job."""
        return float(self._means["tokens_per_s"])

    @property
    def mfu_causal_fraction(self) -> float:
        """Return the share of the peak with what the causal mask hides of attention left out."""
        causal = causal_flop_per_token(self.record) / model_flop_per_token(self.record)
        return float(self.mfu_fraction * causal)

    @property
    def mfu_remark(self) -> str:
        """Return why the MFU is over 100 % of the 16-bit peak; nothing where it is not."""
        full, causal = self.mfu_fraction, self.mfu_causal_fraction
        return over_the_peak(full, causal, self.step.accelerator, self.step.layout.precision)

    @property
    def tokens_per_s_per_gpu(self) -> float:
        """Return tokens per second and device."""
        return self.tokens_per_s / self.step.layout.num_devices

    @property
    def num_microbatches(self) -> int:
        """Return the micro-batches of a data-parallel rank in a step."""
        return int(num_microbatches(self.record))

    @kept
    def fit_probability(self) -> float | None:
        """Return the chance that the measured peak fits; None where too few are known."""
        return self.known.chance(self.total_bytes, float(self.record.hbm_bytes))

    @kept
    def memory(self) -> Memory:
        """Return what the step needs in memory, rank by rank."""
        return job_memory(self.record, self.software.memory, self.assumed, self.fit_probability)

    def title(self) -> str:
        """Return what was asked and how long a step takes."""
        step = self.step
        return (
            f"{step.model.name} on {step.layout.num_devices} x {step.accelerator.name}: "
            f"{seconds(self.step_time_s)} a step, MFU {self.mfu_fraction:.1%}; {self.memory.reason}"
        )

    def records(self) -> list[Row]:
        """Return the parts of the step, each with its time and its share."""
        return [
            {"part": part, "time_s": time_s, "share": time_s / self.step_time_s}
            for part, time_s in self.breakdown_s.items()
        ]

    def _draw(self, axes: Any) -> None:
        shown = {part: time_s for part, time_s in self.breakdown_s.items() if time_s}
        bars(axes, [part.replace("_", " ") for part in shown], list(shown.values()), "time (s)")

    @kept
    def unstated(self) -> tuple[Unstated, ...]:
        """Return what was left open, that which could change the answer most first.

        Every choice is a question of its own, so this takes a few hundred answers.
        """
        from steptime.answer.unstated import ranked

        return ranked(self, answer)

    @kept
    def unstated_of_memory(self) -> tuple[OpenPeak, ...]:
        """Return what was left open, that which could change the peak most first."""
        from steptime.answer.unstated import ranked_peaks

        return ranked_peaks(self, answer)

    @property
    def beyond(self) -> tuple[Assumed, ...]:
        """Return in what the step goes beyond all published runs."""
        return tuple(one for one in self.assumed if one.what == BEYOND)

    @kept
    def verdict(self) -> int:
        """Return 0 where the fullest device lacks room, 1 where it is tight, 2 where it fits."""
        return int(fit_verdict(self.total_bytes, self.record.hbm_bytes))

    @property
    def fits(self) -> bool:
        """Return whether the fullest device has room for it."""
        return self.verdict > 0

    @kept
    def assumed(self) -> tuple[Assumed, ...]:
        """Return what was taken where nothing was given, lies beyond the data, is not modelled."""
        step, record, one = self.step, self.record, self.software
        uses = one.assumed if self.known.predictor.uses_software else ()
        left_out = limits_of(step.model, record, one)
        named = facts_unused(record, one)
        # A fact that is stated twice is what it was stated to be last.
        stated = dict(step.said.facts)
        for told_otherwise in named:
            stated.pop(told_otherwise.what, None)
        unused = (*named, *unused_facts(stated, self.known, record, one))
        more = sharding_holds_more(record, self.known.plain, one, self.total_bytes)
        past = _beyond(step, record, self.step_time_s)
        long = past_the_positions(step.model, step.batch.seq_length)
        # What cannot be run comes first: it may make the rest of no use.
        told = (
            *not_had(step.said, step.layout, step.batch),
            *step.model.remarks,
            *step.assumed,
            *self.known.assumed,
            *uses,
        )
        return (*told, *long, *past, *unused, *more, *left_out)


def _beyond(step: TrainingStep, record: Job, step_time_s: float) -> tuple[Assumed, ...]:
    """Return in what the step goes beyond all published runs, whichever model answers."""
    device, experts = step.accelerator, step.model.experts is not None
    cell = cell_of(experts, step.layout.precision)
    own = (device.generation, device.matmul_flop_per_s, cell)
    return beyond(*own, record, step_time_s, step.said.date)


def answer(question: Question) -> Prediction:
    """Return what is known of one training step.

    Args:
        question: The step, and what is to answer for its time.

    Raises:
        ConfigError: If a name is unknown, the layout does not fit, or the step is beyond the
            model.
    """
    known = question.known()
    step = as_chapter(question.step) if known.predictor.most_chunks else question.step
    record = step.job()
    one = known.software_of(record)
    check_heads(record, one)
    parts: Any = known.parts(record, one)
    return Prediction(
        question=question,
        known=known,
        step=step,
        record=record,
        software=one,
        step_time_s=float(known.predictor.total(parts)),
        breakdown_s=parts,
        total_bytes=float(memory_total_bytes(record, one.memory)),
    )
