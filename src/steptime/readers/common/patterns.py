"""Patterns over layers, as Megatron-LM writes them: ``[0]*3+[1]*58``, ``([1]*3+[0])*8``."""

from __future__ import annotations

import re

MOST_LAYERS = 10_000
_PIECE = re.compile(r"\d{1,9}|[][()*+,]")


def layer_pattern(value: object) -> list[int] | None:
    """Return a number for each layer; None if it is no pattern.

    Args:
        value: A list, or the text of one.
    """
    if isinstance(value, list):
        words = [str(one).strip() for one in value[:MOST_LAYERS]]
        return [int(one) for one in words] if all(one.isdigit() for one in words) else None
    text = re.sub(r"[\s'\"\\]", "", str(value)[:2000])
    pieces = _PIECE.findall(text)
    if not pieces or "".join(pieces) != text or "[" not in pieces:
        return None
    try:
        found, rest = _sum(pieces, 0, 0)
    except (IndexError, ValueError):
        return None
    return found if rest == len(pieces) else None


def _sum(pieces: list[str], at: int, depth: int) -> tuple[list[int], int]:
    """Return the layers of terms joined by ``+``, and where they end."""
    found, at = _term(pieces, at, depth)
    while at < len(pieces) and pieces[at] == "+":
        more, at = _term(pieces, at + 1, depth)
        found = (found + more)[:MOST_LAYERS]
    return found, at


def _term(pieces: list[str], at: int, depth: int) -> tuple[list[int], int]:
    """Return the layers of a list or a group, repeated as often as it says."""
    if depth > 20:
        raise ValueError
    if pieces[at] == "(":
        found, at = _sum(pieces, at + 1, depth + 1)
        if pieces[at] != ")":
            raise ValueError
    elif pieces[at] == "[":
        end = pieces.index("]", at)
        found, at = [int(one) for one in pieces[at + 1 : end] if one != ","], end
    else:
        raise ValueError
    at += 1
    while at < len(pieces) and pieces[at] == "*":
        found = (found * min(int(pieces[at + 1]), MOST_LAYERS))[:MOST_LAYERS]
        at += 2
    return found, at


_GROUP = re.compile(r"\(([^()]{0,200})\)\*(\d{1,4})")


def stages_of(value: object) -> int:
    """Return how many chunks of layers a pipeline layout has: bars part them.

    Args:
        value: A list of chunks, or a text such as ``Et*3|(tt|)*29m|L``.

    References:
        megatronlm2026, megatron/core/transformer/pipeline_parallel_layer_layout.py.
    """
    if isinstance(value, list):
        return len(value)
    return _repeated(value).count("|") + 1


_TIMES = re.compile(r"(.)\*(\d{1,4})")


def chunk_layers(value: object) -> list[int]:
    """Return the layers of each chunk of a pipeline layout.

    Args:
        value: As in `stages_of`; a list has the words of a chunk, or a list of them, in each place.

    References:
        megatronlm2026, megatron/core/transformer/pipeline_parallel_layer_layout.py.
    """
    if isinstance(value, list):
        return [str(one).count("decoder") for one in value[:MOST_LAYERS]]
    return [piece.count("t") for piece in _repeated(value).split("|")]


def layout_words(value: object) -> list[str]:
    """Return what the chunks of a pipeline layout hold, in the order of the model.

    Args:
        value: As in `chunk_layers`; a text has a letter for each layer.
    """
    if isinstance(value, list):
        return re.findall(r"[^\s\[\],'\"()]+", str(value[:MOST_LAYERS]))
    return list(_repeated(value).replace("|", ""))


def _repeated(value: object) -> str:
    """Return the text of a layout with what is repeated written out."""
    # Backslashes are for a shell that the text goes through.
    text = re.sub(r"[,\s\\]", "", str(value)[:20_000])
    for _ in range(10):
        match = _GROUP.search(text)
        if match is None or len(text) > 20 * MOST_LAYERS:
            break
        repeated = match[1] * min(int(match[2]), MOST_LAYERS)
        text = text[: match.start()] + repeated[: 20 * MOST_LAYERS] + text[match.end() :]
    return _TIMES.sub(lambda one: one[1] * int(one[2]), text)[: 20 * MOST_LAYERS]
