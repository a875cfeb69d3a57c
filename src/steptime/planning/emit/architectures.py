"""Which of torchtitan's architectures is built like a model, or what all of them lack."""

from __future__ import annotations

from typing import Any

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.model import ModelShape
from steptime.planning.emit.activations import function_of
from steptime.planning.emit.names import norm_of

_USUAL = "a gated silu"


def traits_of(model: ModelShape) -> list[str]:
    """Return what a model has beside RMSNorm, gated SiLU and attention over grouped heads.

    Args:
        model: The shape.
    """
    experts = model.experts
    function = f"{'a gated' if model.gated else 'an ungated'} {function_of(model)}"
    found = {
        "LayerNorm": norm_of(model) == "layernorm",
        "learned positions": model.learned_positions > 0,
        "biases": model.linear_bias,
        "biases of queries, keys and values": model.qkv_bias,
        "normalized queries": model.qk_norm,
        function: function != _USUAL,
        "a bounded gate": model.activation_clamp > 0.0,
        "an offset of the gate": model.glu_offset != 0.0,
        "sinks of attention": model.sinks,
        "windows of attention": model.windowed_layers > 0,
        "latent attention": model.latent_attention is not None,
        "experts": experts is not None,
        "shared experts": experts is not None and experts.num_shared_experts > 0,
        "dense layers before experts": experts is not None and experts.num_dense_layers > 0,
        "heads of a width of their own": model.head_dim * model.num_attention_heads
        != model.hidden_size,
        "a tied embedding": model.tied,
    }
    return [name for name, has in found.items() if has]


def architecture_of(model: ModelShape) -> tuple[str, str]:
    """Return the architecture that is built like a model, and what its shape does not tell of it.

    Args:
        model: The shape.

    Raises:
        ConfigError: If none is, with what the nearest one lacks.
    """
    table: dict[str, Any] = data_table("torchtitan_architectures.toml")
    traits = traits_of(model)
    lacks: dict[str, list[str]] = {}
    for name, one in table.items():
        if isinstance(one, dict) and set(one.get("always", ())) <= set(traits):
            lacks[name] = [trait for trait in traits if trait not in one["takes"]]
    nearest = min(lacks, key=lambda name: len(lacks[name]))
    if lacks[nearest]:
        raise ConfigError(
            f"no architecture of torchtitan's has {_listed(lacks[nearest])}, as {model.name} has; "
            "emit megatron-bridge"
        )
    return nearest, str(table[nearest].get("but", ""))


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
