"""The function of the feed-forward network and attention's sinks, in each framework's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.inputs.model import ModelShape

Names = dict[str, Any]
Words = Mapping[tuple[str, bool], str]

FLAGS: Words = {
    ("silu", True): "swiglu",
    ("quick-gelu", True): "quick_geglu",
    ("relu2", False): "squared_relu",
    ("gelu", False): "",
}
"""Megatron-LM's flags, by function and gate; none is a GELU without a gate."""

FUNCTIONS: Mapping[str, str] = {
    "silu": "torch.nn.functional.silu",
    "gelu": "torch.nn.functional.gelu",
    "relu": "torch.nn.functional.relu",
    "relu2": "megatron.core.activations.squared_relu",
    "quick-gelu": "megatron.core.fusions.fused_bias_geglu.quick_gelu",
}
"""What Megatron-Bridge names by its path."""

NEMO: Words = {
    ("silu", True): "fast-swiglu",
    ("gelu", True): "fast-geglu",
    ("relu", True): "fast-reglu",
    ("gelu", False): "gelu",
    ("relu", False): "relu",
    ("relu2", False): "squared-relu",
}
HUGGING_FACE: Words = {
    ("silu", True): "silu",
    ("gelu", True): "gelu_pytorch_tanh",
    ("relu", True): "relu",
}


def function_of(model: ModelShape) -> str:
    """Return the function, the usual one where the model names none.

    Args:
        model: The shape.
    """
    return model.activation or ("silu" if model.gated else "gelu")


def word_of(title: str, words: Words, model: ModelShape, instead: str) -> str:
    """Return a framework's word for the function of a model.

    Args:
        title: What to call the framework.
        words: By function and gate.
        model: The shape.
        instead: What would do.

    Raises:
        ConfigError: If it has none.
    """
    word = words.get((function_of(model), model.gated))
    if word is None:
        gate = "with a gate" if model.gated else "without a gate"
        raise ConfigError(f"{title} has no {function_of(model)} {gate}, as {model.name}; {instead}")
    return word


def own_names(model: ModelShape) -> Names:
    """Return Megatron-LM's names for what its gate adds and bounds, and for sinks.

    Args:
        model: The shape.

    References:
        megatronlm2026, --glu-linear-offset, --activation-func-clamp-value, --softmax-type.
    """
    names: Names = {}
    if model.activation_clamp:
        names["activation_func_clamp_value"] = model.activation_clamp
    if model.glu_offset:
        names["glu_linear_offset"] = model.glu_offset
    if model.sinks:
        names["softmax_type"] = "learnable"
    return names


def check_usual(title: str, model: ModelShape, instead: str) -> None:
    """Refuse sinks, and gates with a bound or an offset, where a framework has no key for them.

    Args:
        title: What to call the framework.
        model: The shape.
        instead: What would do.

    Raises:
        ConfigError: If the model has any.
    """
    if model.sinks or model.activation_clamp or model.glu_offset:
        raise ConfigError(
            f"{title} has no sinks of attention and no bound or offset of a gate, as {model.name} "
            f"has; {instead}"
        )
