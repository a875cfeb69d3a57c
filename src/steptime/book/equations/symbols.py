"""What stands for a name of the code in an equation: one table, `data/symbols.toml`.

A name in the table has its letter. An input or a fact without one keeps its name, in typewriter
letters, as an option or ``--fact`` has it. A result on the way is a word; what its name ends in
says its unit, and that is the letter the word is put under: T for seconds, D for bytes.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction

from steptime.book.equations.boxes import Box, atom
from steptime.inputs.datafiles import data_table


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """One line of the table.

    Attributes:
        name: In code.
        latex: In an equation; empty where the name itself stands there.
        meaning: In words.
        unit: Its unit.
    """

    name: str
    latex: str
    meaning: str
    unit: str


@functools.cache
def symbols() -> dict[str, Symbol]:
    """Return the table by names in code."""
    rows = data_table("symbols.toml")["symbols"]
    return {
        name: Symbol(
            name=name,
            latex=row.get("latex", ""),
            meaning=row["meaning"],
            unit=row["unit"],
        )
        for name, row in rows.items()
    }


@functools.cache
def own_letters() -> dict[str, dict[str, str]]:
    """Return the letters that single functions give to names of their own."""
    found: dict[str, dict[str, str]] = data_table("symbols.toml")["own"]
    return found


@functools.cache
def _endings() -> tuple[tuple[str, str], ...]:
    """Return letters by what a name ends in, the longest ending first."""
    endings: dict[str, str] = data_table("symbols.toml")["endings"]
    return tuple(sorted(endings.items(), key=lambda one: -len(one[0])))


def _text_width(latex: str) -> float:
    """Return about how many letters wide a symbol is; what hangs below is smaller."""
    base, _, below = latex.partition("_")
    return _plain_width(base) + 0.9 * _plain_width(below)


def _plain_width(latex: str) -> float:
    for command in ("\\text", "\\mathtt", "{", "}"):
        latex = latex.replace(command, "")
    words = [word for word in latex.split("\\") if word]
    return float(
        sum(1 if latex.startswith("\\") and word.isalpha() else len(word) for word in words)
    )


def input_box(name: str) -> Box:
    """Return the symbol of an input, a constant or a fact.

    Args:
        name: A field of a record.
    """
    known = symbols().get(name)
    if known and known.latex:
        return atom(known.latex, _text_width(known.latex) + 0.4)
    # The converter sets typewriter words as they are, underscores too.
    return atom(rf"\texttt{{{name}}}", 1.15 * len(name))


def word_box(name: str, key: str = "", function: str = "", called: bool = False) -> Box:
    """Return the symbol of a result on the way, or of a function.

    Args:
        name: In code; a private one's underscore is left out.
        key: Which part of it, where it has several.
        function: Whose name it is, for letters of its own.
        called: Whether it is the name of a function, which is a word at least.
    """
    own = own_letters().get(function, {}).get(name)
    known = symbols().get(name)
    if not key and (own or (known and known.latex)):
        latex = own or symbols()[name].latex
        return atom(latex, _text_width(latex) + 0.4)
    latex = _worded(name.strip("_"), key.replace("_", " "), own or "", called)
    return atom(latex, _text_width(latex) + 0.4)


def _worded(name: str, key: str, own: str, called: bool) -> str:
    """Return a word under the letter of its unit, with the part it stands for."""
    for ending, letter in _endings():
        if name == ending.strip("_") and not called:
            return rf"{letter}_{{\text{{{key}}}}}" if key else letter
        if name.endswith(ending) and name != ending:
            word = name.removesuffix(ending).replace("_", " ")
            below = f"{word}, {key}" if key else word
            return rf"{letter}_{{\text{{{below}}}}}"
    base = own or (name if len(name) == 1 else rf"\text{{{name.replace('_', ' ')}}}")
    return rf"{base}_{{\text{{{key}}}}}" if key else base


def function_box(name: str, key: str = "") -> Box:
    """Return the symbol of a function.

    Args:
        name: In code.
        key: The part of its result that is meant.
    """
    return word_box(name, key, called=True)


def number_box(value: float) -> Box:
    """Return a number as a page sets it: 32,768, one third, ten to the fifteenth.

    Args:
        value: Not below 0.
    """
    exact = Fraction(value).limit_denominator(12)
    if value >= 1e6 and value == 10.0 ** round(len(str(int(value))) - 1):
        return atom(f"10^{{{len(str(int(value))) - 1}}}", 3.0)
    if float(exact) == value and exact.denominator in (3, 6, 7, 9, 11, 12):
        return atom(rf"\tfrac{{{exact.numerator}}}{{{exact.denominator}}}", 1.5)
    text = f"{value:,.10g}" if value >= 1e-4 or value == 0.0 else f"{value:g}"
    return atom(text.replace(",", "{,}"), float(len(text)))
