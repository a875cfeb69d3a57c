"""The mixture-of-experts part of a layer: grouped products, permutes and exchanges."""

from steptime.formulas.collectives import all_to_all_sent_bytes
from steptime.formulas.experts import expert_width, of_copies
from steptime.formulas.number import Number, anywhere, floor, maximum, minimum, where
from steptime.formulas.records import Constants, Exchange, Job, TimeFacts
from steptime.formulas.roofline.links import gather_s
from steptime.formulas.roofline.matmul import gradient_products_s, product_s
from steptime.formulas.roofline.rates import ranks_inside
from steptime.formulas.schedule import paired_share

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
EXCHANGE_SHARE = 0.9
"""Share of a link that kernels made for exchanges reach: 153 to 158 of 160 GB/s inside a server,
43 to 58 of 50 GB/s between servers (deepep2025)."""
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


def groups_reached(groups: Number, picks: Number) -> Number:
    """Return how many of some groups a token reaches, each of its picks falling on any alike.

    Args:
        groups: Of experts: ranks, or domains of ranks.
        picks: Experts a token goes to, fewer than 64.

    References:
        derived here: groups (1 - (1 - 1/groups)^picks), the power by squaring.
    """
    missed, left, square = 1.0, picks, 1.0 - 1.0 / groups
    for _ in range(6):
        half = floor(left / 2.0)
        missed = missed * where(left > 2.0 * half, square, 1.0)
        square = square * square
        left = half
    return groups * (1.0 - missed)


def reached(job: Job, groups: Number) -> Number:
    """Return how many ranks, or domains of ranks, a token's experts lie on.

    Where a token may reach some groups of experts only, they are those with its best experts,
    so it reaches them all, and with them the domains that hold one of them.

    Args:
        groups: Ranks, or domains of them, that all experts are spread over evenly.

    References:
        deepseek2024, Sec. 2.1.2 (node-limited routing); derived here: a domain of w groups of n
        holds none of g with the chance (n-g)/n (n-g-1)/(n-1) ... of w factors.
    """
    free = groups_reached(groups, job.top_k)
    if not anywhere(job.max_groups > 0.0):
        return free
    held = maximum(job.expert_groups / groups, 1.0)
    missed = 1.0
    for i in range(8):
        none = maximum(job.expert_groups - job.max_groups - i, 0.0)
        factor = none / maximum(job.expert_groups - i, 1.0)
        missed = missed * where(held > i, factor, 1.0)
    ranks = job.max_groups * groups / maximum(job.expert_groups, 1.0)
    most = where(groups > job.expert_groups, ranks, groups * (1.0 - missed))
    return where(job.max_groups > 0.0, minimum(free, most), free)


def exchange_s(job: Job, stack: TimeFacts, constants: Constants, tokens: Number) -> Exchange:
    """Return the time of one all-to-all, the mean of those to the experts and back.

    A token travels once to each other domain and, inside, once to each rank, however many of
    its experts are there; with a plain all-to-all each copy travels by itself. Both levels are
    under way together. An exchange hides where another micro-batch computes beside it: that
    takes a schedule with pairs of passes, see `paired_share`, and software that runs them.
    Where ranks share an expert's width, what arrives is gathered among them, what leaves is
    added up.

    Args:
        stack: ``overlap_ep`` is 0 where nothing is hidden; ``plain_exchange`` as told, which
            hides nothing; ``dispatch_bytes`` of a value on the way to the experts.
        constants: ``link_efficiency`` and ``network_efficiency`` of a plain one, ``hop_s``.
        tokens: Of a micro-batch, before tensor parallelism splits them.

    Returns:
        ``shown``, and ``covered``: what the other micro-batch's work may cover.

    References:
        deepseek2024, Sec. 3.2.2 (one copy per node, both links overlapped) and 3.3.3 (8 bits
        out, 16 back); nvidia2026moe (one copy per rank).
    """
    inside = ranks_inside(job, job.ep, job.etp)
    domains = job.ep / inside
    size = tokens / job.tp * job.hidden_size * 0.5 * (stack.dispatch_bytes + 2.0)
    plain = stack.plain_exchange > 0.0
    near_copies = where(plain, job.top_k / domains, reached(job, job.ep))
    far_copies = where(plain, job.top_k, reached(job, domains))
    near = all_to_all_sent_bytes(size * near_copies, inside)
    far = all_to_all_sent_bytes(size * far_copies, domains)
    rate = where(plain, constants.link_efficiency, EXCHANGE_SHARE)
    far_rate = where(plain, constants.network_efficiency, EXCHANGE_SHARE)
    near_s = near / (job.nvlink_bytes_per_s * rate)
    far_s = far / (job.network_bytes_per_s * far_rate)
    one_s = where(job.ep > 1.0, maximum(near_s, far_s) + constants.hop_s, 0.0)
    rows_bytes = routed_rows(job, tokens) * job.hidden_size * 2.0
    sharing = ranks_inside(job, job.etp, 1.0)
    shared_s = gather_s(job, constants, rows_bytes, job.etp, sharing)
    hides = stack.overlap_ep * (1.0 - stack.plain_exchange) * pairs(job)
    return {"shown": one_s * (1.0 - hides) + shared_s, "covered": one_s * hides}


def pairs(job: Job) -> Number:
    """Return the share of a layer's passes that run beside another micro-batch's."""
    num_microbatches = job.global_batch_size / (job.dp * job.micro_batch_size)
    return paired_share(job.schedule, job.pp, num_microbatches, job.vpp)


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
