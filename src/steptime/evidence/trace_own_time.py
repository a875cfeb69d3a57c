"""The own time of operators: what a thread works on, the innermost operator alone."""

from __future__ import annotations

from collections.abc import Iterator

from steptime.readers.trace.rank import Spans


def own_time(spans: Spans, start_s: float, end_s: float) -> Iterator[tuple[float, float, int]]:
    """Yield stretches of time with the innermost span of each thread, by its place in ``spans``.

    Args:
        spans: Nested on each thread, as calls are.
        start_s: Of the stretch that is asked for.
        end_s: Of the same.
    """
    by_thread: dict[int, list[int]] = {}
    for i, thread in enumerate(spans.where):
        if spans.ends_s[i] > start_s and spans.starts_s[i] < end_s:
            by_thread.setdefault(thread, []).append(i)
    for places in by_thread.values():
        places.sort(key=lambda i: (spans.starts_s[i], -spans.ends_s[i]))
        yield from _innermost(spans, places, start_s, end_s)


def _innermost(
    spans: Spans, places: list[int], start_s: float, end_s: float
) -> Iterator[tuple[float, float, int]]:
    stack: list[int] = []
    at = start_s

    def ended(until: float) -> Iterator[tuple[float, float, int]]:
        nonlocal at
        while stack and spans.ends_s[stack[-1]] <= until:
            inner = stack.pop()
            end = spans.ends_s[inner]
            if end > at:
                yield at, min(end, end_s), inner
                at = end

    for place in places:
        start = max(spans.starts_s[place], start_s)
        yield from ended(start)
        if stack and start > at:
            yield at, start, stack[-1]
        at = max(at, start)
        stack.append(place)
    yield from ended(end_s)
    if stack and end_s > at:
        yield at, end_s, stack[-1]
