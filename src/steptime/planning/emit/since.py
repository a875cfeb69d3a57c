"""Flags of a written file that are younger than the software it is asked for."""

from __future__ import annotations

import re

from steptime.inputs.datafiles import data_table
from steptime.inputs.said import Said
from steptime.inputs.stack import last_of, stack_named

_FLAG = re.compile(r"(?m)^ +--([a-z0-9-]+)")


def month_of(said: Said) -> str:
    """Return the month of software that is stated, by a date or an exact name; empty without.

    Args:
        said: Of the software.
    """
    if said.date is not None:
        return said.date
    return last_of(stack_named(str(said.stack))) if said.exact else ""


def younger(kind: str, text: str, said: Said) -> str:
    """Return the note that names a file's flags which stated software does not know; or nothing.

    Args:
        kind: The format; a key of ``data/flags_since.toml``, or one of which nothing is known.
        text: The file.
        said: Of the software.
    """
    month = month_of(said)
    known = data_table("flags_since.toml").get(kind, {"since": {}})["since"]
    if not month:
        return ""
    months = {flag: known[flag][:7] for flag in _FLAG.findall(text) if flag in known}
    young = [f"--{flag} ({since})" for flag, since in months.items() if since > month]
    return f"flags younger than {month}: {', '.join(young)}" if young else ""
