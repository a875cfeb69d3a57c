"""A launch script of Megatron-LM."""

from __future__ import annotations

import shlex

from steptime.inputs.layout import Batch, Layout
from steptime.inputs.model import ModelShape
from steptime.planning.emit.names import (
    Names,
    check_megatron,
    headline,
    layout_names,
    model_names,
    optimizer_copies,
    servers,
)

_SHARDING = {2: "optim_grads", 3: "optim_grads_params"}
_PRECISION: dict[str, Names] = {
    "fp16": {"fp16": True},
    "bf16": {"bf16": True},
    "fp8": {"bf16": True, "fp8_format": "hybrid"},
    "mxfp8": {"bf16": True, "fp8_format": "e4m3", "fp8_recipe": "mxfp8"},
    "nvfp4": {"bf16": True, "fp4_format": "e2m1"},
}


def megatron_script(model: ModelShape, layout: Layout, batch: Batch) -> str:
    """Return the script.

    Args:
        model: The shape.
        layout: The layout.
        batch: The batch.

    Raises:
        ConfigError: If Megatron-LM cannot run the layout.
    """
    nodes, each = servers(layout)
    lines = [
        f"torchrun --nnodes {nodes} --nproc_per_node {each} pretrain_gpt.py",
        *megatron_flags(model, layout, batch),
        "--tokenizer-type NullTokenizer",
        "--mock-data",
    ]
    return f"#!/bin/bash\n# {headline(model, layout)}\n" + " \\\n    ".join(lines) + "\n"


def megatron_flags(model: ModelShape, layout: Layout, batch: Batch) -> list[str]:
    """Return Megatron-LM's flags, one a line.

    Args:
        model: The shape.
        layout: The layout.
        batch: The batch.

    Raises:
        ConfigError: If Megatron-LM cannot run the layout.
    """
    check_megatron("Megatron-LM", model, layout, batch)
    names: Names = {
        **layout_names(model, layout),
        **_states(layout),
        "micro_batch_size": batch.micro_batch_size,
        "global_batch_size": batch.global_batch_size,
        "seq_length": batch.seq_length,
        **_PRECISION[layout.precision],
        **model_names(model, layout, batch),
        "swiglu": model.gated,
        "untie_embeddings_and_output_weights": not model.tied,
        "disable_bias_linear": not model.linear_bias,
        "use_mcore_models": True,
    }
    chunks = names.pop("virtual_pipeline_model_parallel_size", None)
    if chunks:
        names["num_virtual_stages_per_pipeline_rank"] = chunks
    groups = names.pop("num_query_groups")
    if groups != model.num_attention_heads:
        names |= {"group_query_attention": True, "num_query_groups": groups}
    return [_flag(name, value) for name, value in names.items() if value is not False]


def _flag(name: str, value: object) -> str:
    flag = "--" + name.replace("_", "-")
    if value is True:
        return flag
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
        }
    return names
