"""How many micro-batches' activations a rank holds at once, by schedule.

Counted in micro-batches of everything the rank holds, so a chunk counts 1/v. These are the
peaks that the simulator finds; the tests compare the two.
"""

from steptime.formulas.number import Number, floor, minimum, where
from steptime.formulas.schedule import round_size


def micro_batches(job: Number) -> Number:
    """Return the micro-batches of a step, m = B / (d b).

    Args:
        job: The flat record.
    """
    return job.global_batch_size / (job.dp * job.micro_batch_size)


def flight_line(job: Number) -> Number:
    """Return ``base`` and ``slope``: rank r holds ``base - slope r`` micro-batches, or all.

    ``job.schedule`` is the place of the schedule's name in ``SCHEDULES``.

    Args:
        job: The flat record.

    References:
        narayanan2021, Sec. 2.2 (GPipe, 1F1B, interleaved); lamypoirier2023, Sec. 3
        (breadth-first); qi2023, Sec. 3 (ZB-H1, ZB-H2); qi2024, Table 1 (ZB-V, V-Half, V-Min);
        deepseek2024, Table 2 (DualPipe).
    """
    p = job.pp
    v = job.vpp
    code = job.schedule
    rounds = (v - 1.0) * round_size(p, micro_batches(job))
    chunks = (rounds + 2.0 * p - 1.0) / v
    base = where(code == 1.0, p, micro_batches(job))
    base = where(code == 2.0, where(v > 1.0, chunks, p), base)
    base = where(code == 4.0, p, base)
    base = where(code == 5.0, 2.0 * p - 1.0, base)
    base = where(code == 6.0, (rounds + p) / v, base)
    base = where(code == 7.0, p, base)
    base = where(code == 8.0, floor(p / 2.0) + 1.0, base)
    base = where(code == 9.0, floor((p + 4.0) / 3.0), base)
    base = where(code == 10.0, p + 1.0, base)
    base = where(code == 11.0, p + 0.5, base)
    interleaved = where(v > 1.0, 2.0 / v, 1.0)
    slope = where(code == 1.0, 1.0, where(code == 2.0, interleaved, 0.0))
    return {"base": base, "slope": slope}


def in_flight(shared: Number, rank: Number) -> Number:
    """Return the micro-batches whose activations rank ``rank`` holds at its peak.

    Args:
        shared: From `shared.shared_terms`.
        rank: Pipeline rank, 0 is the first.

    References:
        narayanan2021, Sec. 2.2.
    """
    return minimum(shared["base"] - shared["slope"] * rank, shared["micro_batches"])
