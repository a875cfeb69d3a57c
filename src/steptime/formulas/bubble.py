"""Idle time of a pipeline, measured against useful work and against the whole step."""

from steptime.formulas.number import Number


def bubble_overhead(pp: Number, num_microbatches: Number, vpp: Number) -> Number:
    """Return idle time over useful work: ``(p - 1) / (v m)``.

    Holds for GPipe and 1F1B (v = 1) and for interleaved 1F1B, with equal stages and free sends.

    Args:
        pp: Pipeline stages, p.
        num_microbatches: Micro-batches per step, m.
        vpp: Model chunks a device holds, v.

    References:
        narayanan2021, Sec. 2.2.
    """
    return (pp - 1.0) / (vpp * num_microbatches)


def bubble_fraction(pp: Number, num_microbatches: Number, vpp: Number) -> Number:
    """Return idle time over the whole step: ``(p - 1) / (v m + p - 1)``.

    Args:
        pp: Pipeline stages, p.
        num_microbatches: Micro-batches per step, m.
        vpp: Model chunks a device holds, v.

    References:
        derived from narayanan2021, Sec. 2.2.
    """
    return (pp - 1.0) / (vpp * num_microbatches + pp - 1.0)
