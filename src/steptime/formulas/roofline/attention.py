"""The attention core: scores, softmax and weighted sums."""

from steptime.formulas.causal import windowed_keys
from steptime.formulas.number import Number, floor, minimum, where
from steptime.formulas.records import Constants, Job, Passes, TimeFacts
from steptime.formulas.roofline.matmul import FILL_VALUES, roof_s

START_TOKENS = 400.0
"""Sequence at which a flash kernel reaches half of its rate; published curves give 300 to 500."""
STORED_TOKENS = 16384.0
"""The most keys that Megatron-LM's softmax takes of scores that are stored (fused_softmax.py)."""
READ_TOKENS = 16384.0
"""Sequence at which the published rates of kernels were read off their curves."""
READ_SHARE = READ_TOKENS / (READ_TOKENS + START_TOKENS)
FULL_WIDTH = 128.0
"""Width of a head at which it is at its best; at half of that it loses a seventh."""
WITHOUT_TENSOR_CORES = 4.0
"""Slowdown of 16-bit products that cannot use them: nvidia2020ampere, Table 1, 312 over 78."""


def query_width(job: Job) -> Number:
    """Return the width of all query heads of latent attention.

    References:
        deepseek2024, Sec. 2.1.1.
    """
    return job.num_attention_heads * (job.qk_nope_head_dim + job.qk_rope_head_dim)


def output_width(job: Job) -> Number:
    """Return the width that the output matrix of attention takes in."""
    latent = job.num_attention_heads * job.v_head_dim
    return where(job.kv_lora_rank > 0.0, latent, job.num_attention_heads * job.head_dim)


def scores_width(job: Job) -> Number:
    """Return the width over which scores and weighted sums of all heads multiply, per key."""
    latent = query_width(job) + output_width(job)
    ordinary = 2.0 * job.num_attention_heads * job.head_dim
    return where(job.kv_lora_rank > 0.0, latent, ordinary)


def score_flop(job: Job, tokens: Number) -> Number:
    """Return the forward FLOP of one layer's attention on one device, masked half included.

    Twice what the mask leaves, in windowed layers too.

    Args:
        tokens: Of a micro-batch on this device.
    """
    windowed = job.windowed_layers / job.num_layers
    near = 2.0 * windowed_keys(job.seq_length, job.window_size)
    keys = (1.0 - windowed) * job.seq_length + windowed * near
    return 2.0 * tokens * keys * scores_width(job) / job.tp


def flash_share(job: Job, stack: TimeFacts) -> Number:
    """Return the share of software whose attention stores no scores.

    Args:
        stack: ``flash`` is 1 or 0 where a kernel is known; else it is the share among software
            for sequences whose scores can be stored, and longer ones find none that does.

    References:
        megatronlm2026, megatron/core/fusions/fused_softmax.py (``is_kernel_available``).
    """
    mixed = where(job.seq_length > STORED_TOKENS, 1.0, stack.flash)
    return where(stack.flash > 0.0, mixed, 0.0)


def flash_forward_s(job: Job, stack: TimeFacts, constants: Constants, tokens: Number) -> Number:
    """Return the forward time of a kernel that keeps scores on the chip and skips the mask.

    Its rate was published for its own best shape, so only half of what a step keeps from
    products, whose rate is the best of many shapes, is lost: heat, not unlike shapes.

    Args:
        stack: ``attention_flop_per_s`` is the kernel's published rate, ``power_scale`` as ever.
        constants: ``efficiency`` is the share of the products' rate that a step keeps.
        tokens: Of a micro-batch on this device.

    References:
        dao2023, Sec. 4.1; shah2024, Sec. 4.1 (published rates).
    """
    kept = 0.5 * (1.0 + constants.efficiency)
    rate = stack.attention_flop_per_s * stack.power_scale * kept
    long = job.seq_length / (job.seq_length + START_TOKENS) / READ_SHARE
    wide = 0.7 + 0.3 * minimum(job.head_dim / FULL_WIDTH, 1.0)
    return 0.5 * score_flop(job, tokens) / (rate * long * wide)


def stored_s(
    job: Job, stack: TimeFacts, constants: Constants, tokens: Number, flop_per_s: Number
) -> Passes:
    """Return the time of attention that writes its scores to memory, both passes.

    For each score, forward: a product writes 2 bytes, softmax reads and writes 3 (below), the
    other product reads 2; dropout reads 2, writes 2 and a mask. Backward: two products read the
    result and write its gradient, softmax 4, two products read; dropout as before. The fused
    softmax reads no score that the mask hides, which is half of them, and writes all. Products
    take the larger of arithmetic and traffic. Heads whose width is no multiple of eight keep
    tensor cores from full use. All scores are made, whatever a window leaves.

    Args:
        stack: ``dropout`` is 1 or 0.
        constants: ``hbm_efficiency``; ``contention`` as in `product_s`.
        tokens: Of a micro-batch on this device.
        flop_per_s: Rate of large 16-bit products.

    Returns:
        ``forward`` and ``backward``.

    References:
        korthikanti2022, Sec. 4.1 (what is stored); megatronlm2026,
        fused_kernels/scaled_upper_triang_masked_softmax.h (what softmax reads); transformers2026,
        models/gemma2/modeling_gemma2.py (a window is a mask over all scores);
        nvidia2023matmul, tensor core requirements.
    """
    scores = tokens * job.seq_length * job.num_attention_heads / job.tp
    one_s = scores / (job.hbm_bytes_per_s * constants.hbm_efficiency)
    thin = 1.0 + FILL_VALUES / job.head_dim
    products = 2.0 * tokens * job.seq_length * scores_width(job) / job.tp
    products_s = products * thin / flop_per_s
    eighths = job.head_dim / 8.0
    slower = where(eighths > floor(eighths), WITHOUT_TENSOR_CORES, 1.0)
    dropout_s = 5.0 * stack.dropout * one_s
    ahead_s = roof_s(constants, products_s, 4.0 * one_s) + 3.0 * one_s
    behind_s = roof_s(constants, 2.0 * products_s, 8.0 * one_s) + 4.0 * one_s
    return {
        "forward": (ahead_s + dropout_s) * slower,
        "backward": (behind_s + dropout_s) * slower,
    }
