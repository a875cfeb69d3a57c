"""What the front page answers at once: the fastest layout of some models on some GPUs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from steptime.book.accuracy_static import accelerator_name
from steptime.book.explorer_state import state_of
from steptime.inputs.layout import Layout
from steptime.inputs.presets import accelerator, model
from steptime.planning.question import Question
from steptime.planning.result import Candidate, SearchResult
from steptime.planning.search import search

MODELS = ("llama3-8b", "llama3-70b", "llama3-405b", "gpt3-175b", "mixtral-8x7b", "deepseek-v3")
CLUSTERS = (
    ("h100", 8),
    ("h100", 64),
    ("h100", 512),
    ("h100", 4096),
    ("h100", 16384),
    ("a100-80gb", 512),
    ("b200", 512),
)
BATCH, LENGTH = 1024, 8192
FIRST = ("llama3-70b", 2)
"""The model and the cluster that stand there first."""
GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("computing", "c", ("compute", "recompute", "optimizer")),
    (
        "messages",
        "m",
        (
            "tensor_parallel",
            "context_parallel",
            "expert_parallel",
            "pipeline_sends",
            "data_parallel",
        ),
    ),
    ("waiting in the pipeline", "i", ("bubble",)),
)
"""What a reader is told of a step: word, class, and the parts that it is the sum of."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of a model on some GPUs.

    Attributes:
        model: Its name.
        cluster: Its GPUs, in words.
        result: Of the search.
    """

    model: str
    cluster: str
    result: SearchResult

    def record(self) -> dict[str, Any]:
        """Return it as the page reads it: texts for what is printed, shares for what is drawn."""
        found = self.result
        limit = f"{found.question.memory_limit_bytes / 1e9:.1f} GB"
        tried = f"{found.num_evaluated:,}"
        if not found.best:
            leanest = found.leanest
            assert leanest is not None
            least = f"{leanest.memory_bytes / 1e9:,.0f} GB"
            ask = address(found.question, leanest)
            return {"tried": tried, "limit": limit, "least": least, "ask": ask}
        return {"tried": tried, "limit": limit, **_fastest(found)}


def _fastest(found: SearchResult) -> dict[str, Any]:
    best, told = found.best[0], found.answered()
    low, high = told.step_time_low_s, told.step_time_high_s
    shares = [
        math.fsum(told.breakdown_s[part] for part in parts) / told.step_time_s
        for _, _, parts in GROUPS
    ]
    return {
        "step": seconds(told.step_time_s),
        "range": "" if low is None or high is None else f"{seconds(low)} to {seconds(high)}",
        "memory": f"{best.memory_bytes / 1e9:.1f}",
        "shares": shares,
        "mfu": f"{100 * told.mfu_fraction:.0f} %",
        "layout": in_words(best.layout),
        "ask": address(found.question, best),
    }


def seconds(value_s: float) -> str:
    """Return a time to three digits, in minutes where it is long.

    Args:
        value_s: The time.
    """
    if value_s >= 600:
        return f"{value_s / 60:.0f} min"
    return f"{value_s:.3g} s" if value_s < 100 else f"{value_s:.0f} s"


def in_words(cut: Layout) -> str:
    """Return the cuts of a layout; one that is 1 says nothing.

    Args:
        cut: The layout.
    """
    sizes = (
        ("tensor", cut.tp),
        ("context", cut.cp),
        ("pipeline", cut.pp),
        ("data", cut.dp),
        ("expert", cut.ep),
    )
    return ", ".join(f"{word} {size:,}" for word, size in sizes if size > 1)


def address(question: Question, one: Candidate) -> str:
    """Return the query with which the explorer shows a layout.

    Args:
        question: What was searched.
        one: The layout.
    """
    names = state_of(question.step(one.layout, one.batch))
    del names["gpu"]
    return "&".join(f"l.{name}={value}" for name, value in names.items())


def cluster_name(device: str, count: int) -> str:
    """Return some GPUs in words, such as ``512 × H100``.

    Args:
        device: Key of the accelerator.
        count: How many.
    """
    return f"{count:,} × {accelerator_name(device)}"


def answer_of(name: str, place: int) -> Answer:
    """Return the answer for a model on one of the clusters.

    Args:
        name: Of the model.
        place: In `CLUSTERS`.
    """
    device, count = CLUSTERS[place]
    question = Question(
        model=model(name),
        accelerator=accelerator(device),
        num_devices=count,
        global_batch_size=BATCH,
        seq_length=LENGTH,
    )
    return Answer(model(name).name, cluster_name(device, count), search(question, splits=False))
