"""One line of a traffic table."""

from steptime.formulas.number import Number
from steptime.formulas.records import Message


def record(phase: str, kind: str, axis: str, count: Number, size_bytes: Number) -> Message:
    """Return one line of a traffic table: ``count`` collectives of ``size_bytes`` each.

    Args:
        phase: forward, backward or update.
        kind: all_reduce, all_gather, reduce_scatter, all_to_all or permute.
        axis: The parallelism whose devices take part.
        count: How many.
        size_bytes: The whole buffer of each.
    """
    return {"phase": phase, "kind": kind, "axis": axis, "count": count, "bytes": size_bytes}
