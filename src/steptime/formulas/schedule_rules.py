"""What a pipeline schedule asks of chunks, stages and micro-batches, as numbered rules.

``schedule`` is the place of a schedule's name in ``formulas.schedule.SCHEDULES``. The sentence of
each rule is in `steptime.inputs.schedule_faults`. A schedule that is drawn, a layout that is
answered, a row of a search and the pages all ask `schedule_rule`, and nothing else.
"""

from steptime.formulas.number import Number, floor, maximum, where
from steptime.formulas.records import MendedSizes
from steptime.formulas.schedule import entry_number, schedule_fault
from steptime.formulas.validity import leaves_rest


def chunks_held(schedule: Number) -> Number:
    """Return the chunks that a rank must hold under a schedule, 0 where any number will do.

    Args:
        schedule: Place of its name.

    References:
        qi2023, Sec. 6 and qi2024, Fig. 4 (a V has two chunks).
    """
    return entry_number("chunks", schedule)


def schedule_rule(schedule: Number, pp: Number, num_microbatches: Number, vpp: Number) -> Number:
    """Return which rule a schedule breaks, 0 if none: its chunks first, then `schedule_fault`.

    1: it has two chunks a rank; 2: it has one; 3 to 5: rules 1 to 3 of `schedule_fault`; 6: one
    rank holds one chunk, whatever the schedule's name, which means nothing else there; 7: as 4,
    with fewer than two micro-batches a stage, where DualPipe-V does not run either.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.
        vpp: Chunks a rank holds, v.

    References:
        derived here from `chunks_held` and `schedule_fault`; megatronlm2026,
        megatron/training/arguments.py (no interleaving without a pipeline).
    """
    unfit = schedule_fault(schedule, pp, num_microbatches, vpp)
    rule = where(unfit > 0.0, unfit + 2.0, 0.0)
    few = where(num_microbatches < 2.0 * pp, 7.0, 4.0)
    rule = where(rule == 4.0, few, rule)
    held = chunks_held(schedule)
    single = where(vpp > 1.0, 2.0, rule)
    vee = where(vpp == 2.0, rule, 1.0)
    staged = where(held == 2.0, vee, where(held == 1.0, single, rule))
    return where(pp > 1.0, staged, where(vpp > 1.0, 6.0, 0.0))


def mended_sizes(pp: Number, num_microbatches: Number) -> MendedSizes:
    """Return the sizes near by at which a schedule can run, by what it asks for.

    Args:
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.

    Returns:
        ``fewer`` and ``more`` micro-batches in equal rounds; ``even_pp`` ranks with the ``even``
        micro-batches that they need; the ``least`` micro-batches of both DualPipes on ``pp``.
    """
    m = num_microbatches
    fewer = floor(m / pp) * pp
    even_pp = pp + leaves_rest(pp, 2.0)
    return {
        "fewer": fewer,
        "more": fewer + pp,
        "even_pp": even_pp,
        "even": maximum(m + leaves_rest(m, 2.0), 2.0 * even_pp),
        "least": 2.0 * pp,
    }
