"""Commands that a shell does itself and that set variables."""

from __future__ import annotations

from collections.abc import Collection

from steptime.readers.shell.marks import unset
from steptime.readers.shell.variables import Variables

_VALUED = "adipntuN"
"""Letters of read's flags that a value follows."""


def read_into(
    variables: Variables, given: Collection[str], words: list[str], text: str | None
) -> bool | None:
    """Set what ``read`` sets, and return how it ends; None where that is not known.

    Args:
        variables: Of the script.
        given: Names that the user sets, which stay.
        words: Behind its name.
        text: What it is given; None where that comes from elsewhere.
    """
    names: list[str] = []
    is_whole, array, at = False, "", 0
    while at < len(words):
        word = words[at]
        if word[:1] == "-" and len(word) > 1 and not names:
            if word[-1] in _VALUED and at + 1 < len(words):
                at += 1
                is_whole = is_whole or (word[-1] == "d" and words[at] == "")
                array = words[at] if word[-1] == "a" else array
        else:
            names.append(word)
        at += 1
    if text is None:
        # What somebody types, or a file of the machine holds.
        for name in [one for one in names if one not in given]:
            variables.scalars[name] = unset(name)
        return None
    read = text if is_whole else text.partition("\n")[0]
    if array:
        variables.arrays[array] = variables.spend_all(read.split())
    for place, name in enumerate(names):
        last = place == len(names) - 1
        piece = read.strip().split(None, 0 if last else 1) or [""]
        read = piece[1] if len(piece) > 1 else ""
        if name not in given:
            variables.scalars[name] = variables.spend(piece[0])
            variables.arrays.pop(name, None)
    return None if is_whole else True


def next_option(
    variables: Variables, letters: str, name: str, place: tuple[int, int]
) -> tuple[bool, tuple[int, int]]:
    """Set what ``getopts`` sets; return whether there was an option, and where the next stands.

    Args:
        variables: Of the script.
        letters: The options; a colon follows one that takes a value.
        name: What the option's letter is put into.
        place: The argument and the letter in it to look at, from 1.
    """
    words = variables.arguments()
    at, letter_at = place
    word = words[at - 1] if at <= len(words) else ""
    variables.scalars["OPTIND"] = str(at)
    if word[:1] != "-" or word in ("-", "--"):
        variables.scalars["OPTIND"] = str(at + (word == "--"))
        return False, (1, 1)
    letter = word[letter_at]
    found = letters.lstrip(":").find(letter) if letter != ":" else -1
    takes = letters.lstrip(":")[found + 1 : found + 2] == ":" if found >= 0 else False
    variables.scalars[name] = letter if found >= 0 else "?"
    if takes:
        behind = word[letter_at + 1 :]
        following = words[at] if at < len(words) else ""
        variables.scalars["OPTARG"] = behind or following
        at, letter_at = at + (1 if behind else 2), 1
    elif letter_at + 1 < len(word):
        letter_at += 1
    else:
        at, letter_at = at + 1, 1
    variables.scalars["OPTIND"] = str(at)
    return True, (at, letter_at)
