"""A launch script of Megatron-LM."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from steptime.inputs.datafiles import data_table
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.model import ModelShape
from steptime.planning.emit.activations import FLAGS, word_of
from steptime.planning.emit.names import (
    Names,
    check_megatron,
    headline,
    layout_names,
    library_names,
    model_names,
    optimizer_copies,
    round_names,
    servers,
)
from steptime.planning.emit.words import context_names, loss_names, moment_names, recompute_names

_SEVERAL = ("hierarchical_context_parallel_sizes", "recompute_modules")
_TO_SET = {"--train-iters": "1000", "--lr": "1e-4"}
"""Flags without which Megatron-LM does not start, and of which no layout says anything."""
_TOKENIZER = "NullTokenizer"
"""Reads no file; it counts one entry beside those that its user gives."""
_SHARDING = {2: "optim_grads", 3: "optim_grads_params"}
_PRECISION: dict[str, Names] = {
    "fp16": {"fp16": True},
    "bf16": {"bf16": True},
    "fp8": {"bf16": True, "fp8_format": "hybrid"},
    "mxfp8": {"bf16": True, "fp8_format": "e4m3", "fp8_recipe": "mxfp8"},
    "nvfp4": {"bf16": True, "fp4_format": "e2m1"},
}


def megatron_script(
    model: ModelShape, layout: Layout, batch: Batch, words: Mapping[str, Any], node_size: int
) -> str:
    """Return the script.

    Args:
        model: The shape.
        layout: The layout.
        batch: The batch.
        words: What the file says of its software, by our name of the key.
        node_size: GPUs of a server.

    Raises:
        ConfigError: If Megatron-LM cannot run the layout.
    """
    nodes, each = servers(layout, node_size)
    lines = [
        f"torchrun --nnodes {nodes} --nproc_per_node {each} pretrain_gpt.py",
        *megatron_flags(model, layout, batch, words),
        *(f"{flag} {value}" for flag, value in _TO_SET.items()),
        f"--tokenizer-type {_TOKENIZER}",
        "--mock-data",
    ]
    told = "".join(f"# {flag} is a placeholder: set your own\n" for flag in _TO_SET)
    return f"#!/bin/bash\n# {headline(model, layout)}\n{told}" + " \\\n    ".join(lines) + "\n"


def megatron_flags(
    model: ModelShape, layout: Layout, batch: Batch, words: Mapping[str, Any]
) -> list[str]:
    """Return Megatron-LM's flags, one a line.

    Args:
        model: The shape.
        layout: The layout.
        batch: The batch.
        words: What the file says of its software, by our name of the key.

    Raises:
        ConfigError: If Megatron-LM cannot run the layout.
    """
    check_megatron("Megatron-LM", model, layout, batch)
    gate = word_of("Megatron-LM's command line", FLAGS, model, "emit megatron-bridge")
    names: Names = {
        **layout_names(model, layout),
        **round_names(layout, batch),
        **_states(layout),
        "micro_batch_size": batch.micro_batch_size,
        "global_batch_size": batch.global_batch_size,
        "seq_length": batch.seq_length,
        **_PRECISION[layout.precision],
        **model_names(model, layout, batch),
        **({gate: True} if gate else {}),
        "untie_embeddings_and_output_weights": not model.tied,
        "disable_bias_linear": not model.linear_bias,
        "use_mcore_models": True,
        **_own(words),
        **context_names(words, layout),
        **recompute_names(words, model, layout),
        **moment_names(words, layout),
    }
    names["vocab_size"] -= data_table("tokenizers.toml")["beside"][_TOKENIZER.lower()]
    names |= library_names(names.get("moe_token_dispatcher_type"))
    if not names.get("overlap_grad_reduce"):
        # Megatron-LM overlaps no gathers without reductions.
        names.pop("overlap_param_gather", None)
    chunks = names.pop("virtual_pipeline_model_parallel_size", None)
    if chunks:
        names["num_virtual_stages_per_pipeline_rank"] = chunks
    size = names.pop("microbatch_group_size_per_vp_stage", None)
    if size:
        names["microbatch_group_size_per_virtual_pipeline_stage"] = size
    groups = names.pop("num_query_groups")
    if groups != model.num_attention_heads:
        names |= {"group_query_attention": True, "num_query_groups": groups}
    return [_flag(name, value) for name, value in names.items() if value is not False]


def _own(words: Mapping[str, Any]) -> Names:
    """Return the words that stand in the file as they are; what Megatron-LM has is left out."""
    # The clamp and the biases of the model say the last.
    spread = (
        "cp_comm_type",
        "loss_kind",
        "expert_activation",
        "recompute_modules",
        "moment_kind",
    )
    own = {name: word for name, word in words.items() if name not in spread}
    # The time takes a fused loss for granted.
    return own | loss_names(words.get("loss_kind", "te"))


def _flag(name: str, value: Any) -> str:
    flag = "--" + name.replace("_", "-")
    if value is True:
        return flag
    if name in _SEVERAL:
        return f"{flag} {' '.join(map(str, value))}"
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"{flag} {shlex.quote(text)}"


def _states(layout: Layout) -> Names:
    """Return what data-parallel ranks share, with the overlap that the time takes for granted."""
    names: Names = {}
    if layout.dp * layout.cp > 1:
        names["overlap_grad_reduce"] = True
    if layout.zero_stage:
        names |= {"use_distributed_optimizer": True}
        names |= {"overlap_param_gather": True} if layout.dp * layout.cp > 1 else {}
        names |= optimizer_copies(layout)
    if layout.zero_stage > 1:
        names |= {
            "use_megatron_fsdp": True,
            "data_parallel_sharding_strategy": _SHARDING[layout.zero_stage],
            # The only one that it starts with.
            "ckpt_format": "fsdp_dtensor",
        }
    return names
