"""Expressions as LaTeX that knows how wide it is, and where it may be broken.

An equation has to fit a phone, and what does not fit opens at the wrong end. So an expression
keeps its parts: where it is too wide for a row, it is broken at its sums, products or arguments,
and each row is indented by how deep it lies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

COMPARISON, SUM, PRODUCT, ATOM = 0, 1, 2, 3
Row = tuple[int, str]
"""How far a row is indented, and its LaTeX."""

_INDENT = 2.0


@dataclass(frozen=True, slots=True)
class Box:
    """An expression.

    Attributes:
        latex: On one row.
        width: In letters of plain text, about half an em each.
        level: How tightly it binds: ``COMPARISON``, ``SUM``, ``PRODUCT`` or ``ATOM``.
        broken: From the letters that a row may have to its rows, where one is not enough.
    """

    latex: str
    width: float
    level: int = ATOM
    broken: Callable[[float], list[Row]] | None = None

    def rows(self, limit: float) -> list[Row]:
        """Return it on one row if it fits, else on as many as it needs.

        Args:
            limit: Letters that a row may have.
        """
        if self.width <= limit or self.broken is None:
            return [(0, self.latex)]
        return self.broken(limit)


def atom(latex: str, width: float) -> Box:
    """Return what is never broken.

    Args:
        latex: Such as a symbol.
        width: In letters.
    """
    return Box(latex, width)


def _deeper(rows: list[Row]) -> list[Row]:
    return [(depth + 1, latex) for depth, latex in rows]


def _led(prefix: str, rows: list[Row]) -> list[Row]:
    """Return rows with something in front of the first one."""
    return [(rows[0][0], prefix + rows[0][1]), *rows[1:]]


def _ended(rows: list[Row], suffix: str) -> list[Row]:
    """Return rows with something behind the last one."""
    return [*rows[:-1], (rows[-1][0], rows[-1][1] + suffix)]


def within(box: Box, level: int) -> Box:
    """Return an operand of something that binds at a level, in brackets if need be.

    Args:
        box: The operand.
        level: What it must bind at least.
    """
    if box.level >= level:
        return box
    left, right = _brackets(box.latex)
    return Box(
        f"{left}{box.latex}{right}",
        box.width + 2.2,
        ATOM,
        lambda limit: _ended(_led("(", box.rows(limit - 2.2)), ")"),
    )


def _brackets(inside: str) -> tuple[str, str]:
    """Return brackets that are as tall as what stands between them."""
    tall = r"\frac" in inside or r"\begin" in inside or r"\prod" in inside
    return (r"\left(", r"\right)") if tall else ("(", ")")


def prefixed(lead: str, width: float, box: Box) -> Box:
    """Return an expression with something in front that stays on its first row.

    Args:
        lead: LaTeX of what stands in front.
        width: Its letters.
        box: The expression.
    """
    return Box(
        f"{lead} {box.latex}",
        width + box.width,
        min(box.level, PRODUCT),
        lambda limit: _led(lead + " ", box.rows(limit - width)),
    )


def added(terms: Sequence[tuple[str, Box]]) -> Box:
    """Return a sum.

    Args:
        terms: Each with its sign, ``+`` or ``-``; a plus before the first is left out.
    """

    def signed(place: int) -> tuple[str, Box]:
        sign, term = terms[place]
        lead = "" if sign == "+" and place == 0 else f"{sign} "
        return lead, within(term, SUM if sign == "+" else PRODUCT)

    def broken(limit: float) -> list[Row]:
        rows: list[Row] = []
        for place in range(len(terms)):
            lead, term = signed(place)
            rows += _led(lead, term.rows(limit - 2.6))
        return rows

    parts = [signed(place) for place in range(len(terms))]
    latex = " ".join(lead + term.latex for lead, term in parts)
    width = sum(term.width + (2.6 if lead else 0.0) for lead, term in parts)
    return Box(latex, width, SUM, broken)


def _joined(factors: Sequence[Box]) -> tuple[str, float]:
    """Return factors side by side: a thin space between letters, a dot next to anything else."""
    latex, width, before = "", 0.0, ""
    for factor in factors:
        plain = _is_letter(factor.latex)
        if before:
            tight = plain and (before == "letter" or before == "number")
            latex += r"\," if tight else r" \cdot "
            width += 0.4 if tight else 1.6
        latex, width = latex + factor.latex, width + factor.width
        before = "letter" if plain else "number" if factor.latex[-1].isdigit() else "other"
    return latex, width


def _is_letter(latex: str) -> bool:
    """Return whether a factor is a letter with no words about it."""
    bare = latex.removeprefix("\\")
    return bare.isalpha() and (len(bare) == 1 or latex.startswith("\\"))


def multiplied(factors: Sequence[Box]) -> Box:
    """Return a product.

    Args:
        factors: At least one.
    """
    if len(factors) == 1:
        return factors[0]
    inside = [within(one, PRODUCT) for one in factors]
    latex, width = _joined(inside)

    def broken(limit: float) -> list[Row]:
        rows: list[Row] = []
        gathered: list[Box] = []
        for one in inside:
            if gathered and _joined([*gathered, one])[1] > limit - 2.0:
                rows += _led(r"\cdot " if rows else "", _several(gathered, limit))
                gathered = []
            gathered.append(one)
        return rows + _led(r"\cdot " if rows else "", _several(gathered, limit))

    return Box(latex, width, PRODUCT, broken)


def _several(factors: list[Box], limit: float) -> list[Row]:
    if len(factors) == 1:
        return factors[0].rows(limit - 2.0)
    return [(0, _joined(factors)[0])]


def divided(over: Box, under: Box) -> Box:
    """Return a fraction.

    Args:
        over: What is divided.
        under: By what.
    """

    def broken(limit: float) -> list[Row]:
        top, bottom = within(over, PRODUCT), within(under, ATOM)
        return [*top.rows(limit), *_led(r"/ ", bottom.rows(limit - 2.0))]

    latex = rf"\frac{{{over.latex}}}{{{under.latex}}}"
    return Box(latex, max(over.width, under.width) + 0.6, PRODUCT, broken)


def _filled(arguments: Sequence[Box], limit: float) -> list[Row]:
    """Return arguments with a comma between them: names side by side, anything else on its own."""
    rows: list[Row] = []
    free = 0.0
    for one in arguments:
        if rows:
            rows = _ended(rows, ",")
        name = one.level == ATOM and one.broken is None
        if rows and name and one.width + 1.0 <= free:
            rows = _ended(rows, " " + one.latex)
            free -= one.width + 1.0
        else:
            rows += one.rows(limit)
            # What is no name stands alone, and so does what follows it.
            free = limit - one.width - 1.0 if name else 0.0
    return rows


def called(name: Box, arguments: Sequence[Box]) -> Box:
    """Return a function of something; of nothing but records it is its name alone.

    Args:
        name: As a symbol.
        arguments: Numbers.
    """
    if not arguments:
        return name

    def broken(limit: float) -> list[Row]:
        rows = _filled(arguments, limit - _INDENT - 1.0)
        return [(0, name.latex + "("), *_deeper(_ended(rows, ")"))]

    inside = ", ".join(one.latex for one in arguments)
    left, right = _brackets(inside)
    latex = f"{name.latex}{left}{inside}{right}"
    width = name.width + 2.2 + sum(one.width + 1.0 for one in arguments)
    return Box(latex, width, ATOM, broken)


def bracketed(left: str, box: Box, right: str) -> Box:
    """Return an expression between two signs, such as those of rounding down.

    Args:
        left: LaTeX in front.
        box: What stands between them.
        right: LaTeX behind.
    """
    return Box(
        rf"\left{left} {box.latex} \right{right}",
        box.width + 2.2,
        ATOM,
        lambda limit: _ended(_led(left + " ", box.rows(limit - 2.0)), " " + right),
    )


def compared(left: Box, sign: str, right: Box) -> Box:
    """Return a comparison.

    Args:
        left: Left side.
        sign: LaTeX of the sign.
        right: Right side.
    """

    def broken(limit: float) -> list[Row]:
        return [*left.rows(limit), *_led(f"{sign} ", right.rows(limit - 2.0))]

    latex = f"{left.latex} {sign} {right.latex}"
    return Box(latex, left.width + right.width + 2.4, COMPARISON, broken)
