"""What single modules of a layer take that run again in the backward pass."""

from steptime.formulas.number import Number
from steptime.formulas.records import Constants, Job, TimeFacts
from steptime.formulas.roofline.experts import mixture_share, routed_rows

NORM_BYTES = 4.0
"""Moved for each value of a norm that runs again: read and written in 16 bits."""


def modules_again_s(job: Job, stack: TimeFacts, constants: Constants, tokens: Number) -> Number:
    """Return the time of norms and activations that run again, for a micro-batch.

    Args:
        stack: ``recompute_norms`` for the two norms of a layer, ``recompute_expert_activation``
            for the product of gate and up of routed and of shared experts and
            ``recompute_activation`` for a dense network's: what it reads and writes, in 16 bits.
        constants: ``hbm_efficiency``.
        tokens: Of a micro-batch on this device.

    References:
        deepseek2024, Sec. 3.2.3 and 3.3.3; megatronlm2026, --recompute-modules layernorm and
        moe_act; maxtext2024, remat_policy minimal.
    """
    norms = stack.recompute_norms * 2.0 * NORM_BYTES * tokens * job.hidden_size / job.tp
    copies = routed_rows(job, tokens) / job.etp + tokens * job.num_shared_experts / job.tp
    each = 2.0 * (2.0 + job.gated)
    mixtures = mixture_share(job)
    routed = mixtures * copies * each * job.expert_ffn_hidden_size
    dense = (1.0 - mixtures) * tokens * each * job.ffn_hidden_size / job.tp
    activations = stack.recompute_expert_activation * routed + stack.recompute_activation * dense
    return (norms + activations) / (job.hbm_bytes_per_s * constants.hbm_efficiency)
