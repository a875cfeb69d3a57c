"""How wide the interval of a prediction is, in time and in memory.

Widths are kept in ``data/interval_widths.toml`` and ``data/memory_widths.toml``.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace

from steptime.formulas.records import PeakWidth, Width
from steptime.inputs.datafiles import data_table

DENSE, NARROW, EXPERTS = "dense, 16 bits", "dense, 8 bits and below", "experts"
KINDS = (DENSE, NARROW, EXPERTS)
KEYS = {DENSE: "dense", NARROW: "eight_bits", EXPERTS: "experts"}
"""How a data file calls each kind."""


def kind_of(experts: bool, narrow: bool) -> str:
    """Return the kind that a run is compared by.

    Args:
        experts: Whether the model is a mixture of experts.
        narrow: Whether its products run in 8 bits or fewer.
    """
    if experts:
        return EXPERTS
    return NARROW if narrow else DENSE


@functools.cache
def kept_width(kind: str, knowledge: str) -> Width | None:
    """Return the width for a kind of run, or None where too few runs are comparable.

    Args:
        kind: One of ``KINDS``.
        knowledge: What is known of the software, of `steptime.inputs.said.KNOWLEDGE`.
    """
    table = data_table("interval_widths.toml")
    entry = table.get(f"{KEYS[kind]}-{knowledge}")
    if entry is None:
        return None
    return Width(
        factor=float(entry["factor"]),
        base=float(entry["base"]),
        slope=float(entry["slope"]),
        runs=int(entry["runs"]),
        middle=float(entry["middle"]),
        num_sources=int(entry["num_sources"]),
        unhidden=float(entry["unhidden"]),
    )


def widened(width: Width, doubt: float) -> Width:
    """Return a width with the doubt of a rate that no run stands behind.

    Args:
        width: From runs on devices that were compared.
        doubt: Half of the plausible range of the rate, in its logarithm: it moves a step that
            only computes by as much.
    """
    return replace(width, base=math.hypot(width.base, doubt / width.factor))


@functools.cache
def kept_peak_width(knowledge: str) -> PeakWidth | None:
    """Return how peaks lie about predicted ones; None where too few are known.

    Args:
        knowledge: What is known of the software, of `steptime.inputs.said.KNOWLEDGE`.
    """
    entry = data_table("memory_widths.toml").get(knowledge)
    if entry is None:
        return None
    return PeakWidth(
        middle=float(entry["middle"]),
        scale=float(entry["scale"]),
        runs=int(entry["runs"]),
        num_sources=int(entry["num_sources"]),
    )


def logit(chance: float) -> float:
    """Return how many scales of a logistic distribution lie below a chance.

    Args:
        chance: Above 0, below 1.
    """
    return math.log(chance / (1.0 - chance))
