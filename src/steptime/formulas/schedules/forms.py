"""The closed form of a schedule's idle time: the highest of some linear forms in F, I and W.

A form is a chain of actions that no schedule can shorten without changing an order: it counts
the F, I and W of one chunk in the chain, less those that each rank does anyway. The longest
chain is the step, so the idle time of a rank is the highest form.
"""

from steptime.formulas.number import Number, floor, maximum
from steptime.formulas.records import HeldLine


def highest(
    forms: list[list[Number]], forward: Number, backward_input: Number, backward_weight: Number
) -> Number:
    """Return the highest of some forms.

    Args:
        forms: How many F, I and W each holds, one row a form.
        forward: Time of F in one chunk.
        backward_input: Time of I in one chunk.
        backward_weight: Time of W in one chunk.

    References:
        derived here: the longest path of the graph that `steptime.pipeline.execute` walks.
    """
    whole = forward + backward_input + backward_weight
    best: Number = 0.0
    for form in forms:
        # Whole actions first: a form with as many of each is that many times the sum, exactly.
        rest = (form[0] - form[2]) * forward + (form[1] - form[2]) * backward_input
        best = maximum(best, form[2] * whole + rest)
    return best


def late_chunks(pp: Number, num_microbatches: Number, vpp: Number) -> Number:
    """Return the chunk times that a rank waits because a round is shorter than the ranks.

    Args:
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.
        vpp: Chunks a rank holds, v.

    References:
        derived here.
    """
    return (vpp - 1.0) * maximum(pp - num_microbatches, 0.0)


def held(base: Number, slope: Number, rise: Number) -> HeldLine:
    """Return what rank r holds at most: ``base - slope r``, no more than ``rise + r``.

    Args:
        base: Micro-batches times chunks on rank 0.
        slope: Fewer on each rank after it.
        rise: Micro-batches times chunks that have reached rank 0 by then; it counts where a
            step has few micro-batches.

    References:
        derived here.
    """
    return {"base": base, "slope": slope, "rise": rise}


def round_size(pp: Number, num_microbatches: Number) -> Number:
    """Return the micro-batches in a round of an interleaved schedule: p, or a few more.

    Args:
        pp: Pipeline ranks, p.
        num_microbatches: Micro-batches, m.

    References:
        ansel2024, torch.distributed.pipelining.
    """
    return num_microbatches / maximum(1.0, floor(num_microbatches / pp))
