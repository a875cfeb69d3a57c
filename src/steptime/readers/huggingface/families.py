"""How each Hugging Face architecture names its sizes, and what its configuration omits.

One row per ``model_type``. The keys are data, so that a new architecture of the
ordinary kind is one more row; what differs in shape is a ``Family`` field.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """What is fixed for one ``model_type``.

    Attributes:
        gated: Whether the feed-forward network has a gate.
        tied: What the architecture does when ``tie_word_embeddings`` is absent.
        layers: Key of the number of layers; the first one present is used.
        hidden: Key of the hidden size.
        heads: Key of the query heads.
        groups: Key of the key and value heads.
        ffn: Key of the feed-forward width.
        ffn_ratio: Width over hidden size where the key is absent; 0 where it may not be.
        positions: Key of a learned position table; empty where there is none.
        extra_positions: Rows that the table has beyond that number.
        experts: Key of the number of routed experts; empty for a dense family.
        top_k: Key of the experts per token.
        expert_ffn: Key of an expert's width.
        shared: Key of the number of shared experts.
        shared_ffn: Key of the width of all shared experts together.
        dense_layers: Key of the leading dense layers.
        window: Which layers are windowed where ``layer_types`` is absent: all, none,
            alternate (the first, third...), or pattern (``sliding_window_pattern``).
        latent: Whether it uses latent attention.
        ffn_halved: Whether the key holds the width of gate and up projection together.
        fixed_head_dim: Head width that the architecture sets where the key is absent.
        defaults: Other sizes that files of this family leave out, by our name.
        fixed_shared: Shared experts of every model of the family.
        step: Key of how often a layer has experts; 1 is each.
        norm: rmsnorm or layernorm.
        linear_bias: Whether every matrix has a bias.
        qkv_bias: Whether queries, keys and values have a bias.
        qk_norm: Whether queries and keys are normalized.
        told: What of the family is not modelled.
        activation: The function of the feed-forward network, where files do not tell it.
        glu_offset: What is added to the part that the gate multiplies.
        sinks: Whether each head has a learned sink.
    """

    gated: bool = True
    tied: bool = False
    layers: tuple[str, ...] = ("num_hidden_layers",)
    hidden: tuple[str, ...] = ("hidden_size",)
    heads: tuple[str, ...] = ("num_attention_heads",)
    groups: tuple[str, ...] = ("num_key_value_heads",)
    ffn: tuple[str, ...] = ("intermediate_size",)
    ffn_ratio: int = 0
    positions: tuple[str, ...] = ()
    extra_positions: int = 0
    experts: tuple[str, ...] = ()
    top_k: tuple[str, ...] = ("num_experts_per_tok",)
    expert_ffn: tuple[str, ...] = ("moe_intermediate_size",)
    shared: tuple[str, ...] = ()
    shared_ffn: tuple[str, ...] = ()
    dense_layers: tuple[str, ...] = ()
    window: str = "none"
    latent: bool = False
    ffn_halved: bool = False
    fixed_head_dim: int = 0
    defaults: tuple[tuple[str, int], ...] = ()
    fixed_shared: int = 0
    step: str = ""
    norm: str = "rmsnorm"
    linear_bias: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False
    told: str = ""
    activation: str = ""
    glu_offset: float = 0.0
    sinks: bool = False


_GPT2 = Family(
    gated=False,
    norm="layernorm",
    linear_bias=True,
    tied=True,
    layers=("n_layer", "num_hidden_layers"),
    hidden=("n_embd", "hidden_size"),
    heads=("n_head", "num_attention_heads"),
    groups=(),
    ffn=("n_inner",),
    ffn_ratio=4,
    positions=("n_positions",),
)
_DEEPSEEK = Family(
    experts=("n_routed_experts",),
    shared=("n_shared_experts",),
    dense_layers=("first_k_dense_replace",),
    latent=True,
)
_SPARSE_DEEPSEEK = replace(
    _DEEPSEEK,
    told="attention is taken over all keys; the indexer that picks some is not counted",
)
_FALCON = Family(
    gated=False,
    norm="layernorm",
    tied=True,
    layers=("num_hidden_layers", "n_layer"),
    heads=("num_attention_heads", "n_head"),
    groups=("num_kv_heads", "n_head_kv"),
    ffn=("ffn_hidden_size",),
    ffn_ratio=4,
)
_LOCAL_EXPERTS = Family(experts=("num_local_experts",), expert_ffn=("intermediate_size",))

FAMILIES: dict[str, Family] = {
    "llama": Family(),
    "mistral": Family(window="all"),
    "ministral": Family(window="all"),
    "qwen": Family(groups=(), ffn_halved=True, qkv_bias=True),
    "qwen2": Family(window="upper", qkv_bias=True),
    "qwen3": Family(window="upper", qk_norm=True),
    "gemma": Family(tied=True),
    "gemma2": Family(tied=True, window="alternate", fixed_head_dim=256),
    "gemma3_text": Family(
        tied=True,
        qk_norm=True,
        window="pattern",
        fixed_head_dim=256,
        defaults=(("num_attention_heads", 8), ("num_query_groups", 4), ("vocab_size", 262208)),
    ),
    "phi": Family(gated=False, norm="layernorm", linear_bias=True),
    "phi3": Family(window="all"),
    "olmo": Family(),
    "olmo2": Family(qk_norm=True),
    "olmo3": Family(window="pattern4", qk_norm=True),
    "granite": Family(),
    "stablelm": Family(),
    "cohere": Family(tied=True, norm="layernorm"),
    "cohere2": Family(tied=True, norm="layernorm", window="pattern4"),
    "glm": Family(),
    "glm4": Family(),
    "smollm3": Family(tied=True),
    "seed_oss": Family(),
    "internlm2": Family(),
    "nemotron": Family(gated=False, norm="layernorm"),
    "starcoder2": Family(gated=False, tied=True, window="all", norm="layernorm", linear_bias=True),
    "gpt2": _GPT2,
    "gpt_bigcode": Family(
        gated=False,
        norm="layernorm",
        linear_bias=True,
        tied=True,
        layers=("n_layer",),
        hidden=("n_embd",),
        heads=("n_head",),
        groups=(),
        ffn=("n_inner",),
        ffn_ratio=4,
        positions=("n_positions",),
    ),
    "gptj": Family(
        gated=False,
        norm="layernorm",
        linear_bias=True,
        layers=("n_layer",),
        hidden=("n_embd",),
        heads=("n_head",),
        groups=(),
        ffn=("n_inner",),
        ffn_ratio=4,
    ),
    "gpt_neox": Family(gated=False, groups=(), norm="layernorm", linear_bias=True),
    "opt": Family(
        gated=False,
        norm="layernorm",
        linear_bias=True,
        tied=True,
        groups=(),
        ffn=("ffn_dim",),
        positions=("max_position_embeddings",),
        extra_positions=2,
    ),
    "bloom": replace(_GPT2, hidden=("hidden_size", "n_embed"), positions=()),
    "falcon": _FALCON,
    "RefinedWeb": _FALCON,
    "RefinedWebModel": _FALCON,
    "mpt": Family(
        gated=False,
        norm="layernorm",
        tied=True,
        layers=("n_layers",),
        hidden=("d_model",),
        heads=("n_heads",),
        groups=(),
        ffn=(),
        ffn_ratio=4,
    ),
    "mixtral": Family(
        experts=("num_local_experts",), expert_ffn=("intermediate_size",), window="all"
    ),
    "phimoe": _LOCAL_EXPERTS,
    "granitemoe": _LOCAL_EXPERTS,
    "gpt_oss": Family(
        activation="quick-gelu",
        glu_offset=1.0,
        sinks=True,
        experts=("num_local_experts", "num_experts"),
        top_k=("num_experts_per_tok", "experts_per_token"),
        expert_ffn=("intermediate_size",),
        window="alternate",
        fixed_head_dim=64,
        linear_bias=True,
    ),
    "olmoe": Family(experts=("num_experts",), expert_ffn=("intermediate_size",)),
    "qwen2_moe": Family(
        experts=("num_experts",), shared_ffn=("shared_expert_intermediate_size",), window="upper"
    ),
    "qwen3_moe": Family(experts=("num_experts",), window="upper", qk_norm=True),
    "glm4_moe": Family(
        experts=("n_routed_experts",),
        shared=("n_shared_experts",),
        dense_layers=("first_k_dense_replace",),
    ),
    "llama4_text": Family(
        ffn=("intermediate_size_mlp",),
        experts=("num_local_experts",),
        expert_ffn=("intermediate_size",),
        fixed_shared=1,
        step="interleave_moe_layer_step",
        window="chunks",
        told="layers that attend within chunks are taken as windowed",
    ),
    "minimax_m2": Family(
        experts=("num_local_experts",), expert_ffn=("intermediate_size",), qk_norm=True
    ),
    "mimo": Family(qkv_bias=True),
    "gpt_neo": Family(
        gated=False,
        tied=True,
        layers=("num_layers",),
        heads=("num_heads",),
        groups=(),
        ffn=("intermediate_size",),
        ffn_ratio=4,
        positions=("max_position_embeddings",),
        window="neo",
        norm="layernorm",
        linear_bias=True,
    ),
    "granitemoeshared": Family(
        experts=("num_local_experts",),
        expert_ffn=("intermediate_size",),
        shared_ffn=("shared_intermediate_size",),
    ),
    "ernie4_5": Family(tied=True),
    "exaone4": Family(window="pattern4", qk_norm=True),
    "hunyuan_v1_dense": Family(qk_norm=True),
    "deepseek_v32": _SPARSE_DEEPSEEK,
    "glm_moe_dsa": _SPARSE_DEEPSEEK,
    "deepseek_v2": _DEEPSEEK,
    "deepseek_v3": _DEEPSEEK,
    "kimi_k2": _DEEPSEEK,
}

# Text parts and relatives that are built like another family.
FAMILIES |= {
    alias: FAMILIES[known]
    for alias, known in {
        "qwen3_vl_text": "qwen3",
        "qwen3_vl_moe_text": "qwen3_moe",
        "qwen3_omni_moe_text": "qwen3_moe",
        "qwen2_vl": "qwen2",
        "qwen2_vl_text": "qwen2",
        "qwen2_5_vl": "qwen2",
        "qwen2_5_vl_text": "qwen2",
        "qwen2_5_omni_text": "qwen2",
        "ministral3": "mistral",
        "phi4": "phi3",
        "deepseek_vl_v2": "deepseek_v2",
        "glm4v_text": "glm4",
        "glm4v_moe_text": "glm4_moe",
        **dict.fromkeys(("yi", "internlm", "internlm3"), "llama"),
    }.items()
}
