"""How wide the interval of a prediction is: widths kept in ``data/interval_widths.toml``."""

from __future__ import annotations

import functools

from steptime.formulas.records import Width
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
def kept_width(kind: str, known: bool) -> Width | None:
    """Return the width for a kind of run, or None where too few runs are comparable.

    Args:
        kind: One of ``KINDS``.
        known: Whether the software is known, not assumed.
    """
    table = data_table("interval_widths.toml")
    entry = table.get(f"{KEYS[kind]}-{'known' if known else 'assumed'}")
    if entry is None:
        return None
    return Width(
        factor=float(entry["factor"]),
        base=float(entry["base"]),
        slope=float(entry["slope"]),
        runs=int(entry["runs"]),
        middle=float(entry["middle"]),
    )
