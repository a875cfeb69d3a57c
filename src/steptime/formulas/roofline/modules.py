"""What single modules of a layer take that run again in the backward pass."""

from steptime.formulas.number import Number, anywhere, ceil_div, minimum, where
from steptime.formulas.records import Constants, Job, TimeFacts
from steptime.formulas.roofline.experts import (
    mixture_forward_s,
    mixture_share,
    shared_products_s,
)
from steptime.formulas.roofline.rates import product_flop_per_s

NORM_BYTES = 4.0
"""Moved for each value of a norm that runs again: read and written in 16 bits."""

EXPANSION_SHARE = 0.7
"""Time of latent attention's expansions over that of all its products: taken, no source has it.

Of DeepSeek-V3's parameters they are 0.29 (deepseek2024, Sec. 4.2). What turns and joins their
results runs again with them (megatronlm2026, --recompute-modules mla_up_proj), and no part here
has it."""


def full_share(job: Job, stack: TimeFacts) -> Number:
    """Return the share of the layers whose whole forward pass runs again in the backward pass.

    Args:
        job: ``recompute_full``.
        stack: ``recompute_layers`` of each stage, or 0 for all of them.

    References:
        megatronlm2026, --recompute-method block.
    """
    some = minimum(stack.recompute_layers / ceil_div(job.num_layers, job.pp), 1.0)
    return job.recompute_full * where(stack.recompute_layers > 0.0, some, 1.0)


def modules_again_s(job: Job, stack: TimeFacts, constants: Constants, tokens: Number) -> Number:
    """Return the time of norms, activations and experts that run again, for a micro-batch.

    Args:
        stack: ``recompute_norms`` for the two norms of a layer, ``recompute_expert_activation``
            for the product of gate and up of routed and of shared experts and
            ``recompute_activation`` for a dense network's: what it reads and writes, in 16 bits.
        constants: ``hbm_efficiency``, and as in `experts_again_s`.
        tokens: Of a micro-batch on this device.

    References:
        deepseek2024, Sec. 3.2.3 and 3.3.3; megatronlm2026, --recompute-modules layernorm and
        moe_act; maxtext2024, remat_policy minimal.
    """
    norms = stack.recompute_norms * 2.0 * NORM_BYTES * tokens * job.hidden_size / job.tp
    copies = tokens * job.top_k / job.tp + tokens * job.num_shared_experts / job.tp
    each = 2.0 * (2.0 + job.gated)
    mixtures = mixture_share(job)
    routed = mixtures * copies * each * job.expert_ffn_hidden_size
    dense = (1.0 - mixtures) * tokens * each * job.ffn_hidden_size / job.tp
    activations = stack.recompute_expert_activation * routed + stack.recompute_activation * dense
    moved_s = (norms + activations) / (job.hbm_bytes_per_s * constants.hbm_efficiency)
    again_s = moved_s + experts_again_s(job, stack, constants, tokens)
    # Where the whole layer runs again, they are in it.
    return (1.0 - full_share(job, stack)) * again_s


def experts_again_s(job: Job, stack: TimeFacts, constants: Constants, tokens: Number) -> Number:
    """Return the time of experts that run again, exchanges apart, for a micro-batch.

    Args:
        stack: ``recompute_experts`` for all of a mixture layer's feed-forward part,
            ``recompute_shared_experts`` for the experts that every token uses.
        constants: As in `mixture_forward_s`.
        tokens: Of a micro-batch on this device.

    References:
        megatronlm2026, --recompute-modules moe and shared_experts.
    """
    if not anywhere(stack.recompute_experts + stack.recompute_shared_experts > 0.0):
        return 0.0
    rate = product_flop_per_s(job, stack, constants)
    shared = (1.0 - stack.recompute_experts) * stack.recompute_shared_experts
    shared_s = shared * shared_products_s(job, constants, tokens, rate)
    every_s = stack.recompute_experts * mixture_forward_s(job, stack, constants, tokens, rate)
    return mixture_share(job) * (shared_s + every_s)
