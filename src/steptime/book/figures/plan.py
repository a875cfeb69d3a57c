"""Figure of §22: the memory of every pipeline rank."""

from __future__ import annotations

from matplotlib.figure import Figure

from steptime.answer.peak import Memory
from steptime.book import figures


def ranks(memory: Memory) -> Figure:
    """Return the memory of each pipeline rank by part, against the device's.

    Args:
        memory: Of a step.
    """
    figure = figures.new()
    memory.plot(figure.subplots())
    return figure
