"""Parameters that one rank holds: its layers' slices, its experts, embedding and head."""

from steptime.formulas.experts import expert_ranks
from steptime.formulas.number import Number, maximum, where
from steptime.formulas.records import Job


def attention_slice(job: Job) -> Number:
    """Return the matrix parameters of one layer's attention on one tensor-parallel rank.

    With fewer K/V heads than ranks each rank keeps one whole head, so K and V are repeated.
    Latent attention splits by heads what leaves the low rank; what enters it is repeated.

    References:
        shoeybi2019, Sec. 3; deepseek2024, Sec. 2.1.
    """
    h = job.hidden_size
    t = job.tp
    d = job.head_dim
    key_value_heads = maximum(job.num_query_groups / t, 1.0)
    ordinary = 2.0 * h * d * (job.num_attention_heads / t) + 2.0 * h * d * key_value_heads
    heads = job.num_attention_heads / t
    query_width = job.qk_nope_head_dim + job.qk_rope_head_dim
    compressed = h * job.q_lora_rank + job.q_lora_rank * query_width * heads
    query = where(job.q_lora_rank > 0.0, compressed, h * query_width * heads)
    entering = h * (job.kv_lora_rank + job.qk_rope_head_dim)
    leaving = job.kv_lora_rank * (job.qk_nope_head_dim + job.v_head_dim) + h * job.v_head_dim
    latent = query + entering + leaving * heads
    return where(job.kv_lora_rank > 0.0, latent, ordinary)


def vector_slice(job: Job) -> Number:
    """Return one layer's norms and biases on one tensor-parallel rank.

    Two RMSNorms in gated models; two LayerNorms and a bias on every product in GPT.

    References:
        narayanan2021, Eq. 2 (its 13 h a layer).
    """
    h = job.hidden_size
    split = 3.0 * h + job.ffn_hidden_size
    return where(job.gated > 0.0, 2.0 * h, 6.0 * h + split / job.tp)


def dense_layer_slice(job: Job) -> Number:
    """Return the parameters of a layer without experts on one rank."""
    ffn = (2.0 + job.gated) * job.hidden_size * job.ffn_hidden_size
    return attention_slice(job) + ffn / job.tp + vector_slice(job)


def mixture_layer_slice(job: Job) -> Number:
    """Return what a rank holds of a mixture layer beside its routed experts.

    Attention, the shared experts and the router, which every rank repeats.

    References:
        lepikhin2020, Sec. 2.2; deepseek2024, Sec. 2.1.2.
    """
    width = job.num_shared_experts * job.expert_ffn_hidden_size
    shared = (2.0 + job.gated) * job.hidden_size * width
    router = job.hidden_size * job.num_experts
    return attention_slice(job) + shared / job.tp + router + vector_slice(job)


def expert_layer_slice(job: Job) -> Number:
    """Return the routed-expert parameters of one mixture layer on one rank.

    References:
        lepikhin2020, Sec. 3.2: experts divide over ranks, and each expert too.
    """
    one = (2.0 + job.gated) * job.hidden_size * job.expert_ffn_hidden_size
    return one * (job.num_experts / expert_ranks(job))


def embedding_slice(job: Job) -> Number:
    """Return one vocabulary matrix on one rank; learned positions are repeated.

    References:
        shoeybi2019, Sec. 3 (the embedding is split along the vocabulary).
    """
    return job.vocab_size * job.hidden_size / job.tp


def embedding_copies(job: Job, first: Number, last: Number) -> Number:
    """Return the vocabulary matrices of a rank: one at each end, one in all if tied and p = 1.

    Tied matrices on two stages are two copies that exchange gradients.

    Args:
        first: 1 where the rank embeds, else 0.
        last: 1 where the rank has the output head, else 0.

    References:
        shoeybi2019, Sec. 3; narayanan2021, Sec. 3.
    """
    return first + last - first * last * job.tied
