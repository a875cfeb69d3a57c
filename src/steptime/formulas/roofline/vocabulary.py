"""Messages of a vocabulary that is split over tensor-parallel ranks."""

from steptime.formulas.number import Number, where
from steptime.formulas.records import Constants, Ends, Job, TimeFacts
from steptime.formulas.roofline.links import gather_s, reduce_s
from steptime.formulas.roofline.rates import ranks_inside
from steptime.formulas.validity import ends_count

LOSS_SUMS = 3.0
"""Sums over the ranks for each token's loss: the largest logit, the target's, and the sum of
exponentials (megatronlm2026, tensor_parallel/cross_entropy.py)."""
LOSS_BYTES = 4.0
"""Of a number that they add up: 32 bits."""


def vocabulary_s(job: Job, stack: TimeFacts, constants: Constants, tokens: Number) -> Ends:
    """Return the time of these messages for one micro-batch, both passes: 0 with t = 1.

    Each rank looks up the tokens whose rows it has, so what is embedded is added up; with
    sequence parallelism it is scattered, and its gradient gathered. The head's input is
    gathered and its gradient scattered, or added up; a token's loss takes three sums.

    Args:
        stack: ``edges_count`` is 1 where a stage with an end may have a layer less: then the
            embedding is no longer than that.
        constants: As in `gather_s`.
        tokens: Of a micro-batch on this device.

    Returns:
        ``first`` for the embedding and ``last`` for the head.

    References:
        shoeybi2019, Sec. 3 (both are split along the vocabulary); korthikanti2022, Sec. 4.2.2.
    """
    inside = ranks_inside(job, job.tp, 1.0)
    size = tokens * job.hidden_size * 2.0
    both = 2.0 * gather_s(job, constants, size, job.tp, inside)
    whole = reduce_s(job, constants, size, job.tp, inside)
    one = where(job.sequence_parallel > 0.0, both, whole)
    sums = LOSS_SUMS * reduce_s(job, constants, LOSS_BYTES * tokens, job.tp, inside)
    shorter = stack.edges_count * ends_count(job.num_layers, job.pp * job.vpp)
    first = where(job.pp > 1.0, where(shorter > 0.0, 0.0, one), one)
    return {"first": first, "last": one + sums}
