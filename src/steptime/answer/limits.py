"""What is not modelled, said in every answer that touches it: ``data/limits.toml``."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from steptime.inputs.assumed import Assumed
from steptime.inputs.datafiles import data_table
from steptime.inputs.job import Job
from steptime.inputs.model import ModelShape
from steptime.inputs.software import Software

NOT_MODELLED = "not modelled"
PLACES = ("model", "job", "time", "memory")
"""Where a limit looks: the model's shape, the flat record, the facts for time and for memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One thing that is not modelled.

    Attributes:
        key: Of its table in ``data/limits.toml``.
        title: What it is called.
        says: The sentence of an answer.
        since: Version whose answers first said it.
        source: Key in ``references.bib`` and place that describe what is missing.
        place: One of ``PLACES``; empty where no question can ask for it.
        name: A field there.
        above: A question touches it where the field is larger.
    """

    key: str
    title: str
    says: str
    since: str
    source: str
    place: str = ""
    name: str = ""
    above: float = 0.0


@functools.cache
def limits() -> tuple[Limit, ...]:
    """Return every limit, in the order of the data file."""
    return tuple(
        Limit(
            key=key,
            title=entry["title"],
            says=entry["says"],
            since=entry["since"],
            source=entry["source"],
            place=entry.get("of", ""),
            name=entry.get("name", ""),
            above=float(entry.get("above", 0)),
        )
        for key, entry in data_table("limits.toml").items()
    )


def limits_of(model: ModelShape, record: Job, software: Software) -> tuple[Assumed, ...]:
    """Return a record of each limit that a question touches.

    Args:
        model: The shape.
        record: Its flat record, of floats.
        software: What it runs on; a device without rates has no facts for time.
    """
    places = {"model": model, "job": record, "time": software.time, "memory": software.memory}
    return tuple(
        Assumed(what=limit.title, value=NOT_MODELLED, why=limit.says)
        for limit in limits()
        if limit.place
        and places[limit.place] is not None
        and getattr(places[limit.place], limit.name) > limit.above
    )
