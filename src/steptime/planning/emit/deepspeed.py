"""A script that trains with DeepSpeed's ZeRO through accelerate and Hugging Face's trainer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Batch, Layout, num_microbatches
from steptime.inputs.model import ModelShape
from steptime.planning.emit.activations import HUGGING_FACE, check_usual, function_of, word_of
from steptime.planning.emit.names import headline, servers

_WORDS = {"attention_kernel": "attn_implementation", "compiled": "torch_compile"}
_GATE = {"gemma2": "hidden_activation"}
"""How a family names its activation, where it is not ``hidden_act``."""
_SLIDING = "sliding_attention"
_PRECISIONS = ("bf16", "fp16")


def deepspeed_script(
    model: ModelShape, layout: Layout, batch: Batch, words: Mapping[str, Any], node_size: int
) -> str:
    """Return a script that writes the model's and DeepSpeed's files, and starts the training.

    Args:
        model: The shape.
        layout: The layout.
        batch: The batch.
        words: What the file says of its software, by our name of the key.
        node_size: GPUs of a server.

    Raises:
        ConfigError: If the trainer cannot run the layout, or there is no such architecture.
    """
    _check(layout)
    nodes, _ = servers(layout, node_size)
    states: dict[str, Any] = {
        "train_batch_size": batch.global_batch_size,
        "train_micro_batch_size_per_gpu": batch.micro_batch_size,
        "gradient_accumulation_steps": num_microbatches(layout, batch),
        "zero_optimization": {"stage": layout.zero_stage, "overlap_comm": True},
        layout.precision: {"enabled": True},
    }
    lines = [
        "#!/bin/bash",
        f"# {headline(model, layout)}",
        "# YOUR_TOKENIZER and YOUR_DATASET are placeholders: set your own",
        "mkdir -p model",
        "cat > model/config.json <<'EOF'",
        json.dumps(_config(model, batch), indent=2),
        "EOF",
        "cat > ds_config.json <<'EOF'",
        json.dumps(states, indent=2),
        "EOF",
        f"accelerate launch --num_machines {nodes} --num_processes {layout.num_devices} \\",
        "    --use_deepspeed --deepspeed_config_file ds_config.json run_clm.py \\",
        "    --deepspeed ds_config.json \\",
        "    --config_name model --tokenizer_name YOUR_TOKENIZER \\",
        "    --do_train --dataset_name YOUR_DATASET --output_dir output \\",
        f"    --per_device_train_batch_size {batch.micro_batch_size} \\",
        f"    --gradient_accumulation_steps {num_microbatches(layout, batch)} \\",
        f"    --block_size {batch.seq_length} \\",
        f"    --{layout.precision} true \\",
        *(f"    --{_WORDS[key]} {str(word).lower()} \\" for key, word in words.items()),
        f"    --gradient_checkpointing {str(layout.recompute == 'full').lower()}",
    ]
    return "\n".join(lines) + "\n"


def _check(layout: Layout) -> None:
    """Refuse what the trainer has no option for."""
    if layout.precision not in _PRECISIONS:
        raise ConfigError(f"the trainer has no precision={layout.precision!r}; use bf16 or fp16")
    if layout.zero_stage == 0 and layout.precision == "bf16" and layout.dp > 1:
        raise ConfigError(
            "DeepSpeed's bf16 optimizer shares its states at stage 0 too; choose --zero 1"
        )


def _config(model: ModelShape, batch: Batch) -> dict[str, Any]:
    """Return the keys of a ``config.json``, of the family that is built like the model."""
    family = _family(model)
    keys: dict[str, Any] = {
        "model_type": family,
        "num_hidden_layers": model.num_layers,
        "hidden_size": model.hidden_size,
        "intermediate_size": model.ffn_hidden_size,
        "num_attention_heads": model.num_attention_heads,
        "num_key_value_heads": model.num_query_groups,
        "head_dim": model.head_dim,
        "vocab_size": model.vocab_size,
        "tie_word_embeddings": model.tied,
        _GATE.get(family, "hidden_act"): word_of(
            "a trainer's model", HUGGING_FACE, model, "emit megatron-bridge"
        ),
        "max_position_embeddings": batch.seq_length,
        "torch_dtype": "bfloat16",
    }
    if model.windowed_layers:
        keys |= _window(model)
    if model.experts:
        keys |= {
            "num_experts": model.experts.num_experts,
            "num_experts_per_tok": model.experts.top_k,
            "moe_intermediate_size": model.experts.expert_ffn_hidden_size,
        }
    return keys


def _family(model: ModelShape) -> str:
    """Return the architecture that is built like a model; refuse what none here is like."""
    experts = model.experts
    check_usual("a trainer's model", model, "emit megatron")
    if model.latent_attention or not model.gated or model.learned_positions or model.linear_bias:
        raise ConfigError(
            f"no architecture is known that trains {model.name} under a trainer; emit megatron"
        )
    if experts is not None:
        if experts.num_shared_experts or experts.num_dense_layers or not model.qk_norm:
            raise ConfigError(
                "of mixtures, only such without shared experts and dense layers, and with "
                f"normalized queries, are emitted; {model.name} is another: emit megatron"
            )
        if model.windowed_layers not in (0, model.num_layers):
            raise ConfigError(
                "a mixture has a window in every layer or in none under a trainer; emit megatron"
            )
        return "qwen3_moe"
    if model.qk_norm:
        return "qwen3"
    if model.qkv_bias:
        return "qwen2"
    return _windowed_family(model) if model.windowed_layers else "llama"


def _windowed_family(model: ModelShape) -> str:
    """Return the architecture that has a model's windows: a Llama has none.

    References:
        transformers2026, models/mistral and models/gemma2 at 008e5742 (every layer has one; every
        other, and GELU).
    """
    if model.windowed_layers == model.num_layers:
        return "mistral"
    if function_of(model) == "gelu" and model.windowed_layers == -(-model.num_layers // 2):
        return "gemma2"
    raise ConfigError(
        f"no architecture is known that has windows in {model.windowed_layers} of "
        f"{model.num_layers} layers, as {model.name} has, under a trainer; emit megatron"
    )


def _window(model: ModelShape) -> dict[str, Any]:
    """Return the keys of windows; layers that attend to all keys are the last of each few.

    References:
        transformers2026, models/qwen3/configuration_qwen3.py at 008e5742 (no window counts
        without use_sliding_window), models/gemma2/configuration_gemma2.py (the order).
    """
    layers, whole = model.num_layers, model.num_layers - model.windowed_layers
    kinds = [
        "full_attention" if (at + 1) * whole // layers > at * whole // layers else _SLIDING
        for at in range(layers)
    ]
    keys = {"sliding_window": model.window_size, "layer_types": kinds}
    return keys | ({"use_sliding_window": True} if model.qk_norm or model.qkv_bias else {})
