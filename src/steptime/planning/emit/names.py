"""A model, a layout and a batch under Megatron-LM's names, which several frameworks share."""

from __future__ import annotations

from typing import Any

from steptime.formulas.schedules.forms import round_size
from steptime.inputs.errors import ConfigError
from steptime.inputs.in_number import counted
from steptime.inputs.layout import Batch, Layout, num_microbatches
from steptime.inputs.model import ModelShape
from steptime.planning.emit.activations import own_names
from steptime.planning.emit.stages import stage_names
from steptime.readers.common.framework_rules import check_framework
from steptime.readers.keys.reading import Reading

Names = dict[str, Any]
FLEX = "flex"
_DIVISORS = (128, 64, 32, 16, 8, 4, 2)


def check_megatron(
    title: str, model: ModelShape, layout: Layout, batch: Batch, *, rounds: bool = True
) -> None:
    """Refuse what Megatron-LM and what is built on it cannot run.

    Args:
        title: What to call the framework.
        model: The shape.
        layout: The layout.
        batch: The batch.
        rounds: Whether it has a name for the micro-batches of a round.

    Raises:
        ConfigError: With the reason.
    """
    own = Reading(path="this layout", kind="", title=title, software="megatron", model=model)
    # Stages of unequal length are written out, so only micro-batches can be in the way.
    own.state("uneven_stages", True)
    for name, size in round_names(layout, batch).items() if rounds else ():
        own.state("microbatch_group", size, written=name)
    check_framework(own, layout, batch)


def round_names(layout: Layout, batch: Batch) -> Names:
    """Return Megatron-LM's name for the micro-batches of a round, where that is not its usual p.

    Args:
        layout: The layout.
        batch: Gives the micro-batches.

    References:
        megatronlm2026, --microbatch-group-size-per-virtual-pipeline-stage: p unless stated.
    """
    size = int(round_size(layout.pp, num_microbatches(layout, batch)))
    if layout.vpp == 1 or layout.pp == 1 or size <= layout.pp:
        return {}
    return {"microbatch_group_size_per_vp_stage": size}


def library_names(dispatcher: object) -> Names:
    """Return Megatron-LM's name for the library that its flexible dispatcher sends with.

    Args:
        dispatcher: Of ``moe_token_dispatcher_type``; None in a dense model.

    References:
        megatronlm2026, --moe-enable-deepep: off unless asked for.
    """
    return {"moe_enable_deepep": True} if dispatcher == FLEX else {}


def check_one_copy(title: str, layout: Layout, instead: str) -> None:
    """Refuse copies of what is sharded (HSDP) where a framework has no key for them.

    Args:
        title: What to call the framework.
        layout: The layout.
        instead: What would do.

    Raises:
        ConfigError: If there are copies.
    """
    if layout.zero_stage and layout.dp_replicate > 1:
        raise ConfigError(
            f"{title} has no dp_replicate={layout.dp_replicate}, copies of what is sharded; "
            f"{instead}, or choose a layout with one"
        )


def shared_copies(layout: Layout, least: int) -> int:
    """Return the copies of what is sharded; all ranks are where it is not.

    Args:
        layout: The layout.
        least: The first stage of sharding that counts.
    """
    return layout.dp_replicate if layout.zero_stage >= least else layout.dp


def check_expert_slices(title: str, model: ModelShape, layout: Layout, instead: str) -> None:
    """Refuse slices of experts where a framework cuts them over the tensor ranks, as all else.

    Args:
        title: What to call the framework, and when it does so.
        model: The shape; a dense one has none.
        layout: The layout.
        instead: What would do.

    Raises:
        ConfigError: If experts are cut otherwise.
    """
    if model.experts is not None and layout.etp != layout.tp:
        raise ConfigError(
            f"{title} cuts experts over tp={layout.tp} ranks, not over etp={layout.etp}; {instead}"
        )


def optimizer_copies(layout: Layout) -> Names:
    """Return Megatron-LM's name for the copies of what is sharded, where there are any.

    Args:
        layout: The layout.

    References:
        megatronlm2026, --num-distributed-optimizer-instances.
    """
    if not layout.zero_stage or layout.dp_replicate == 1:
        return {}
    return {"num_distributed_optimizer_instances": layout.dp_replicate}


def norm_of(model: ModelShape) -> str:
    """Return the norm: what the model says, else what goes with its feed-forward network.

    Args:
        model: The shape.
    """
    return model.norm or ("rmsnorm" if model.gated else "layernorm")


def servers(layout: Layout, node_size: int) -> tuple[int, int]:
    """Return the servers and the GPUs of each: as many as a server has where that divides.

    Args:
        layout: Gives the devices.
        node_size: GPUs of a server.
    """
    total = layout.num_devices
    each = next(size for size in range(node_size, 0, -1) if total % size == 0)
    return (1, total) if total <= node_size else (total // each, each)


def started(layout: Layout, node_size: int) -> str:
    """Return the line that says on how many servers a file without a launcher is started.

    Args:
        layout: Gives the devices.
        node_size: GPUs of a server.
    """
    nodes, each = servers(layout, node_size)
    return f"# start it on {nodes} x {counted(each, 'GPUs')}: servers x GPUs of each"


def headline(model: ModelShape, layout: Layout) -> str:
    """Return what a file starts with: the model, and its GPUs.

    Args:
        model: The shape.
        layout: The layout.
    """
    return (
        f"{model.name}: {counted(layout.num_devices, 'GPUs')} = tp {layout.tp} x cp {layout.cp} x "
        f"pp {layout.pp} x dp {layout.dp}"
    )


def layout_names(model: ModelShape, layout: Layout) -> Names:
    """Return what cuts the model.

    Args:
        model: The shape.
        layout: The layout.
    """
    names: Names = {
        "tensor_model_parallel_size": layout.tp,
        "context_parallel_size": layout.cp,
        "pipeline_model_parallel_size": layout.pp,
        "sequence_parallel": layout.sequence_parallel and layout.tp > 1,
        **stage_names(model, layout),
    }
    if model.experts:
        names["expert_model_parallel_size"] = layout.ep
        names["expert_tensor_parallel_size"] = layout.etp
    if layout.recompute != "none":
        names["recompute_granularity"] = layout.recompute
    if layout.recompute == "full":
        names |= {"recompute_method": "uniform", "recompute_num_layers": 1}
    return names


def model_names(model: ModelShape, layout: Layout, batch: Batch) -> Names:
    """Return the sizes and traits of a model.

    Args:
        model: The shape.
        layout: Gives the ranks over which the vocabulary is cut.
        batch: Gives the sequence length.
    """
    names: Names = {
        "num_layers": model.num_layers,
        "hidden_size": model.hidden_size,
        "ffn_hidden_size": model.ffn_hidden_size,
        "num_attention_heads": model.num_attention_heads,
        "num_query_groups": model.num_query_groups,
        "kv_channels": model.head_dim,
        "vocab_size": model.vocab_size,
        "make_vocab_size_divisible_by": vocabulary_step(model, layout),
        "max_position_embeddings": model.learned_positions or batch.seq_length,
        "position_embedding_type": "learned_absolute" if model.learned_positions else "rope",
        "normalization": "RMSNorm" if norm_of(model) == "rmsnorm" else "LayerNorm",
        "add_qkv_bias": model.qkv_bias and not model.linear_bias,
        "qk_layernorm": model.qk_norm,
        **own_names(model),
        **_window(model),
        **_experts(model),
    }
    latent = model.latent_attention
    if latent:
        names |= {"multi_latent_attention": True, "kv_lora_rank": latent.kv_lora_rank}
        names |= {"q_lora_rank": latent.q_lora_rank} if latent.q_lora_rank else {}
        names |= {
            "qk_head_dim": latent.qk_nope_head_dim,
            "qk_pos_emb_head_dim": latent.qk_rope_head_dim,
            "v_head_dim": latent.v_head_dim,
        }
    return names


def vocabulary_step(model: ModelShape, layout: Layout) -> int:
    """Return the largest customary step to which padding leaves the vocabulary as it is.

    Args:
        model: The shape.
        layout: Gives the ranks over which it is cut.
    """
    return next((s for s in _DIVISORS if model.vocab_size % (s * layout.tp) == 0), 1)


def _window(model: ModelShape) -> Names:
    """Return the window, and which layers have it."""
    if not model.window_size or not model.windowed_layers:
        return {}
    layers, windowed = model.num_layers, model.windowed_layers
    names: Names = {"window_size": [model.window_size - 1, 0]}
    if windowed == layers:
        return names
    # One layer in so many attends to all keys, where that gives the count.
    every = next((n for n in range(2, layers + 1) if layers - layers // n == windowed), 0)
    names["window_attn_skip_freq"] = every or f"[1]*{windowed}+[0]*{layers - windowed}"
    return names


def _experts(model: ModelShape) -> Names:
    experts = model.experts
    if experts is None:
        return {}
    names: Names = {
        "num_experts": experts.num_experts,
        "moe_router_topk": experts.top_k,
        "moe_ffn_hidden_size": experts.expert_ffn_hidden_size,
        "moe_grouped_gemm": True,
        # The time sends one copy of a token to each rank unless told otherwise.
        "moe_token_dispatcher_type": FLEX,
    }
    if experts.num_shared_experts:
        width = experts.num_shared_experts * experts.expert_ffn_hidden_size
        names["moe_shared_expert_intermediate_size"] = width
    if 0 < experts.max_groups < experts.num_groups:
        names["moe_router_num_groups"] = experts.num_groups
        names["moe_router_group_topk"] = experts.max_groups
    dense = experts.num_dense_layers
    if dense:
        names["moe_layer_freq"] = f"[0]*{dense}+[1]*{model.num_layers - dense}"
    return names
