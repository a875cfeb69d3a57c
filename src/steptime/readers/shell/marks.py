"""Marks round what stays unknown while a script is followed."""

from __future__ import annotations

import re

UNSET, COMMAND, CLOSE = "\ue000", "\ue001", "\ue002"
"""A variable that the script never sets, a command's output, and the end of either."""

_SIGNS = {ord(sign): chr(0xE100 + ord(sign)) for sign in " \"'`()[]{}|&;<>$\\#*?~!"}
"""What stands for the signs of a command inside its mark, where they cut and quote nothing."""
_BACK = {ord(mark): chr(sign) for sign, mark in _SIGNS.items()}


def is_known(text: str) -> bool:
    """Return whether nothing in ``text`` stayed unknown."""
    return UNSET not in text and COMMAND not in text


def readable(text: str) -> str:
    """Return ``text`` with its marks turned back into shell."""
    text = re.sub(f"{UNSET}([^{CLOSE}]*){CLOSE}", r"${\1}", text)
    return re.sub(f"{COMMAND}([^{CLOSE}]*){CLOSE}", r"$(\1)", text).translate(_BACK)


def unset(name: str) -> str:
    """Return what stands for a variable that nobody sets.

    Args:
        name: The variable.
    """
    return f"{UNSET}{name}{CLOSE}"


def output_of(command: str) -> str:
    """Return what stands for a command's output, as one word.

    Args:
        command: Its text; the first letters are kept.
    """
    return f"{COMMAND}{' '.join(command[:40].split()).translate(_SIGNS)}{CLOSE}"
