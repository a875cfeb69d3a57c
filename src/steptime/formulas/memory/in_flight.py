"""How many micro-batches' activations a rank holds at once, by schedule.

Counted in micro-batches of everything the rank holds, so a chunk counts 1/v. These are the
peaks that the simulator finds; the tests compare the two.
"""

from steptime.formulas.flops import num_microbatches
from steptime.formulas.number import Number, minimum, where
from steptime.formulas.records import FlightLine, Job, SharedTerms
from steptime.formulas.schedule import held_line


def flight_line(job: Job) -> FlightLine:
    """Return ``base`` and ``slope``: rank r holds ``base - slope r`` micro-batches, or all.

    With one stage each micro-batch goes backward before the next goes forward, whatever the
    schedule's name: there is no pipeline to fill.

    Args:
        job: ``schedule`` is the place of the schedule's name in ``SCHEDULES``.

    References:
        derived here from `steptime.formulas.schedule.held_line`.
    """
    line = held_line(job.schedule, job.pp, num_microbatches(job), job.vpp)
    staged = job.pp > 1.0
    return {
        "base": where(staged, line["base"] / job.vpp, 1.0),
        "slope": where(staged, line["slope"] / job.vpp, 0.0),
    }


def in_flight(shared: SharedTerms, rank: Number) -> Number:
    """Return the micro-batches whose activations rank ``rank`` holds at its peak.

    Args:
        shared: From `shared.shared_terms`.
        rank: Pipeline rank, 0 is the first.

    References:
        narayanan2021, Sec. 2.2.
    """
    return minimum(shared["base"] - shared["slope"] * rank, shared["micro_batches"])
