"""A model that a file changes: the sizes of the one that it names, where it gives none itself."""

from __future__ import annotations

from steptime.inputs.model import ModelShape
from steptime.readers.keys.entries import Entries

TOKENIZER = ("tokenizer_model", "tokenizer_type", "padded_vocab_size", "vocab_size")


def fill_from(entries: Entries, base: ModelShape) -> None:
    """Put in what a file leaves out of a model that it changes.

    Args:
        entries: The file's keys.
        base: The model that the file names.
    """
    why = f"of {base.name}, which the file changes"
    names_tokens = any(
        one.value is not None for name in TOKENIZER for one in entries.by_key.get(name, [])
    )
    follows = _of_heads(entries, base)
    for name, value in _sizes(base).items():
        if value is None or name in follows or (name == "padded_vocab_size" and names_tokens):
            continue
        if all(one.value is None for one in entries.by_key.get(name, [])):
            entries.put(name, value, why)


def _of_heads(entries: Entries, base: ModelShape) -> list[str]:
    """Return what follows from the heads that a file changes, and so is not the model's own."""
    if all(one.value is None for one in entries.by_key.get("num_attention_heads", [])):
        return []
    heads = base.num_attention_heads
    found = ["num_query_groups"] if base.num_query_groups == heads else []
    return [*found, *(["kv_channels"] if base.head_dim * heads == base.hidden_size else [])]


def _sizes(base: ModelShape) -> dict[str, object]:
    """Return a model under Megatron-LM's names."""
    found: dict[str, object] = {
        "num_layers": base.num_layers,
        "hidden_size": base.hidden_size,
        "ffn_hidden_size": base.ffn_hidden_size,
        "num_attention_heads": base.num_attention_heads,
        "num_query_groups": base.num_query_groups,
        "kv_channels": base.head_dim,
        "padded_vocab_size": base.vocab_size,
        "swiglu": base.gated,
        "untie_embeddings_and_output_weights": not base.tied,
        "position_embedding_type": "learned" if base.learned_positions else "rope",
        "max_position_embeddings": base.learned_positions or None,
        "normalization": base.norm or "rmsnorm",
        "add_bias_linear": base.linear_bias,
        "add_qkv_bias": base.qkv_bias,
        "qk_layernorm": base.qk_norm,
    }
    if base.activation:
        found["activation_func"] = base.activation
    if base.glu_offset:
        found["glu_linear_offset"] = base.glu_offset
    if base.activation_clamp:
        found["activation_func_clamp_value"] = base.activation_clamp
    if base.sinks:
        found["softmax_type"] = "learnable"
    if base.window_size:
        whole = base.num_layers - base.windowed_layers
        pattern = [0] * whole + [1] * base.windowed_layers
        # Megatron-LM counts the keys before a query's own.
        found |= {"window_size": [base.window_size - 1, 0], "window_attn_skip_freq": pattern}
    if base.experts is not None:
        found |= {
            "num_experts": base.experts.num_experts,
            "moe_router_topk": base.experts.top_k,
            "moe_ffn_hidden_size": base.experts.expert_ffn_hidden_size,
            "n_shared_experts": base.experts.num_shared_experts,
            "first_k_dense_replace": base.experts.num_dense_layers,
        }
    return found | _latent(base)


def _latent(base: ModelShape) -> dict[str, object]:
    found: dict[str, object] = {}
    if base.latent_attention is not None:
        latent = base.latent_attention
        found |= {
            "multi_latent_attention": True,
            "q_lora_rank": latent.q_lora_rank,
            "kv_lora_rank": latent.kv_lora_rank,
            "qk_head_dim": latent.qk_nope_head_dim,
            "qk_pos_emb_head_dim": latent.qk_rope_head_dim,
            "v_head_dim": latent.v_head_dim,
        }
    return found
