"""The pipeline that a run really was: when each rank computed forward and backward."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from steptime.evidence.trace_groups import message_part
from steptime.evidence.trace_own_time import own_time
from steptime.evidence.trace_steps import Span, steady
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Layout
from steptime.readers.trace.kernel_names import kernel_part, operator_part, scopes
from steptime.readers.trace.rank import RankTrace, read_ranks

# Shorter stretches than this share of the longest are the loss and copies, not passes.
_LEAST_BLOCK = 0.1
_WORK = ("products", "attention", "elementwise", "unknown")

Piece = tuple[float, float, str]
"""Start and end in seconds from the start of the step, and F or B."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPipeline:
    """One measured step of a pipeline.

    Attributes:
        name: Of the step.
        step_time_s: From the first rank's start to the last one's end.
        rows: For each rank, stretches of computing one after the other.
    """

    name: str
    step_time_s: float
    rows: tuple[tuple[Piece, ...], ...]


def measured_pipeline(paths: Sequence[str | Path], stages: int) -> MeasuredPipeline:
    """Return when each rank of a pipeline computed in its steady step.

    Args:
        paths: A trace for each stage.
        stages: Of the pipeline.

    Raises:
        ConfigError: If there are not as many traces, or they cannot be read.
    """
    if len(paths) != stages:
        raise ConfigError(
            f"--overlay needs a trace for each of the {stages} stages, got {len(paths)}; "
            "repeat it, or give --stages as it ran"
        )
    traces = read_ranks(paths, launches=True)
    chosen = steady(traces)
    # Clocks of one host agree; those of several need not, so each rank starts at its own zero.
    overlap = min(end for _, end in chosen.spans) - max(start for start, _ in chosen.spans)
    agree = overlap > 0.5 * min(chosen.durations_s)
    first = min(start for start, _ in chosen.spans)
    rows, ends = [], []
    for trace, span in zip(traces, chosen.spans, strict=True):
        zero = first if agree else span[0]
        row = _blocks(_pieces(trace, span), _cuts(trace, stages))
        rows.append(tuple((start - zero, end - zero, way) for start, end, way in row))
        ends.append(span[1] - zero)
    return MeasuredPipeline(name=chosen.name, step_time_s=max(ends), rows=tuple(rows))


def _cuts(trace: RankTrace, stages: int) -> list[float]:
    """Return when messages between stages start: passes end there."""
    layout = Layout(pp=stages)
    return sorted(
        one.start_s for one in trace.messages if message_part(one, layout) == "pipeline_sends"
    )


def _pieces(trace: RankTrace, span: Span) -> list[Piece]:
    if trace.on_device:
        return sorted(_kernels(trace, span))
    spans, found = trace.operators, []
    back = _merged(
        (spans.starts_s[i], spans.ends_s[i])
        for i, name in enumerate(spans.names)
        if spans.texts[name].startswith(scopes()["backward"])
    )
    optimizer = _merged(trace.scopes)
    for start, end, i in own_time(spans, *span):
        if operator_part(spans.texts[spans.names[i]]) in _WORK and not _inside(optimizer, start):
            found.append((start, end, "B" if _inside(back, start) else "F"))
    return sorted(found)


def _kernels(trace: RankTrace, span: Span) -> Iterable[Piece]:
    """Yield kernels; what a thread of the backward pass launched goes back."""
    spans, optimizer = trace.kernels, _merged(trace.scopes)
    named = [kernel_part(text) in _WORK for text in spans.texts]
    for i, joined in enumerate(trace.correlations):
        start, end = spans.starts_s[i], spans.ends_s[i]
        if end > span[0] and start < span[1] and named[spans.names[i]]:
            back = trace.threads.get(joined) in trace.backward_threads
            if not _inside(optimizer, start):
                yield max(start, span[0]), min(end, span[1]), "B" if back else "F"


def _merged(spans: Iterable[Span]) -> list[Span]:
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _inside(spans: Sequence[Span], time_s: float) -> bool:
    low, high = 0, len(spans)
    while low < high:
        middle = (low + high) // 2
        if spans[middle][0] <= time_s:
            low = middle + 1
        else:
            high = middle
    return low > 0 and time_s < spans[low - 1][1]


def _blocks(pieces: Sequence[Piece], cuts: Sequence[float]) -> list[Piece]:
    """Join pieces of one way that no message between stages parts."""
    found: list[Piece] = []
    at = 0
    for start, end, way in pieces:
        while at < len(cuts) and found and cuts[at] < found[-1][1]:
            at += 1
        parted = at < len(cuts) and cuts[at] <= start
        if found and found[-1][2] == way and not parted:
            found[-1] = found[-1][0], max(end, found[-1][1]), way
        else:
            found.append((start, end, way))
    longest = max((end - start for start, end, _ in found), default=0.0)
    return [one for one in found if one[1] - one[0] >= _LEAST_BLOCK * longest]
