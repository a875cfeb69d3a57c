"""Counts of nodes and devices that a launcher is given and that are no numbers."""

from __future__ import annotations

import re

from steptime.readers.keys.entries import Entry
from steptime.readers.keys.reading import where
from steptime.readers.keys.safe import shown

RANGE = re.compile(r"(\d+)[:-](\d+)\Z")
"""The fewest and the most nodes: torchrun puts a colon between them, Slurm a dash."""
NOTHING = "nothing"
"""What stands for the value of a flag behind which none stands."""
AS_MANY = ("gpu", "auto", "xpu", "-1")
"""What makes a launcher count the devices of a node for itself."""


def why_open(entry: Entry | None, *, counts: bool = False) -> str:
    """Return why a count is no number; empty where it is one, or waits for a variable.

    Args:
        entry: Of the count; None where there is none.
        counts: Whether all devices are counted beside it, so that what a launcher may choose
            leaves nothing open.
    """
    if entry is None or entry.known or "$" in str(entry.value):
        return ""
    value = str(entry.value)
    if counts and (RANGE.match(value) or value in AS_MANY):
        return ""
    if value == NOTHING:
        told = f"{entry.written} has no number behind it"
    elif RANGE.match(value):
        told = f"{entry.written} {shown(value)} is a range, so that the nodes are not fixed"
    elif value in AS_MANY:
        told = f"{entry.written} {value} is as many as a node has"
    else:
        told = f"{entry.written} {shown(value)} is not a number"
    return f"{where(entry.line)}: {told}"
