"""Where the compound commands of a script end."""

from __future__ import annotations

from steptime.readers.shell.words import Token

ENDS = ("\n", ";", "&&", "||", "|", "&", ";;")
_LEADS = ("then", "do", "else", "elif", "if", "while", "until", "{", "!", "time")
"""Words behind which a command starts."""


def is_mark(tokens: list[Token], at: int, *texts: str) -> bool:
    """Return whether an operator of these stands at a place."""
    return at < len(tokens) and tokens[at].kind == "mark" and tokens[at].text in texts


def starts(tokens: list[Token], at: int) -> bool:
    """Return whether a command starts at a place.

    Args:
        tokens: Of the script.
        at: The place.
    """
    if at == 0 or is_mark(tokens, at - 1, *ENDS, "(", ")"):
        return True
    return tokens[at - 1].kind == "word" and tokens[at - 1].text in _LEADS


def closing(tokens: list[Token], at: int, opened: str, closed: str) -> int:
    """Return where the word ``closed`` ends what stands at ``at``; the end if nowhere.

    Args:
        tokens: Of the script.
        at: Where ``opened`` stands.
        opened: The word that opens one more.
        closed: The word that ends one.
    """
    kind = "mark" if opened == "(" else "word"
    level = 0
    for place in range(at, len(tokens)):
        token = tokens[place]
        if token.kind != kind or token.text not in (opened, closed):
            continue
        if kind == "word" and place != at and not starts(tokens, place):
            continue
        level += 1 if token.text == opened else -1
        if level == 0:
            return place
    return len(tokens)


def loop(tokens: list[Token], at: int) -> tuple[int, int]:
    """Return where a loop's ``do`` and ``done`` stand; the end for what is missing.

    Args:
        tokens: Of the script.
        at: Where the loop starts.
    """
    first = at + 1
    while first < len(tokens) and not (
        tokens[first].kind == "word"
        and tokens[first].text == "do"
        and (starts(tokens, first) or tokens[first - 1].kind == "sum")
    ):
        first += 1
    return first, closing(tokens, first, "do", "done")


def definition(tokens: list[Token], at: int) -> tuple[str, int, int] | None:
    """Return a function's name, and where its body starts and ends; None if none is defined.

    Args:
        tokens: Of the script.
        at: Where a command starts.
    """
    has_word = tokens[at].text == "function"
    place = at + has_word
    if place >= len(tokens) or tokens[place].kind != "word":
        return None
    name = tokens[place].text
    place += 1
    if is_mark(tokens, place, "(") and is_mark(tokens, place + 1, ")"):
        place += 2
    elif not has_word:
        return None
    while is_mark(tokens, place, "\n"):
        place += 1
    if place < len(tokens) and tokens[place].text == "{":
        return name, place + 1, closing(tokens, place, "{", "}")
    if is_mark(tokens, place, "("):
        return name, place + 1, closing(tokens, place, "(", ")")
    return None


_PAIRS = {"(": ")", "{": "}", "if": "fi", "case": "esac"}


def statement_end(tokens: list[Token], at: int) -> int:
    """Return where to go on behind the statement that stands at a place.

    Args:
        tokens: Of the script.
        at: Where it starts.
    """
    token = tokens[at]
    word = token.text if token.kind in ("word", "mark") else ""
    if word in _PAIRS:
        return min(closing(tokens, at, word, _PAIRS[word]) + 1, len(tokens))
    if word in ("for", "while", "until", "select"):
        return min(loop(tokens, at)[1] + 1, len(tokens))
    is_test, end = word == "[[", at + 1
    while end < len(tokens) and (is_test or not is_mark(tokens, end, *ENDS, "(", ")")):
        end += 1
        if is_test and tokens[end - 1].text == "]]" and tokens[end - 1].kind == "word":
            break
    return end


def branch_end(tokens: list[Token], at: int) -> int:
    """Return where a branch of a ``case`` ends that is not entered: at ``;;`` or ``esac``.

    Args:
        tokens: Of the script.
        at: Behind its pattern.
    """
    level = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind == "word" and token.text in ("case", "esac") and starts(tokens, at):
            if token.text == "esac" and level == 0:
                return at
            level += 1 if token.text == "case" else -1
        elif is_mark(tokens, at, ";;") and level == 0:
            return at
        at += 1
    return at
