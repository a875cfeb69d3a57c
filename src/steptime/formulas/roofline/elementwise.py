"""Everything in a layer that is no matrix product: bounded by memory traffic."""

from steptime.formulas.number import Number, where

TENSOR_CAST_BYTES = 6.0
"""Moved for each value cast to 8 bits with one scale for all: read for the largest value (2),
read and written (2 + 1), written transposed for the other product (1)."""
BLOCK_CAST_BYTES = 4.0
"""The same with a scale for each block, which is found on the way: read (2), written along rows
and along columns (1 + 1)."""
CAST_4_BITS_BYTES = 7.0
"""The same in four bits: read for the largest value (2), read and written along rows (2 + 0.5),
read, rotated and written along columns (2 + 0.5)."""


def layer_traffic_bytes(
    job: Number, stack: Number, constants: Number, tokens: Number, dense_share: Number
) -> Number:
    """Return the bytes a layer's forward moves outside of products and attention.

    Norms, residual sums and dropout see the whole width on every tensor-parallel rank,
    unless sequence parallelism splits them; activations and rotary embedding see a part.

    Args:
        job: The flat record.
        stack: ``dropout``; ``eager`` is the share of operations that run unfused.
        constants: ``eager_passes``: how many times the traffic, when nothing is fused.
        tokens: Of a micro-batch on this device.
        dense_share: Share of the layers with an ordinary feed-forward network.

    References:
        korthikanti2022, Sec. 4.2.2 (what each part reads and writes).
    """
    h = job.hidden_size
    split = where(job.sequence_parallel > 0.0, job.tp, 1.0)
    outer = (20.0 + 2.0 * stack.dropout) * h / split
    heads = (job.num_attention_heads + job.num_query_groups) * job.head_dim
    inner = 2.0 * job.ffn_hidden_size * dense_share * (1.0 + job.gated) + 4.0 * heads + 4.0 * h
    passes = 1.0 + (constants.eager_passes - 1.0) * stack.eager
    return tokens * passes * (outer + inner / job.tp)


def cast_bytes_per_value(job: Number, stack: Number) -> Number:
    """Return the bytes moved to turn one value into 8 bits or four: 0 in 16-bit training.

    Args:
        job: ``fp8`` is used.
        stack: ``block_scaled`` is 1 where each block of values has its own scale, ``fp4`` in
            four bits.

    References:
        transformerengine2026, low-precision training (what each kind of scaling computes).
    """
    wider = where(stack.block_scaled > 0.0, BLOCK_CAST_BYTES, TENSOR_CAST_BYTES)
    return job.fp8 * where(stack.fp4 > 0.0, CAST_4_BITS_BYTES, wider)


def accumulation_s(
    job: Number,
    stack: Number,
    constants: Number,
    layer_parameters: Number,
    num_microbatches: Number,
) -> Number:
    """Return the time to add one micro-batch's gradients of a layer to the earlier ones.

    Args:
        job: The flat record.
        stack: ``fused_accumulation`` is 1 where the product writes the sum itself;
            ``gradient_bytes`` is the width of the sum.
        constants: ``hbm_efficiency`` is used.
        layer_parameters: Of one layer on this device.
        num_microbatches: One needs no adding.
    """
    moved = (2.0 + 2.0 * stack.gradient_bytes) * layer_parameters * (1.0 - stack.fused_accumulation)
    one = moved / (job.hbm_bytes_per_s * constants.hbm_efficiency)
    return where(num_microbatches > 1.0, one, 0.0)
