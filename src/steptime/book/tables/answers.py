"""Tables of §21: answers of the last release beside today's."""

from __future__ import annotations

from steptime.book import tables
from steptime.book.study.answers import Moves
from steptime.book.tables.markdown import MISSING, Markdown, markdown_table, number, signed_percent
from steptime.evidence.answers import Asked

GB = 1e9


def moves_table(moves: Moves) -> Markdown:
    """Return each question with the step and the peak then and now, and what moved them.

    Args:
        moves: From `steptime.book.study.answers.moves`.
    """
    columns = (
        *("question", f"{moves.release} (s)", "today (s)", "moved", "with its software"),
        *("peak (GB)", "moved most", "why"),
    )
    return tables.show(markdown_table(columns, [_row(one) for one in moves.all]))


def causes_table(moves: Moves) -> Markdown:
    """Return what each cause is, and how many answers name it.

    Args:
        moves: From `steptime.book.study.answers.moves`.
    """
    rows = [
        [name, text, str(sum(name in one.causes for one in moves.all))]
        for name, text in moves.causes.items()
    ]
    return tables.show(markdown_table(("why", "what changed", "answers"), rows))


def _row(one: Asked) -> list[str]:
    part, then_s, now_s = one.part
    told = one.told_change
    return [
        one.title,
        number(one.then.step_time_s),
        number(one.now.step_time_s),
        signed_percent(one.change),
        MISSING if told is None else signed_percent(told),
        _span(one.then.peak_bytes / GB, one.now.peak_bytes / GB),
        f"{part.replace('_', ' ')} {_span(then_s, now_s)} s" if one.moved else MISSING,
        ", ".join(one.causes) or MISSING,
    ]


def _span(then: float, now: float) -> str:
    ends = number(then), number(now)
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)
