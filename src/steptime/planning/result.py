"""What a search found, as layouts with their parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steptime.answer.answer import Prediction, answer
from steptime.answer.question import Question as Asked
from steptime.formulas.judgement import TIGHT, fit_verdict
from steptime.inputs.chance import chance_text
from steptime.inputs.face import NEAR_CHANCE
from steptime.inputs.fields import SIZES
from steptime.inputs.layout import STAGE_FIELDS, Batch, Layout
from steptime.inputs.rank_order import rank_order
from steptime.inputs.shown import Row, Shown, seconds
from steptime.planning.candidate import Candidate as Candidate
from steptime.planning.candidate import Emission
from steptime.planning.cost import Run, run_cost
from steptime.planning.evaluate import layout_of
from steptime.planning.front import Kept, Selection, Tally
from steptime.planning.goodput import Failures, goodput
from steptime.planning.placement import domains_needed
from steptime.planning.question import Question
from steptime.planning.splits import NO_SPLITS, SplitsTried
from steptime.planning.tie_fraction import tie_fraction_of as tie_fraction_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult(Shown):
    """What a search found.

    Attributes:
        question: What was asked.
        best: The fastest layouts that fit, in order.
        front: Those that no other beats in both time and memory, fastest first.
        num_ties: Layouts that the model cannot tell from the best, itself included.
        tie_fraction: How near the best a layout must be to count as a tie.
        num_evaluated: Layouts whose time and memory were computed.
        num_fitting: Those that fit.
        dropped: Layouts that fell out, by reason.
        leanest: The layout of the least memory, where none fits.
        elapsed_s: Time of the search.
        splits: Which splits of layers over stages were timed, and whether others could win.
        emission: A framework's file of one of the layouts, where one was asked for.
    """

    question: Question
    best: tuple[Candidate, ...]
    front: tuple[Candidate, ...]
    num_ties: int
    tie_fraction: float
    num_evaluated: int
    num_fitting: int
    dropped: dict[str, int]
    leanest: Candidate | None
    elapsed_s: float
    splits: SplitsTried = NO_SPLITS
    emission: Emission | None = None

    @property
    def caution(self) -> str | None:
        """Return what is to be said where no layout fits with the chance asked; None else."""
        if not self.best or self.num_fitting:
            return None
        asked, chance = self.question.fits_with, self.best[0].fit_probability or 0.0
        return (
            f"no layout fits with {asked * 100:g} %, none is sure: of the most likely this one is "
            f"the fastest, it fits with {chance_text(chance)} and stands alone; "
            "--fits-with 0 ranks all whose counted bytes fit"
        )

    @property
    def trade_off(self) -> tuple[Candidate, ...]:
        """Return the best, one between, and the fastest of all, where none is as sure as asked."""
        if self.caution is None:
            return ()
        chances = [one.fit_probability or 0.0 for one in self.front]
        half = (chances[0] + (self.best[0].fit_probability or 0.0)) / 2.0
        middle = next(
            one for one, chance in zip(self.front, chances, strict=True) if chance >= half
        )
        shown = {(one.layout, one.batch): one for one in (self.best[0], middle, self.front[0])}
        return tuple(shown.values())

    def title(self) -> str:
        """Return what was asked, and the fastest layout's time."""
        asked = self.question
        told = f"{asked.model.name} on {asked.num_devices} x {asked.accelerator.name}"
        if not self.best:
            return f"{told}: no layout fits"
        if self.caution:
            return f"{told}: {seconds(self.best[0].step_time_s)} a step; {self.caution}"
        ties = f"{self.num_ties:,} of {self.num_fitting:,} layouts tie with it"
        return f"{told}: {seconds(self.best[0].step_time_s)} a step at best; {ties}"

    def records(self) -> list[Row]:
        """Return a row a layout, the fastest first."""
        return [candidate_row(self.question, one) for one in self.best]

    def answered(self, place: int = 0) -> Prediction:
        """Return the whole answer for one of the fastest layouts.

        Args:
            place: In ``best``.
        """
        return answered(self.question, self.best[place])

    def run(
        self,
        tokens: float,
        *,
        place: int = 0,
        price_per_gpu_hour: float | None = None,
        failures: Failures | None = None,
    ) -> Run:
        """Return days, cost and energy of a whole run with one of the fastest layouts.

        Args:
            tokens: Of the run.
            place: In ``best``.
            price_per_gpu_hour: In any currency.
            failures: What the job meets, ``Failures()`` for what is usual; none if None.

        Raises:
            ConfigError: If a number is out of range.
        """
        found = self.answered(place)
        return run_cost(
            self.question,
            found.step_time_s,
            tokens,
            price_per_gpu_hour,
            (found.step_time_low_s, found.step_time_high_s),
            None if failures is None else goodput(self.question, failures),
        )

    def _draw(self, axes: Any) -> None:
        for name, kept in (("the fastest", self.best), ("front", self.front)):
            memory = [one.memory_bytes / 1e9 for one in kept]
            axes.plot(memory, [one.step_time_s for one in kept], "o", markersize=3, label=name)
        axes.set_xlabel("memory of the fullest device (GB)")
        axes.set_ylabel("step time (s)")
        axes.legend()

    @property
    def roomiest(self) -> int:
        """Place in ``best`` of the tie with the most memory to spare; 0 is the fastest."""
        ties = self.best[: self.num_ties]
        return max(range(len(ties)), key=lambda place: ties[place].headroom_bytes)

    @property
    def layouts_per_s(self) -> float:
        """Layouts evaluated a second."""
        return self.num_evaluated / self.elapsed_s


def candidate_row(question: Question, one: Candidate) -> Row:
    """Return one layout as JSON, CSV and a frame hold it, without nesting.

    Args:
        question: What was asked.
        one: The layout.
    """
    layout, domain = one.layout, question.accelerator.nvlink_domain
    domains, _ = domains_needed(layout, domain, rank_order(question.order))
    verdict = fit_verdict(one.memory_bytes, question.accelerator.hbm_bytes)
    return {name: getattr(layout, name) for name in SIZES} | {
        "num_domains": domains,
        "left_over_gpus": domains * domain - layout.num_devices,
        "micro_batch_size": one.batch.micro_batch_size,
        "sequence_parallel": layout.sequence_parallel,
        "zero_stage": layout.zero_stage,
        "recompute": layout.recompute,
        "schedule": layout.schedule,
        **{name: getattr(layout, name) for name in STAGE_FIELDS},
        "step_time_s": one.step_time_s,
        "memory_bytes": one.memory_bytes,
        "headroom_bytes": one.headroom_bytes,
        "tight": float(verdict) == TIGHT,
        "fit_probability": one.fit_probability,
        "tokens_per_s": question.global_batch_size * question.seq_length / one.step_time_s,
    }


def answered(question: Question, candidate: Candidate) -> Prediction:
    """Return the whole answer for one candidate: parts, memory, interval, what was assumed.

    Args:
        question: What was asked.
        candidate: One layout.

    Raises:
        ConfigError: If the layout does not fit the model or the batch.
    """
    step = question.step(candidate.layout, candidate.batch)
    named = None if question.predictor_taken else question.predictor
    return answer(Asked(step=step, predictor=named, constants=question.constants))


def evaluated(question: Question, layout: Layout, batch: Batch) -> Candidate:
    """Return one layout as a candidate of a question.

    Args:
        question: Model, accelerator and predictor.
        layout: The layout.
        batch: The batch.

    Raises:
        ConfigError: If the layout does not fit the model or the batch.
    """
    step = question.step(layout, batch)
    found = answer(Asked(step=step, predictor=question.predictor, constants=question.constants))
    return Candidate(
        layout=layout,
        batch=batch,
        step_time_s=found.step_time_s,
        memory_bytes=found.total_bytes,
        headroom_bytes=question.memory_limit_bytes - found.total_bytes,
        fit_probability=found.fit_probability,
    )


def candidates(question: Question, kept: Kept) -> tuple[Candidate, ...]:
    """Return what was kept as candidates."""
    found = []
    known = question.known()
    for place in range(len(kept)):
        recompute, zero, sequence = (int(value) for value in kept.switches[place])
        layout, batch = layout_of(question, kept.rows[place], recompute, zero, sequence)
        memory = float(kept.memory_bytes[place])
        found.append(
            Candidate(
                layout=layout,
                batch=batch,
                step_time_s=float(kept.step_s[place]),
                memory_bytes=memory,
                headroom_bytes=question.memory_limit_bytes - memory,
                fit_probability=known.chance(memory, question.accelerator.hbm_bytes),
            )
        )
    return tuple(found)


def _most_likely(front: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Return the fastest of a front whose chance to fit is as good as that of its leanest."""
    near = (front[-1].fit_probability or 0.0) - NEAR_CHANCE
    return next((one,) for one in front if (one.fit_probability or 0.0) >= near)


def finished(
    question: Question,
    selection: Selection,
    tally: Tally,
    elapsed_s: float,
    tie_fraction: float | None,
) -> SearchResult:
    """Return the result of a search that has taken in all blocks."""
    share = tie_fraction_of(str(question.predictor)) if tie_fraction is None else tie_fraction
    best, front = candidates(question, selection.best), candidates(question, selection.front)
    lean = candidates(question, tally.leanest)
    if not best and len(tally.unsure.front):
        # No layout is as sure as asked: of the most likely to fit the fastest stands alone.
        front = candidates(question, tally.unsure.front)
        best = _most_likely(front)
    ties = sum(one.step_time_s <= best[0].step_time_s * (1.0 + share) for one in best)
    return SearchResult(
        question=question,
        best=best,
        front=front,
        num_ties=ties,
        tie_fraction=share,
        num_evaluated=tally.evaluated,
        num_fitting=tally.fitting,
        dropped=dict(sorted(tally.dropped.items(), key=lambda item: -item[1])),
        leanest=lean[0] if lean and not best else None,
        elapsed_s=elapsed_s,
        splits=SplitsTried(tally.splits, tally.most_saved, tally.to_win),
    )
