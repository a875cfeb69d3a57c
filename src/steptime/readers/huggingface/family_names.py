"""Names that lead to a family, and those that are refused, each with why."""

from __future__ import annotations

INNER = ("text_config", "language_config", "llm_config", "thinker_config.text_config")
"""Where a wrapper keeps its language model."""

# The usual language model of a wrapper whose text part does not say its kind.
WRAPPERS = {
    "gemma3": "gemma3_text",
    "mistral3": "mistral",
    "llava": "llama",
    "llava_next": "llama",
    "pixtral": "mistral",
    "llama4": "llama4_text",
    "qwen3_vl": "qwen3_vl_text",
    "qwen3_vl_moe": "qwen3_vl_moe_text",
    "kimi_k25": "kimi_k2",
    "kimi_vl": "deepseek_v3",
    "idefics3": "llama",
}

TOWERS = (
    "vision_config",
    "audio_config",
    "vision_tower",
    "mm_vision_tower",
    "visual",
    "img_processor",
    "audio_processor",
)
"""Keys by which a language model with no part of its own has an encoder of images or sound."""

_SEVERAL = "layers of several kinds (attention beside others) are not modelled"
_STATES = "state-space layers are not modelled"
_TWO = "an encoder and a decoder are not modelled"
_ENCODER = "an encoder is not modelled"

REFUSED_FAMILIES = {
    **dict.fromkeys(
        (
            "qwen3_next qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text nemotron_h jamba bamba "
            "zamba zamba2 falcon_h1 granitemoehybrid kimi_linear minimax minimax_m1 lfm2 lfm2_moe "
            "recurrent_gemma olmo_hybrid"
        ).split(),
        _SEVERAL,
    ),
    **dict.fromkeys(("mamba", "mamba2", "falcon_mamba", "rwkv", "xlstm"), _STATES),
    **dict.fromkeys(("t5", "mt5", "bart", "mbart", "pegasus", "whisper", "t5gemma"), _TWO),
    **dict.fromkeys(("bert", "roberta", "deberta", "modernbert", "vit", "clip"), _ENCODER),
    "gemma3n_text": "inputs of their own for each layer are not modelled",
    "gemma3n": "inputs of their own for each layer are not modelled",
    "gemma4_text": "attention of two widths is not modelled",
    "gemma4": "attention of two widths is not modelled",
    "mllama_text_model": "cross-attention layers are not modelled",
}
"""Architectures that no shape here has, and why."""

REFUSED_KEYS = {
    "hybrid_override_pattern": _SEVERAL,
    "hybrid_layer_pattern": _SEVERAL,
    "linear_attn_config": "linear attention is not modelled",
    "attn_type_list": _SEVERAL,
    "linear_num_value_heads": "linear attention is not modelled",
    "mamba_num_heads": _STATES,
    "ssm_cfg": _STATES,
    "global_head_dim": "attention of two widths is not modelled",
    "is_encoder_decoder": "it is no decoder",
    "cross_attention_layers": "cross-attention layers are not modelled",
    "block_configs": "layers of different sizes are not modelled",
}
"""Keys that say that a configuration is of no shape here, and why."""

# ``architectures`` of files that lack ``model_type``.
CLASSES = {
    "LlamaForCausalLM": "llama",
    "MistralForCausalLM": "mistral",
    "MixtralForCausalLM": "mixtral",
    "Qwen2ForCausalLM": "qwen2",
    "Qwen3ForCausalLM": "qwen3",
    "Qwen3MoeForCausalLM": "qwen3_moe",
    "GPT2LMHeadModel": "gpt2",
    "GPTNeoXForCausalLM": "gpt_neox",
    "FalconForCausalLM": "falcon",
    "DeepseekV2ForCausalLM": "deepseek_v2",
    "DeepseekV3ForCausalLM": "deepseek_v3",
    "GemmaForCausalLM": "gemma",
    "Gemma2ForCausalLM": "gemma2",
    "GptOssForCausalLM": "gpt_oss",
}
