"""Everything in a layer that is no matrix product: bounded by memory traffic."""

from steptime.formulas.number import Number, maximum, where
from steptime.formulas.records import Constants, Job, Passes, TimeFacts

TENSOR_CAST_BYTES = 6.0
"""Moved for each value cast to 8 bits with one scale for all: read for the largest value (2),
read and written (2 + 1), written transposed for the other product (1)."""
BLOCK_CAST_BYTES = 4.0
"""The same with a scale for each block, which is found on the way: read (2), written along rows
and along columns (1 + 1)."""
CAST_4_BITS_BYTES = 7.0
"""The same in four bits: read for the largest value (2), read and written along rows (2 + 0.5),
read, rotated and written along columns (2 + 0.5)."""
ROTARY_BYTES = 14.0
"""Moved for each value of queries and keys that plain PyTorch turns, beyond the 4 of one kernel:
times the cosine (4), halves swapped (4), times the sine (4), added (6)."""
PLAIN_NORM_FORWARD_BYTES = 32.0
PLAIN_NORM_BACKWARD_BYTES = 62.0
"""Moved for each value of a norm that runs as plain PyTorch in 32 bits, beyond the 4 and the 6 of
one kernel. Forward: widened (6), squared (8), averaged (4), scaled (8), narrowed (6), times the
weight (4). Backward: times the weight (4), the weight's gradient (8), widened (6), gradients of the
scaling (8, and 16 with its sum), of the square (8), added (12), narrowed (6)."""


def layer_traffic_bytes(job: Job, stack: TimeFacts, tokens: Number, dense_share: Number) -> Passes:
    """Return the bytes a layer moves outside of products and attention, in 16 bits.

    Norms, residual sums and dropout see the whole width on every tensor-parallel rank,
    unless sequence parallelism splits them; activations, and putting heads in place with
    their positions, see a part. Forward: two norms read and write (4 h each), two sums read
    two and write one (6 h each), dropout writes a mask. Backward: a norm reads two and writes
    one, gradients that meet are summed (6 h each), dropout reads gradient and mask and writes.
    An activation reads each input and writes its output, and going back reads one more and
    writes each input. Where nothing is fused, a gate's factor is written and read again, heads
    are copied once more, and positions turn them in four kernels.

    Args:
        stack: ``dropout``; ``eager`` is the share of operations that run unfused, ``plain_norms``
            that of norms that do.
        tokens: Of a micro-batch on this device.
        dense_share: Share of the layers with an ordinary feed-forward network.

    Returns:
        ``forward`` and ``backward``.

    References:
        korthikanti2022, Sec. 4.1 and 4.2.2 (what each part reads and writes).
    """
    h, gated, eager = job.hidden_size, job.gated, stack.eager
    split = where(job.sequence_parallel > 0.0, job.tp, 1.0)
    masks = 2.0 * stack.dropout
    ahead = 2.0 * stack.plain_norms * PLAIN_NORM_FORWARD_BYTES
    behind = 2.0 * stack.plain_norms * PLAIN_NORM_BACKWARD_BYTES
    heads = job.num_attention_heads * job.head_dim
    key_values = 2.0 * maximum(job.num_query_groups, job.tp) * job.head_dim
    placed = 4.0 * (heads + key_values) * (1.0 + eager)
    placed = placed + 4.0 * heads * eager
    rotary = where(job.learned_positions > 0.0, 0.0, eager * ROTARY_BYTES)
    placed = placed + rotary * (heads + 0.5 * key_values)
    width = job.ffn_hidden_size * dense_share
    gate = (4.0 + 2.0 * gated + 4.0 * gated * eager) * width
    back = (6.0 + 4.0 * gated + 8.0 * gated * eager) * width
    return {
        "forward": tokens * ((20.0 + masks + ahead) * h / split + (placed + gate) / job.tp),
        "backward": tokens * ((24.0 + 5.0 * masks + behind) * h / split + (placed + back) / job.tp),
    }


def cast_bytes_per_value(job: Job, stack: TimeFacts) -> Number:
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
    job: Job,
    stack: TimeFacts,
    constants: Constants,
    layer_parameters: Number,
    num_microbatches: Number,
) -> Number:
    """Return the time to add one micro-batch's gradients of a layer to the earlier ones.

    Args:
        stack: ``fused_accumulation`` is 1 where the product writes the sum itself;
            ``sent_gradient_bytes`` is the width of the sum.
        constants: ``hbm_efficiency`` is used.
        layer_parameters: Of one layer on this device.
        num_microbatches: One needs no adding.
    """
    width = (2.0 + 2.0 * stack.sent_gradient_bytes) * layer_parameters
    moved = width * (1.0 - stack.fused_accumulation)
    one = moved / (job.hbm_bytes_per_s * constants.hbm_efficiency)
    return where(num_microbatches > 1.0, one, 0.0)
