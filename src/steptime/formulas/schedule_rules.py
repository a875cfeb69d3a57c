"""What a pipeline schedule asks of chunks, stages and micro-batches, as numbered rules.

``schedule`` is the place of a schedule's name in ``inputs.layout.SCHEDULES``. The sentence of
each rule is in `steptime.inputs.training_step`; the layout page refuses by the same ones.
"""

from steptime.formulas.number import Number, floor, where
from steptime.formulas.schedule import schedule_fault
from steptime.formulas.validity import leaves_rest


def schedule_rule(schedule: Number, pp: Number, num_microbatches: Number, vpp: Number) -> Number:
    """Return which rule a schedule breaks, 0 if none: its chunks first, then `schedule_fault`.

    1: it has two chunks a rank; 2: it has one; 3 to 5: rules 1 to 3 of `schedule_fault`.

    Args:
        schedule: Place of its name.
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.
        vpp: Chunks a rank holds, v.

    References:
        qi2023, Sec. 6 and qi2024, Sec. 4 (a V has two chunks).
    """
    unfit = schedule_fault(schedule, pp, num_microbatches, vpp)
    rule = where(unfit > 0.0, unfit + 2.0, 0.0)
    single = where(schedule < 2.0, 1.0, 0.0)
    for code in [4.0, 5.0, 10.0]:
        single = where(schedule == code, 1.0, single)
    rule = where(single > 0.0, where(vpp > 1.0, 2.0, rule), rule)
    vee = where(pp > 1.0, where(vpp == 2.0, rule, 1.0), rule)
    for code in [7.0, 8.0, 9.0, 11.0]:
        rule = where(schedule == code, vee, rule)
    return rule


def mended_sizes(pp: Number, num_microbatches: Number) -> Number:
    """Return the sizes near by at which a schedule can run, by what it asks for.

    Args:
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.

    Returns:
        ``fewer`` and ``more`` micro-batches in equal rounds; ``even_pp`` ranks and ``even``
        micro-batches; the ``least`` micro-batches of both DualPipes.
    """
    m = num_microbatches
    fewer = floor(m / pp) * pp
    return {
        "fewer": fewer,
        "more": fewer + pp,
        "even_pp": pp + leaves_rest(pp, 2.0),
        "even": m + leaves_rest(m, 2.0),
        "least": 2.0 * pp,
    }
