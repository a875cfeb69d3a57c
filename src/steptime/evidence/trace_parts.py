"""Where the time of a measured step goes: each moment counted once."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from steptime.evidence.trace_groups import message_part
from steptime.evidence.trace_own_time import own_time
from steptime.evidence.trace_steps import Span, Steady, steady
from steptime.inputs.layout import Layout
from steptime.readers.trace.kernel_names import (
    UNKNOWN,
    WAIT,
    kernel_part,
    operator_part,
    parts,
)
from steptime.readers.trace.rank import Message, RankTrace

Piece = tuple[float, float, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredStep:
    """A measured step, part by part.

    Attributes:
        steady: Which step it is.
        step_time_s: Its mean over the ranks.
        parts_s: What each part adds to it; they add up to it.
        hidden_s: Time of messages behind other work, by part, counted nowhere else.
        ranks_s: The same parts for each rank.
        unknown_s: Kernels that no rule knows, by name, with their time.
        ranks: Whose traces these are.
        on_device: Whether kernels were traced, or operators on a processor.
    """

    steady: Steady
    step_time_s: float
    parts_s: dict[str, float]
    hidden_s: dict[str, float]
    ranks_s: tuple[dict[str, float], ...]
    unknown_s: dict[str, float]
    ranks: tuple[int, ...]
    on_device: bool


def measured_step(traces: Sequence[RankTrace], layout: Layout | None = None) -> MeasuredStep:
    """Return where the steady step of some ranks went.

    Args:
        traces: One or more ranks of one run.
        layout: How the work was cut; None if unknown.

    Raises:
        ConfigError: If they hold no step.
    """
    chosen = steady(traces)
    floors = _floors(traces, layout)
    shown, hidden = [], []
    unknown: dict[str, float] = defaultdict(float)
    for trace, span in zip(traces, chosen.spans, strict=True):
        work, apart = _work(trace, span, unknown)
        sent = [(one, message_part(one, layout)) for one in trace.messages if _within(one, span)]
        travelling = [(one.start_s, one.end_s, part) for one, part in sent]
        own, behind = exposed(work, travelling, apart, span)
        _split_waits(own, [floors[_key(one)] for one, part in sent if part == "pipeline_sends"])
        shown.append(own)
        hidden.append(behind)
    return MeasuredStep(
        steady=chosen,
        step_time_s=math.fsum(end - start for start, end in chosen.spans) / len(traces),
        parts_s=_mean(shown),
        hidden_s=_mean(hidden),
        ranks_s=tuple(shown),
        unknown_s=dict(sorted(unknown.items(), key=lambda one: -one[1])),
        ranks=tuple(i if one.rank is None else one.rank for i, one in enumerate(traces)),
        on_device=traces[0].on_device,
    )


def _mean(each: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: math.fsum(one.get(name, 0.0) for one in each) / len(each) for name in parts()}


def _within(message: Message, span: Span) -> bool:
    return message.end_s > span[0] and message.start_s < span[1]


def _work(
    trace: RankTrace, span: Span, unknown: dict[str, float]
) -> tuple[list[Piece], list[Piece]]:
    """Return what occupies a rank in a step, and what the host does between it."""
    found: list[Piece] = []
    if trace.on_device:
        spans = trace.kernels
        named = [kernel_part(text) for text in spans.texts]
        each: Iterable[tuple[float, float, int]] = (
            (max(start, span[0]), min(end, span[1]), i)
            for i, (start, end) in enumerate(zip(spans.starts_s, spans.ends_s, strict=True))
            if end > span[0] and start < span[1]
        )
    else:
        spans = trace.operators
        named = [operator_part(text) for text in spans.texts]
        each = own_time(spans, *span)
    scopes = _Scopes(trace.scopes)
    for start, end, i in sorted(each):
        part = named[spans.names[i]]
        if part == UNKNOWN:
            unknown[spans.texts[spans.names[i]]] += end - start
        if part not in (WAIT, "host") and scopes.holds(start):
            part = "optimizer"
        found.append((start, end, part))
    work = [piece for piece in found if piece[2] not in (WAIT, "host")]
    return work, [piece for piece in found if piece[2] == "host"]


class _Scopes:
    """Annotated spans, asked for in order of time."""

    def __init__(self, spans: list[Span]) -> None:
        self.spans = spans
        self.at = 0

    def holds(self, time_s: float) -> bool:
        while self.at < len(self.spans) and self.spans[self.at][1] <= time_s:
            self.at += 1
        return self.at < len(self.spans) and self.spans[self.at][0] <= time_s


def exposed(
    work: Iterable[Piece], messages: Iterable[Piece], host: Iterable[Piece], span: Span
) -> tuple[dict[str, float], dict[str, float]]:
    """Return what each part adds to a step, and what of messages hides behind work.

    At each moment work comes first, then messages, then the host; where two of a kind run at
    once, the table of parts says whose the time is.

    Args:
        work: Start, end and part of what occupies the device.
        messages: Of what travels.
        host: Of what the processor does.
        span: Start and end of the step.
    """
    order = sorted(parts().values(), key=lambda one: (_RANKS[one.kind], one.first))
    place = {one.name: i for i, one in enumerate(order)}
    works = sum(one.kind == "work" for one in order)
    travels = range(works, works + sum(one.kind == "message" for one in order))
    edges: list[tuple[float, int, int]] = []
    for start, end, part in (*work, *messages, *host):
        edges.append((max(start, span[0]), 1, place[part]))
        edges.append((min(end, span[1]), -1, place[part]))
    edges.append((span[1], 0, 0))
    edges.sort()
    active, shown, hidden = [0] * len(order), [0.0] * len(order), [0.0] * len(order)
    idle, at = place["host"], span[0]
    for time_s, change, part_at in edges:
        if time_s > at:
            owner = next((i for i, count in enumerate(active) if count > 0), idle)
            shown[owner] += time_s - at
            for i in travels:
                if active[i] > 0 and i != owner:
                    hidden[i] += time_s - at
            at = time_s
        active[part_at] += change
    names = [one.name for one in order]
    return dict(zip(names, shown, strict=True)), dict(zip(names, hidden, strict=True))


_RANKS = {"work": 0, "message": 1, "wait": 2}


def _key(message: Message) -> tuple[str, int]:
    return message.does, message.elements


def _floors(traces: Sequence[RankTrace], layout: Layout | None) -> dict[tuple[str, int], float]:
    """Return the shortest message between stages of each kind and size: its time without waits."""
    found: dict[tuple[str, int], float] = {}
    for trace in traces:
        for one in trace.messages:
            if message_part(one, layout) == "pipeline_sends":
                length = one.end_s - one.start_s
                found[_key(one)] = min(length, found.get(_key(one), length))
    return found


def _split_waits(own: dict[str, float], floors_s: Sequence[float]) -> None:
    """Move what messages between stages took beyond their own time to the bubble."""
    sends_s = min(own["pipeline_sends"], math.fsum(floors_s))
    own["bubble"] += own["pipeline_sends"] - sends_s
    own["pipeline_sends"] = sends_s
