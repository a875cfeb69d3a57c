"""What the user sets beside a launch file, ``NAME=VALUE``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

from steptime.inputs.errors import ConfigError
from steptime.readers.common.shared_out import LONG_NAMES
from steptime.readers.keys.entries import Entry
from steptime.readers.keys.formats import Format
from steptime.readers.keys.reading import COMMAND_LINE
from steptime.readers.keys.safe import short

ARGUMENT = re.compile(r"\d{1,3}|@")
"""An argument of a script by its position, or all of them."""

_WORD = re.compile(r"[A-Za-z_][\w.]*")


def check_settings(
    given: Mapping[str, str], text: str, name: str, arguments: Iterable[str]
) -> None:
    """Refuse what would change nothing, and offer the nearest name that would.

    Args:
        given: What the user sets.
        text: The file; a variable or key that it has may be set too.
        name: What to call the file.
        arguments: Every name that was asked for while the file was read.

    Raises:
        ConfigError: If a name is neither an argument nor in the file.
    """
    if not given:
        return
    asked = {*arguments, *LONG_NAMES}
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    words = {word for line in lines for word in _WORD.findall(line.replace("-", "_"))}
    words |= {word.lstrip("_") for word in words}
    for key in given:
        if key in asked or key in words or ARGUMENT.fullmatch(key):
            continue
        known = sorted(asked | {word for word in words if word.isupper()})
        near = difflib.get_close_matches(key[:80], known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else "name a variable or an argument of it"
        raise ConfigError(f"--set {short(key, most=60)}: {name} has no such name; {hint}")


def set_entries(given: Mapping[str, str], form: Format) -> list[Entry]:
    """Return what the user sets as entries, by our names.

    Args:
        given: By name: ours, or the file's own with its sections.
        form: The file's format.
    """
    return [
        Entry(_ours(key, form), value, COMMAND_LINE, f"--set {key}") for key, value in given.items()
    ]


def _ours(key: str, form: Format) -> str:
    own = form.keys.get(key.lower())
    return own if own is not None else LONG_NAMES.get(key, key)
