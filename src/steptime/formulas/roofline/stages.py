"""Which stage of the pipeline sets the pace, and what the others leave idle."""

from steptime.formulas.number import Number, ceil_div, maximum, where
from steptime.formulas.roofline.matmul import gradient_products_s, product_s
from steptime.formulas.roofline.rates import ceiling_flop_per_s


def head_s(job: Number, stack: Number, constants: Number, tokens: Number) -> Number:
    """Return the time of the logits and their loss for one micro-batch, both passes.

    Args:
        job: The flat record.
        stack: Facts of the software.
        constants: ``logit_bytes`` are moved for each logit by the cross-entropy.
        tokens: Of a micro-batch on this device.
    """
    rate = ceiling_flop_per_s(job, stack, constants)
    logits, h = job.vocab_size / job.tp, job.hidden_size
    products = product_s(job, constants, tokens, logits, h, rate)
    products = products + gradient_products_s(job, constants, tokens, logits, h, rate)
    moved = constants.logit_bytes * tokens * logits
    return products + moved / (job.hbm_bytes_per_s * constants.hbm_efficiency)


def pace(job: Number, stack: Number, layer_s: Number, head_time_s: Number) -> Number:
    """Return the layers and heads of the slowest stage, and what the rest of them leaves.

    Layers are cut evenly; or so that embedding and head count as a layer each; or so that
    the head counts for as many layers as it takes.

    Args:
        job: The flat record.
        stack: ``edges_count`` and ``balance_by_cost`` are 1 where cut that way.
        layer_s: Time of a layer for one micro-batch.
        head_time_s: Time of the head for one micro-batch.

    Returns:
        ``layers`` and ``heads`` of the slowest stage, and ``others_s``: the time of all other
        stages for one micro-batch.

    References:
        narayanan2021, Sec. 2.2; grattafiori2024, Sec. 3.3.2 (one layer less at both ends).
    """
    p, layers = job.pp, job.num_layers
    even = ceil_div(layers, p)
    short = where(even * p > layers, 1.0, 0.0)
    units = head_time_s / layer_s
    by_cost = ceil_div(layers + units, p)
    edges = (layers + 2.0) / p
    usual = where(stack.edges_count > 0.0, edges, even)
    last_usual = where(stack.edges_count > 0.0, edges - 1.0, even - short)
    middle = where(stack.balance_by_cost > 0.0, by_cost, usual)
    rest = maximum(layers + units - (p - 1.0) * by_cost, 0.0)
    last = where(stack.balance_by_cost > 0.0, maximum(rest - units, 0.0), last_usual)
    last_s = last * layer_s + head_time_s
    at_end = where(last_s > middle * layer_s, 1.0, 0.0)
    whole_s = layers * layer_s + head_time_s
    top = where(at_end > 0.0, last, middle)
    most = where(p > 1.0, top, layers)
    heads = where(p > 1.0, at_end, 1.0)
    return {
        "layers": most,
        "heads": heads,
        "others_s": where(
            p > 1.0, maximum(whole_s - most * layer_s - heads * head_time_s, 0.0), 0.0
        ),
    }


def sends_s(
    job: Number, stack: Number, constants: Number, tokens: Number, num_microbatches: Number
) -> Number:
    """Return the exposed time of the messages between stages: 0 with one stage.

    Args:
        job: The flat record.
        stack: ``scattered_sends`` is 1 where each tensor-parallel rank sends its part only,
            ``overlap_sends`` where sending and computing go on together.
        constants: ``overlapped_sends_share`` stays exposed then; ``hop_s`` a message.
        tokens: Of a micro-batch on this device.
        num_microbatches: Per step and data-parallel rank.

    References:
        narayanan2021, Sec. 4.1.
    """
    bytes_per_s = constants.link_efficiency * where(
        job.tp * job.pp > job.nvlink_domain, job.network_bytes_per_s, job.nvlink_bytes_per_s
    )
    split = where(stack.scattered_sends + job.sequence_parallel > 0.0, job.tp, 1.0)
    one = tokens * job.hidden_size * 2.0 / split / bytes_per_s + constants.hop_s
    messages = 2.0 * (num_microbatches * job.vpp + job.pp - 1.0)
    exposed = where(stack.overlap_sends > 0.0, constants.overlapped_sends_share, 1.0)
    return where(job.pp > 1.0, messages * one * exposed, 0.0)
