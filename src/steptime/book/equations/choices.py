"""A choice of values, each with its condition, within the width that an equation may have."""

from __future__ import annotations

from collections.abc import Sequence

from steptime.book.equations.boxes import ATOM, Box, Row, atom, prefixed


def cases(choices: Sequence[tuple[Box, Box]], otherwise: Box) -> Box:
    """Return a choice of values, each with its condition.

    Args:
        choices: Value and condition; the first that holds counts.
        otherwise: Value where none does.
    """
    values = [*(one for one, _ in choices), otherwise]
    said = [
        *(prefixed(r"\text{if }", 1.5, one) for _, one in choices),
        atom(r"\text{otherwise}", 8.0),
    ]
    pairs = list(zip(values, said, strict=True))
    width = max(one.width for one in values) + max(one.width for one in said) + 3.0
    body = r" \\ ".join(f"{value.latex} & {when.latex}" for value, when in pairs)
    return Box(_braced(body), width, ATOM, lambda limit: _stacked(pairs, limit))


def _braced(body: str) -> str:
    return rf"\begin{{cases}} {body} \end{{cases}}"


def _stacked(pairs: Sequence[tuple[Box, Box]], limit: float) -> list[Row]:
    """Return the rows of a choice that is too wide: each condition below its value."""
    rows: list[str] = []
    for value, when in pairs:
        inner = value.rows(limit - 3.0)
        rows += [r"\quad " * depth + latex for depth, latex in inner]
        if len(inner) == 1 and value.width + when.width + 4.0 <= limit:
            rows[-1] += r"\quad " + when.latex
            continue
        rows += [r"\qquad " + r"\quad " * depth + latex for depth, latex in when.rows(limit - 5.0)]
    return [(0, _braced(r" \\ ".join(rows)))]
