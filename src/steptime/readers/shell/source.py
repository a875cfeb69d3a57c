"""Texts that a script runs beside its own: files that it reads in, words for another shell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath

from steptime.readers.keys.beside import text_beside
from steptime.readers.shell.marks import CLOSE, is_known

SourceOf = Callable[[str], str | None]
"""What gives the text of a file that a script reads in; None if it is not here."""

SOURCES = ("source", ".")
MOST_SOURCED = 12
"""Files that a script reads in; more are a system of their own."""

_ENDS = (".sh", ".bash", ".env", ".txt", ".csv", ".tsv", ".list", "")
_MOST_LETTERS = 6


def sourced(folder: Path) -> SourceOf:
    """Return what gives the text of a file that a script reads in.

    Behind a folder that is not known, such as that of the script itself, a file is one beside it.

    Args:
        folder: Where the script lies.
    """

    def text_of(word: str) -> str | None:
        name = word if is_known(word) else word.rpartition(CLOSE)[2].lstrip("/")
        path = PurePosixPath(name[:300])
        is_here = is_known(name) and name and not path.is_absolute() and ".." not in path.parts
        if not is_here or path.suffix.lower() not in _ENDS:
            return None
        if not is_known(word) and not _is_file(folder / path):
            return None
        return text_beside({}, folder, str(path))

    return text_of


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def text_behind(words: list[str]) -> int | None:
    """Return where the text stands that another shell is started with: bash -c, or bash -lc.

    Args:
        words: Of a command.
    """
    if not any(word.endswith("bash") or word == "sh" for word in words):
        return None
    for place, word in enumerate(words[:-1]):
        is_flag = word[:1] == "-" and word[1:2] != "-" and len(word) <= _MOST_LETTERS
        if is_flag and word.endswith("c"):
            return place + 1
    return None
