"""The mixture-of-experts part of a layer: grouped products, permutes and exchanges."""

from steptime.formulas.collectives import all_to_all_sent_bytes
from steptime.formulas.number import Number, maximum, minimum, where
from steptime.formulas.roofline.matmul import gradient_products_s, product_s
from steptime.formulas.roofline.rates import inside_bytes_per_s, ranks_inside

PADDED_ROWS = 64.0
"""Rows that each expert's batch is short of a full tile, on average: half of 128."""


def mixture_share(job: Number) -> Number:
    """Return the share of the layers that hold experts.

    Args:
        job: The flat record.
    """
    share = (job.num_layers - job.num_dense_layers) / job.num_layers
    return where(job.num_experts > 0.0, share, 0.0)


def routed_rows(job: Number, tokens: Number) -> Number:
    """Return the token copies that one rank's experts work on, evenly routed.

    Args:
        job: The flat record.
        tokens: Of a micro-batch, before tensor parallelism splits them.
    """
    return tokens * job.top_k / job.tp


def age_factor(stack: Number, constants: Number) -> Number:
    """Return how much longer sorting, routing and activations take in older software.

    Args:
        stack: ``old_experts`` is 1 before experts ran without waiting for the host;
            ``experts_age_years`` counts back from that time.
        constants: ``old_experts_slowdown`` and ``experts_slowdown_per_year``.
    """
    return (
        1.0
        + stack.old_experts * constants.old_experts_slowdown
        + stack.experts_age_years * constants.experts_slowdown_per_year
    )


def shared_products_s(job: Number, constants: Number, tokens: Number, flop_per_s: Number) -> Number:
    """Return the forward time of the experts that every token uses: 0 without any.

    Args:
        job: The flat record.
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


def grouped_products_s(job: Number, constants: Number, rows: Number, flop_per_s: Number) -> Number:
    """Return the forward time of the routed experts' products on one rank.

    Args:
        job: The flat record.
        constants: ``hbm_efficiency``.
        rows: What `routed_rows` returned.
        flop_per_s: Rate of large products.
    """
    local = job.num_experts / job.ep
    values = (2.0 + job.gated) * job.expert_ffn_hidden_size * job.hidden_size
    arithmetic_s = 2.0 * (rows + PADDED_ROWS * local) * values / flop_per_s
    weights_s = 2.0 * local * values / (job.hbm_bytes_per_s * constants.hbm_efficiency)
    return arithmetic_s + weights_s


def handling_s(job: Number, stack: Number, constants: Number, rows: Number) -> Number:
    """Return the forward time of routing, permuting, and the experts' activation.

    Args:
        job: The flat record.
        stack: ``eager_experts`` is 1 where the activation is a chain of small kernels.
        constants: ``permute_bytes``, ``eager_experts_passes``, ``routing_s``.
        rows: What `routed_rows` returned.
    """
    passes = 1.0 + stack.eager_experts * constants.eager_experts_passes
    activation = 4.0 * job.expert_ffn_hidden_size * (1.0 + job.gated) * passes
    moved = rows * (constants.permute_bytes * job.hidden_size + activation)
    return moved / (job.hbm_bytes_per_s * constants.hbm_efficiency) + constants.routing_s


def exchange_s(job: Number, constants: Number, tokens: Number) -> Number:
    """Return the time of one all-to-all: every token copy to the rank that holds its expert.

    Inside a domain each copy travels by itself; a token crosses to another domain once,
    however many of its experts are there.

    Args:
        job: The flat record.
        constants: ``link_efficiency``, ``network_efficiency`` and ``hop_s``.
        tokens: Of a micro-batch, before tensor parallelism splits them.

    References:
        deepseek2024, Sec. 3.2.2 (one copy per node).
    """
    inside = ranks_inside(job, job.ep, job.tp)
    domains = job.ep / inside
    near = all_to_all_sent_bytes(routed_rows(job, tokens) * job.hidden_size * 2.0, job.ep)
    copies = minimum(job.top_k, domains)
    far = all_to_all_sent_bytes(tokens / job.tp * copies * job.hidden_size * 2.0, domains)
    network = job.network_bytes_per_s * constants.network_efficiency
    return near / inside_bytes_per_s(job, constants) + far / network + constants.hop_s


def mixture_forward_s(
    job: Number, stack: Number, constants: Number, tokens: Number, flop_per_s: Number
) -> Number:
    """Return the forward time of a mixture layer's feed-forward part, exchanges apart.

    Args:
        job: The flat record.
        stack: Facts of the software.
        constants: As in the functions above.
        tokens: Of a micro-batch on this device.
        flop_per_s: Rate of large products.
    """
    rows = routed_rows(job, tokens)
    handled_s = handling_s(job, stack, constants, rows) * age_factor(stack, constants)
    products_s = grouped_products_s(job, constants, rows, flop_per_s)
    return products_s + handled_s + shared_products_s(job, constants, tokens, flop_per_s)


def dense_forward_s(job: Number, constants: Number, tokens: Number, flop_per_s: Number) -> Number:
    """Return the forward time of an ordinary feed-forward network's products.

    Args:
        job: The flat record.
        constants: As in `product_s`.
        tokens: Of a micro-batch on this device.
        flop_per_s: Rate of large products.
    """
    width = job.ffn_hidden_size / job.tp
    up_s = product_s(job, constants, tokens, (1.0 + job.gated) * width, job.hidden_size, flop_per_s)
    return up_s + product_s(job, constants, tokens, job.hidden_size, width, flop_per_s)


def dense_backward_s(job: Number, constants: Number, tokens: Number, flop_per_s: Number) -> Number:
    """Return the backward time of an ordinary feed-forward network's products.

    Args:
        job: The flat record.
        constants: As in `product_s`.
        tokens: Of a micro-batch on this device.
        flop_per_s: Rate of large products.
    """
    h, width = job.hidden_size, job.ffn_hidden_size / job.tp
    up_s = gradient_products_s(job, constants, tokens, (1.0 + job.gated) * width, h, flop_per_s)
    return up_s + gradient_products_s(job, constants, tokens, h, width, flop_per_s)
