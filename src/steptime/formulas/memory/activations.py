"""Bytes that one token leaves behind in one layer, until its backward pass.

Values are of 2 bytes, masks of 1. What tensor parallelism splits is divided by t, what only
sequence parallelism splits by t where that is on. For GPT these add up to Korthikanti's
``h (10 + 24/t + 5 a s / (h t))``, and to ``h (34 + 5 a s / h) / t`` with sequence parallelism.
"""

from steptime.formulas.experts import of_copies
from steptime.formulas.number import Number, maximum, where
from steptime.formulas.records import Job, MemoryFacts, TokenBytes


def sequence_split(job: Job) -> Number:
    """Return by how much norms, dropout and residuals are split: t with sequence parallelism.

    References:
        korthikanti2022, Sec. 4.2.2.
    """
    return where(job.sequence_parallel > 0.0, job.tp, 1.0)


def input_bytes(job: Job, facts: MemoryFacts) -> Number:
    """Return the bytes of one stored value that only a matrix product reads again.

    Training in 8 bits keeps these inputs in 8 bits; what other operations need stays in 16.

    References:
        micikevicius2022, Sec. 4.
    """
    return where(job.fp8 > 0.0, facts.fp8_input_bytes, 2.0)


def activated_bytes(job: Job, facts: MemoryFacts) -> Number:
    """Return the bytes of one stored value that the activation function reads again.

    References:
        deepseek2024, Sec. 3.3.3 (SwiGLU's inputs kept in 8 bits).
    """
    return where(job.fp8 > 0.0, facts.fp8_activation_bytes, 2.0)


def by_operation(job: Job, facts: MemoryFacts) -> Number:
    """Return 1 where recomputation is chosen by operation: every second product is kept.

    References:
        torchtitan2025, parallelisms/parallelize_llama.py (what is kept).
    """
    return job.recompute_selective * facts.recompute_per_op


def attention_token_bytes(job: Job, facts: MemoryFacts, split: Number) -> Number:
    """Return the attention block's bytes per token, without the score matrices.

    Its normed input; Q, K and V; the output that the last product reads; a dropout mask.
    Latent attention adds the compressed forms, before and after their norms; recomputing its
    up-projection drops Q, K and V, recomputing norms the normed input; recomputing by operation
    K and the normed input.

    Args:
        split: From `sequence_split`.

    References:
        korthikanti2022, Sec. 4.1 (attention block); deepseek2024, Sec. 2.1;
        megatronlm2026, --recompute-modules mla_up_proj and layernorm; torchtitan2025,
        parallelisms/parallelize_llama.py.
    """
    h = job.hidden_size
    t = job.tp
    heads = job.num_attention_heads / t
    key_value = maximum(job.num_query_groups / t, 1.0)
    ordinary = 4.0 * job.head_dim * (heads + key_value)
    # Of queries, keys and values the second is not kept; 8-bit products never are.
    kept = where(job.fp8 > 0.0, 2.0 * heads, 4.0 * heads + 2.0 * key_value)
    by_op = by_operation(job, facts)
    ordinary = by_op * job.head_dim * kept + (1.0 - by_op) * ordinary
    query_width = job.qk_nope_head_dim + job.qk_rope_head_dim
    compressed = 4.0 * (job.q_lora_rank + job.kv_lora_rank) + 2.0 * job.qk_rope_head_dim
    projected = 2.0 * heads * (2.0 * query_width + job.v_head_dim)
    latent = compressed + 2.0 * heads * job.v_head_dim
    latent = latent + (1.0 - facts.recompute_up_projection) * projected
    core = where(job.kv_lora_rank > 0.0, latent, ordinary)
    out = heads * where(job.kv_lora_rank > 0.0, job.v_head_dim, job.head_dim)
    # The kernel's own backward pass reads its output in 16 bits: an 8-bit copy comes on top.
    again = where(job.fp8 > 0.0, facts.fp8_output_bytes - 2.0, 0.0) * out * (1.0 - by_op)
    return core + again + (normed_bytes(job, facts) + facts.dropout) * h / split


def normed_bytes(job: Job, facts: MemoryFacts) -> Number:
    """Return the bytes of a value that a norm gives and a product reads; 0 if recomputed.

    References:
        megatronlm2026, --recompute-modules layernorm (the output is discarded).
    """
    kept = (1.0 - facts.recompute_norms) * (1.0 - by_operation(job, facts))
    return input_bytes(job, facts) * kept


def score_token_bytes(job: Job, facts: MemoryFacts) -> Number:
    """Return the bytes per token of the attention core.

    A flash kernel keeps one 32-bit number a head. Without one the softmax's output stays
    (2 bytes a key), with dropout its mask and its output too (5 in all).

    References:
        korthikanti2022, Sec. 4.1 (5 a s^2 b); dao2022, Sec. 3.1.
    """
    heads = job.num_attention_heads / job.tp
    unfused = heads * job.seq_length * (2.0 + 3.0 * facts.dropout)
    return where(facts.flash > 0.0, 4.0 * heads, unfused)


def norm_token_bytes(job: Job, facts: MemoryFacts, split: Number) -> Number:
    """Return the bytes per token of the inputs of a layer's two norms.

    By operation the first is the layer's input; the second is a sum that is kept only where
    tensor-parallel ranks exchange it.

    Args:
        split: From `sequence_split`.

    References:
        korthikanti2022, Sec. 4.1 (layer norm); torchtitan2025,
        parallelisms/parallelize_llama.py.
    """
    second = where(job.sequence_parallel * job.tp > 1.0, 1.0, 1.0 - by_operation(job, facts))
    return (1.0 + second) * facts.norm_input_bytes * job.hidden_size / split


def feed_forward_token_bytes(job: Job, facts: MemoryFacts, split: Number) -> Number:
    """Return the bytes per token of a dense feed-forward network.

    GELU keeps its input and output; a gate keeps both halves and their product, an
    unfused stack the activated half too. Plus the normed input and a dropout mask. Recomputed
    as a module it keeps the last two alone; by operation the first product, if of 16 bits.

    Args:
        split: From `sequence_split`.

    References:
        korthikanti2022, Sec. 4.1 (MLP); shazeer2020, Sec. 2; megatronlm2026,
        --recompute-modules mlp; torchtitan2025, parallelisms/parallelize_llama.py.
    """
    read = input_bytes(job, facts)
    values = where(job.gated > 0.0, facts.gated_values, 2.0)
    gate = activated_bytes(job, facts) * (values - 1.0)
    product = read * (1.0 - facts.recompute_activation)
    by_op = by_operation(job, facts)
    first = where(job.fp8 > 0.0, 0.0, 2.0)
    values = by_op * first + (1.0 - by_op) * (gate + product)
    kept = values * job.ffn_hidden_size / job.tp * (1.0 - facts.recompute_mlp)
    return kept + (normed_bytes(job, facts) + facts.dropout) * job.hidden_size / split


def expert_token_bytes(job: Job, facts: MemoryFacts, split: Number) -> Number:
    """Return the bytes per token of a mixture layer's feed-forward part.

    Each of top_k copies of the token keeps its dispatched input and what the expert keeps
    inside; the router its scores in 32 bits; shared experts are one dense network. Recomputing
    the activation drops an expert's product, the whole module all but the normed input; by
    operation half stays.

    Args:
        split: From `sequence_split`.

    References:
        lepikhin2020, Sec. 2.2; deepseek2024, Sec. 2.1.2; megatronlm2026, --recompute-modules
        moe_act, shared_experts and moe.
    """
    h = job.hidden_size
    t = job.tp
    read = input_bytes(job, facts)
    values = where(job.gated > 0.0, facts.gated_values, 2.0)
    width = job.expert_ffn_hidden_size / t
    product = read * (1.0 - facts.recompute_expert_activation)
    copies = job.top_k * facts.expert_imbalance
    dispatched = of_copies(copies * read * h, job)
    gate = activated_bytes(job, facts) * (values - 1.0)
    experts = copies * (gate + product) * width
    shared = job.num_shared_experts * (gate + read) * width
    shared = shared * (1.0 - facts.recompute_shared_experts)
    router = 8.0 * job.num_experts / split
    stays = (1.0 - facts.recompute_experts) * (1.0 - 0.5 * by_operation(job, facts))
    inside = (dispatched + experts + shared + router) * stays
    return inside + normed_bytes(job, facts) * h / split


def gathered_token_bytes(job: Job, facts: MemoryFacts, split: Number) -> Number:
    """Return what stays of a layer's two gathered inputs beyond their own slices.

    Megatron gathers them again in the backward pass; other stacks keep them.

    Args:
        split: From `sequence_split`.

    References:
        korthikanti2022, Sec. 4.2.2 (only the slice is stored).
    """
    return facts.gathered_inputs * 4.0 * job.hidden_size * (1.0 - 1.0 / split)


def token_bytes(job: Job, facts: MemoryFacts) -> TokenBytes:
    """Return all of the above for one token, by part."""
    split = sequence_split(job)
    return {
        "split": split,
        "attention": attention_token_bytes(job, facts, split),
        "scores": score_token_bytes(job, facts),
        "norms": norm_token_bytes(job, facts, split) + gathered_token_bytes(job, facts, split),
        "feed_forward": feed_forward_token_bytes(job, facts, split),
        "experts": expert_token_bytes(job, facts, split),
        "boundary": facts.norm_input_bytes * job.hidden_size / split,
    }
