"""The mixture-of-experts part of a layer: grouped products and permutes."""

from steptime.formulas.experts import expert_width, of_copies
from steptime.formulas.number import Number, maximum, where
from steptime.formulas.records import Constants, Job, TimeFacts
from steptime.formulas.roofline.matmul import gradient_products_s, product_s

PADDED_ROWS = 64.0
"""Rows that each expert's batch is short of a full tile, on average: half of 128."""
ROUTING_LAUNCHES = 25.0
"""Kernels of a forward pass that route and sort, whatever the number of experts: scores and
their top k, the balancing loss, counts and maps, permuting there and back. Megatron's router and
dispatcher launch 20 to 30, by what is fused (megatronlm2026, transformer/moe)."""
PRODUCT_LAUNCHES = 2.0
"""Products of an expert in a forward pass; a backward pass has twice as many."""
CAST_LAUNCHES = 4.0 / 3.0
"""Casts of an expert in 8 bits, two forward and two backward, as a third of both passes."""
BIAS_LAUNCHES = 7.0 / 3.0
"""Kernels that add an expert's second bias times the routing weight, likewise: two forward, five
backward (megatronlm2026, transformer/moe/experts.py)."""
PERMUTED_BYTES = 8.0
"""Moved for each value of a token copy: sorted and put back, each read and written in 16 bits."""
UNFUSED_INNER_BYTES = 35.0
"""Moved a pass for each inner value of a token copy where no kernel is fused. Forward: clamps
(8), gate (4), offset (4), product (6), routing weight in 32 bits and back (12). Backward: weight
(34), product (12), gate (6), clamps (12), both halves joined (8). A third of their sum, 106
(megatronlm2026, transformer/moe/experts.py, the path without fusion)."""
UNFUSED_OUTER_BYTES = 21.0
"""The same for each outer value. Forward: second bias times weight in 32 bits (4), added (10),
joined (8), narrowed (6). Backward: widened (6), narrowed (6), and for bias and weight a product
and its sum each (24). A third of their sum, 64."""


def mixture_share(job: Job) -> Number:
    """Return the share of the layers that hold experts."""
    share = (job.num_layers - job.num_dense_layers) / job.num_layers
    return where(job.num_experts > 0.0, share, 0.0)


def routed_rows(job: Job, tokens: Number) -> Number:
    """Return the token copies that one rank's experts work on, evenly routed.

    Ranks that share each expert's width all work on the copies of all of them.

    Args:
        tokens: Of a micro-batch, before tensor parallelism splits them.
    """
    return of_copies(tokens * job.top_k, job)


def host_wait_s(job: Job, stack: TimeFacts, constants: Constants) -> Number:
    """Return what a forward pass waits for the host where it has to know each expert's batch.

    Software that launches each expert's kernels by itself first has to fetch how many tokens
    each got. The device is idle meanwhile and stays so until the host has launched what comes
    next; the more experts a rank holds, the longer.

    Args:
        stack: ``old_experts`` is 1 before experts ran without waiting for the host;
            ``eager_experts`` adds launches.
        constants: ``host_launch_s`` for each launch.

    References:
        transformerengine2026, pull request 853 (a launch for each expert); megatronlm2026,
        transformer/moe/experts.py (the counts are fetched); nvidia2026moe (host overhead).
    """
    each = PRODUCT_LAUNCHES + job.fp8 * CAST_LAUNCHES + stack.eager_experts * BIAS_LAUNCHES
    launches = ROUTING_LAUNCHES + job.num_experts / job.ep * each
    return stack.old_experts * launches * constants.host_launch_s


def shared_products_s(job: Job, constants: Constants, tokens: Number, flop_per_s: Number) -> Number:
    """Return the forward time of the experts that every token uses: 0 without any.

    Args:
        constants: As in `product_s`.
        tokens: Of a micro-batch on this device.
        flop_per_s: Rate of large products.
    """
    width = maximum(job.num_shared_experts * job.expert_ffn_hidden_size, 1.0)
    up_s = product_s(
        job, constants, tokens, (1.0 + job.gated) * width / job.tp, job.hidden_size, flop_per_s
    )
    down_s = product_s(job, constants, tokens, job.hidden_size, width / job.tp, flop_per_s)
    return where(job.num_shared_experts > 0.0, up_s + down_s, 0.0)


def grouped_products_s(job: Job, constants: Constants, rows: Number, flop_per_s: Number) -> Number:
    """Return the forward time of the routed experts' products on one rank.

    Args:
        constants: ``hbm_efficiency``.
        rows: What `routed_rows` returned.
        flop_per_s: Rate of large products.
    """
    local = job.num_experts / job.ep
    values = (2.0 + job.gated) * expert_width(job) * job.hidden_size
    arithmetic_s = 2.0 * (rows + PADDED_ROWS * local) * values / flop_per_s
    weights_s = 2.0 * local * values / (job.hbm_bytes_per_s * constants.hbm_efficiency)
    return arithmetic_s + weights_s


def handling_s(job: Job, stack: TimeFacts, constants: Constants, rows: Number) -> Number:
    """Return the forward time of routing, permuting, and the experts' activation.

    Args:
        stack: ``eager_experts`` is 1 where the activation is a chain of small kernels;
            ``plain_exchange`` is 1 where what arrives is sorted once more.
        constants: ``hbm_efficiency`` and ``launch_s``, and as in `host_wait_s`.
        rows: What `routed_rows` returned.
    """
    h, f = job.hidden_size, expert_width(job)
    fused = 4.0 * f * (1.0 + job.gated)
    chain = UNFUSED_INNER_BYTES * f + UNFUSED_OUTER_BYTES * h
    activation = where(stack.eager_experts > 0.0, chain, fused)
    sorts = 1.0 + stack.plain_exchange
    moved_s = rows * (PERMUTED_BYTES * sorts * h + activation) / job.hbm_bytes_per_s
    routing_s = ROUTING_LAUNCHES * constants.launch_s
    return moved_s / constants.hbm_efficiency + routing_s + host_wait_s(job, stack, constants)


def mixture_forward_s(
    job: Job, stack: TimeFacts, constants: Constants, tokens: Number, flop_per_s: Number
) -> Number:
    """Return the forward time of a mixture layer's feed-forward part, exchanges apart.

    Args:
        constants: As in the functions above.
        tokens: Of a micro-batch on this device.
        flop_per_s: Rate of large products.
    """
    rows = routed_rows(job, tokens)
    handled_s = handling_s(job, stack, constants, rows)
    products_s = grouped_products_s(job, constants, rows, flop_per_s)
    return products_s + handled_s + shared_products_s(job, constants, tokens, flop_per_s)


def dense_forward_s(job: Job, constants: Constants, tokens: Number, flop_per_s: Number) -> Number:
    """Return the forward time of an ordinary feed-forward network's products.

    Args:
        constants: As in `product_s`.
        tokens: Of a micro-batch on this device.
        flop_per_s: Rate of large products.
    """
    width = job.ffn_hidden_size / job.tp
    up_s = product_s(job, constants, tokens, (1.0 + job.gated) * width, job.hidden_size, flop_per_s)
    return up_s + product_s(job, constants, tokens, job.hidden_size, width, flop_per_s)


def dense_backward_s(job: Job, constants: Constants, tokens: Number, flop_per_s: Number) -> Number:
    """Return the backward time of an ordinary feed-forward network's products.

    Args:
        constants: As in `product_s`.
        tokens: Of a micro-batch on this device.
        flop_per_s: Rate of large products.
    """
    h, width = job.hidden_size, job.ffn_hidden_size / job.tp
    up_s = gradient_products_s(job, constants, tokens, (1.0 + job.gated) * width, h, flop_per_s)
    return up_s + gradient_products_s(job, constants, tokens, h, width, flop_per_s)
