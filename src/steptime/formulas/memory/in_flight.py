"""How many micro-batches' activations a rank holds at once, by schedule.

Counted in micro-batches of everything the rank holds, so a chunk counts 1/v. These are the
peaks that the simulator finds; the tests compare the two.
"""

from steptime.formulas.number import Number, minimum, where


def micro_batches(job: Number) -> Number:
    """Return the micro-batches of a step, m = B / (d b).

    Args:
        job: The flat record.
    """
    return job.global_batch_size / (job.dp * job.micro_batch_size)


def in_flight(job: Number, rank: Number) -> Number:
    """Return the micro-batches whose activations rank ``rank`` holds at its peak.

    ``job.schedule`` is the place of the schedule's name in ``SCHEDULES``.

    Args:
        job: The flat record.
        rank: Pipeline rank, 0 is the first.

    References:
        narayanan2021, Sec. 2.2 (GPipe, 1F1B, interleaved); lamypoirier2023, Sec. 3 (breadth-first);
        qi2024, Sec. 3 (ZB-H1, ZB-H2); qi2024b, Table 1 (ZB-V, V-Half, V-Min);
        deepseek2024v3, Table 2 (DualPipe).
    """
    p = job.pp
    v = job.vpp
    m = micro_batches(job)
    code = job.schedule
    one = p - rank
    chunks = ((v - 1.0) * p + 2.0 * one - 1.0) / v
    flat_chunks = ((v - 1.0) * p + 2.0 * p - 1.0) / v
    most = m
    most = where(code == 1.0, one, most)
    most = where(code == 2.0, where(v > 1.0, chunks, one), most)
    most = where(code == 4.0, p, most)
    most = where(code == 5.0, 2.0 * p - 1.0, most)
    most = where(code == 6.0, where(v > 1.0, flat_chunks, p), most)
    most = where(code == 7.0, p, most)
    most = where(code == 8.0, p / 2.0 + 1.0, most)
    most = where(code == 9.0, (p + 4.0) / 3.0, most)
    most = where(code == 10.0, p + 1.0, most)
    most = where(code == 11.0, p + 0.5, most)
    return minimum(most, m)
