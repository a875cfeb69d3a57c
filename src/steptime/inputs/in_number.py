"""Counts in sentences: 1 GPU, 2 GPUs; 1 micro-batch, 4 micro-batches."""

from __future__ import annotations


def in_number(count: float, words: str) -> str:
    """Return the unit of a count in its number; ``book/web/shared/number.js`` is the same.

    Args:
        count: How many there are.
        words: The unit of several, such as ``GPUs`` or ``micro-batches``.
    """
    if count != 1:
        return words
    if words.endswith("ies"):
        return f"{words.removesuffix('ies')}y"
    return words.removesuffix("es" if words.endswith("ches") else "s")


def counted(count: int, words: str) -> str:
    """Return a count with its unit.

    Args:
        count: How many there are.
        words: The unit of several.
    """
    return f"{count} {in_number(count, words)}"
