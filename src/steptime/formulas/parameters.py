"""Matrix parameters of a model: the ones that matrix products multiply by."""

from steptime.formulas.number import Number, maximum, where
from steptime.formulas.records import Job


def attention_parameters(job: Job) -> Number:
    """Return the matrix parameters of one layer's attention.

    Ordinary attention has ``2 h q + 2 h k``: q and k are the widths of all query and of all
    key heads. Latent attention compresses queries, and keys with values, to a low rank first.

    References:
        narayanan2021, Appendix; deepseek2024, Sec. 2.1.1 for latent attention.
    """
    h = job.hidden_size
    a = job.num_attention_heads
    ordinary = 2.0 * h * a * job.head_dim + 2.0 * h * job.num_query_groups * job.head_dim
    query_width = a * (job.qk_nope_head_dim + job.qk_rope_head_dim)
    compressed_query = h * job.q_lora_rank + job.q_lora_rank * query_width
    query = where(job.q_lora_rank > 0.0, compressed_query, h * query_width)
    key_value = h * (job.kv_lora_rank + job.qk_rope_head_dim) + job.kv_lora_rank * a * (
        job.qk_nope_head_dim + job.v_head_dim
    )
    latent = query + key_value + a * job.v_head_dim * h
    return where(job.kv_lora_rank > 0.0, latent, ordinary)


def feed_forward_parameters(hidden_size: Number, width: Number, gated: Number) -> Number:
    """Return the matrix parameters of a feed-forward network: two matrices, three with a gate.

    Args:
        hidden_size: Width of the residual stream, h.
        width: Width inside, f.
        gated: 1 with a gate (SwiGLU), else 0.

    References:
        shazeer2020, Sec. 2.
    """
    return (2.0 + gated) * hidden_size * width


def dense_layer_parameters(job: Job) -> Number:
    """Return the matrix parameters of a layer without experts: ``12 h**2`` in GPT.

    References:
        narayanan2021, Eq. 2 without its smaller terms.
    """
    return attention_parameters(job) + feed_forward_parameters(
        job.hidden_size, job.ffn_hidden_size, job.gated
    )


def expert_parameters(job: Job) -> Number:
    """Return the matrix parameters of one expert."""
    return feed_forward_parameters(job.hidden_size, job.expert_ffn_hidden_size, job.gated)


def num_expert_layers(job: Job) -> Number:
    """Return the layers that hold experts: 0 in a dense model."""
    return where(job.num_experts > 0.0, maximum(job.num_layers - job.num_dense_layers, 0.0), 0.0)


def routed_layer_parameters(job: Job) -> Number:
    """Return the matrix parameters of all routed experts of one mixture layer."""
    return job.num_experts * expert_parameters(job)


def unrouted_layer_parameters(job: Job) -> Number:
    """Return what every rank of a mixture layer holds: attention, router and shared experts."""
    return (
        attention_parameters(job)
        + job.hidden_size * job.num_experts
        + job.num_shared_experts * expert_parameters(job)
    )


def active_layer_parameters(job: Job) -> Number:
    """Return the matrix parameters that one token meets in a mixture layer.

    References:
        fedus2021, Sec. 2.1.
    """
    return unrouted_layer_parameters(job) + job.top_k * expert_parameters(job)


def embedding_parameters(job: Job) -> Number:
    """Return the parameters of embedding and output matrix: V h if tied, else 2 V h."""
    return (2.0 - job.tied) * job.vocab_size * job.hidden_size


def unrouted_parameters(job: Job) -> Number:
    """Return all matrix parameters but those of routed experts."""
    mixture = num_expert_layers(job)
    return (
        (job.num_layers - mixture) * dense_layer_parameters(job)
        + mixture * unrouted_layer_parameters(job)
        + embedding_parameters(job)
    )


def routed_parameters(job: Job) -> Number:
    """Return the matrix parameters of all routed experts."""
    return num_expert_layers(job) * routed_layer_parameters(job)


def num_parameters(job: Job) -> Number:
    """Return the matrix parameters of the whole model, P: no biases, no norms.

    References:
        narayanan2021, Eq. 2 without its smaller terms.
    """
    return unrouted_parameters(job) + routed_parameters(job)
