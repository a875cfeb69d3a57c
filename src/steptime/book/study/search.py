"""§20: the layouts that the search finds, beside those that people chose."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from steptime.answer.question import most_chunks
from steptime.evidence.headline import FILE
from steptime.evidence.row_question import RunQuestion, question_of_run
from steptime.evidence.runs import run_of
from steptime.evidence.schema import published_rows
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Layout
from steptime.inputs.presets import accelerator, model
from steptime.inputs.said import Said
from steptime.inputs.usual import USUAL_INTERLEAVED
from steptime.planning.question import Question
from steptime.planning.result import Candidate, SearchResult, evaluated
from steptime.planning.search import search
from steptime.planning.ties import Group, groups, pairs, right_share

LLAMA_RUN = "llama3-002"
"""Of ``data/published_runs.csv``: what its authors' software does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A published run's layout and the one that the search finds.

    Attributes:
        run: The run, as a question.
        question: What the search was asked.
        own: The authors' layout, by the search's own formulas.
        best: The fastest layout that fits.
        alike: The fastest with the authors' way of recomputing.
        tie_fraction: Differences up to here the model cannot tell.
        num_evaluated: Layouts timed.
    """

    run: RunQuestion
    question: Question
    own: Candidate
    best: Candidate
    alike: Candidate
    tie_fraction: float
    num_evaluated: int

    def gain_fraction(self, other: Candidate) -> float:
        """Return the time that another layout saves."""
        return 1.0 - other.step_time_s / self.own.step_time_s

    @property
    def is_tie(self) -> bool:
        """Whether the model cannot tell the authors' layout from the best of its kind."""
        return self.gain_fraction(self.alike) <= self.tie_fraction


def authors_runs(prefixes: Sequence[str]) -> list[RunQuestion]:
    """Return the fastest published run of each model, device, size and batch.

    Args:
        prefixes: Of the ids of the sources to take.
    """
    fastest: dict[tuple[object, ...], tuple[tuple[bool, float], RunQuestion]] = {}
    for row in published_rows():
        if not row.id.startswith(tuple(prefixes)):
            continue
        try:
            run = question_of_run(run_of(row))
        except ConfigError:
            continue
        # Of one source's runs in several precisions the 16-bit ones come first.
        wide = not run.job.fp8
        speed = (wide, float(row.tokens_per_s_per_gpu or row.tflops_per_gpu or 0.0))
        # Llama 3's stages differ in nothing but their sequence.
        kind = row.seq_len if row.id.startswith("llama3") else None
        key = (row.source, row.model, row.gpu, row.gpus, kind)
        if key not in fastest or speed > fastest[key][0]:
            fastest[key] = (speed, run)
    return [run for _, run in fastest.values()]


def question_of(run: RunQuestion) -> Question:
    """Return the search that a run's authors had to do.

    Args:
        run: The run.

    Raises:
        ConfigError: If the run is beyond the model.
    """
    step = run.step
    return Question(
        model=step.model,
        accelerator=step.accelerator,
        num_devices=step.layout.num_devices,
        global_batch_size=step.batch.global_batch_size,
        seq_length=step.batch.seq_length,
        precision=step.layout.precision,
        said=replace(step.said, unstated=()),
        # The authors' own run is held to no chance, so neither is what is set beside it.
        fits_with=0.0,
    )


def full_layout(run: RunQuestion) -> Layout:
    """Return a run's layout; chunks that its source leaves out are the most there can be."""
    step = run.step
    if run.run.vpp_stated or step.layout.pp == 1:
        return step.layout
    chunks = most_chunks(step.model.num_layers, step.layout.pp)
    return replace(step.layout, vpp=chunks, schedule=USUAL_INTERLEAVED)


def chosen(run: RunQuestion) -> Chosen | None:
    """Return a run beside what the search finds for it, None if nothing fits.

    Args:
        run: The run.
    """
    try:
        question = question_of(run)
        own = evaluated(question, full_layout(run), run.step.batch)
    except ConfigError:
        return None
    alike = search(replace(question, recompute=(own.layout.recompute,)), keep=1, prune=True)
    result = search(question, keep=1, prune=True)
    if not result.best or not alike.best:
        return None
    return Chosen(
        run=run,
        question=question,
        own=own,
        best=result.best[0],
        alike=alike.best[0],
        tie_fraction=result.tie_fraction,
        num_evaluated=result.num_evaluated,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What the search suggests for one model and cluster.

    Attributes:
        name: What to call it.
        published: The layout that its authors used, on the same software: theirs.
        result: The search.
    """

    name: str
    published: Candidate
    result: SearchResult


def _said(name: str) -> Said:
    """Return what is said of a published run's software."""
    (run,) = authors_runs([name])
    return replace(run.step.said, unstated=())


def suggestions() -> list[Suggestion]:
    """Return searches for Llama 3 405B and DeepSeek-V3 as they were trained.

    References:
        grattafiori2024, Table 4; deepseek2024, Sec. 3.1 and 4.2.
    """
    llama = Question(
        model=model("llama3-405b"),
        accelerator=accelerator("h100"),
        num_devices=16384,
        global_batch_size=2048,
        seq_length=8192,
        predictor="roofline",
        said=_said(LLAMA_RUN),
    )
    own = Layout(
        tp=8, pp=16, vpp=8, dp=128, zero_stage=2, sequence_parallel=True,
        schedule="interleaved-1f1b",
    )  # fmt: skip
    told = data_table(FILE)["deepseek-v3"]["inputs"]
    deepseek = Question(
        model=model("deepseek-v3"),
        accelerator=accelerator("h800"),
        num_devices=2048,
        global_batch_size=15360,
        seq_length=4096,
        precision="fp8",
        predictor="roofline",
        said=Said(stack=told["stack"], date=told["date"]),
    )
    theirs = Layout(pp=16, dp=128, ep=64, zero_stage=1, precision="fp8", schedule="dualpipe", vpp=1)
    found = []
    for name, question, layout in (
        ("Llama 3 405B on 16,384 H100", llama, own),
        ("DeepSeek-V3 on 2,048 H800", deepseek, theirs),
    ):
        result = search(question)
        batch = replace(result.best[0].batch, micro_batch_size=1)
        published = evaluated(question, layout, batch)
        found.append(Suggestion(name=name, published=published, result=result))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordering:
    """How well one model orders published layouts.

    Attributes:
        predictor: baseline or roofline.
        bands: Smallest and largest predicted difference, pairs, and share in the right order.
        groups: Groups of three layouts or more.
        mean_regret_fraction: What choosing by the model costs on average, measured.
        worst_regret_fraction: The most that it costs.
    """

    predictor: str
    bands: tuple[tuple[float, float, int, float | None], ...]
    groups: int
    mean_regret_fraction: float
    worst_regret_fraction: float


def ordering(predictor: str, edges: Sequence[float]) -> Ordering:
    """Return how well a model orders published layouts.

    Args:
        predictor: baseline or roofline.
        edges: Of the bands of predicted difference.
    """
    known: list[Group] = groups(predictor)
    found = pairs(known)
    bands = []
    for low, high in itertools.pairwise(edges):
        number = sum(low <= difference < high for difference, _ in found)
        bands.append((low, high, number, right_share(found, low, high)))
    several = [group.regret_fraction for group in known if len(group.points) > 2]
    return Ordering(
        predictor=predictor,
        bands=tuple(bands),
        groups=len(several),
        mean_regret_fraction=math.fsum(several) / len(several),
        worst_regret_fraction=max(several),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStudy:
    """What §20 shows.

    Attributes:
        chosen: Published runs beside what the search finds.
        suggestions: For the two largest runs.
        orderings: How well each model orders published layouts.
    """

    chosen: Sequence[Chosen]
    suggestions: Sequence[Suggestion]
    orderings: Sequence[Ordering]

    @property
    def num_ties(self) -> int:
        """Runs whose layout the model cannot tell from the best of its kind."""
        return sum(one.is_tie for one in self.chosen)


def search_study(*, prefixes: Sequence[str], most_runs: int, edges: Sequence[float]) -> SearchStudy:
    """Return published layouts beside found ones, and how far to trust the difference.

    Args:
        prefixes: Of the ids of the sources to take.
        most_runs: Runs to search for.
        edges: Of the bands of predicted difference.
    """
    found = [chosen(run) for run in authors_runs(prefixes)[:most_runs]]
    return SearchStudy(
        chosen=[one for one in found if one is not None],
        suggestions=suggestions(),
        orderings=[ordering(predictor, edges) for predictor in ("roofline", "baseline")],
    )
