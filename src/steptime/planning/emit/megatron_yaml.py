"""Files of frameworks that are built on Megatron-LM: Megatron-Bridge and NeMo 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.model import ModelShape
from steptime.planning.emit.activations import (
    FUNCTIONS,
    NEMO,
    check_usual,
    function_of,
    word_of,
)
from steptime.planning.emit.names import (
    Names,
    check_expert_slices,
    check_megatron,
    check_one_copy,
    headline,
    layout_names,
    library_names,
    model_names,
    norm_of,
    optimizer_copies,
    round_names,
    servers,
    started,
)
from steptime.planning.emit.words import context_names, loss_names, only, recompute_names

_BRIDGE_PRECISION = {
    "bf16": "bf16_mixed",
    "fp16": "fp16_mixed",
    "fp8": "bf16_with_fp8_delayed_scaling_mixed",
    "mxfp8": "bf16_with_mxfp8_mixed",
    "nvfp4": "bf16_with_nvfp4_mixed",
}
_SHARDING = {0: "no_shard", 1: "optim", 2: "optim_grads", 3: "optim_grads_params"}
_DISPATCHER = "moe_token_dispatcher_type"
_TENSOR = ("tp_comm_overlap",)
_DDP = ("overlap_grad_reduce", "grad_reduce_in_fp32")
_BRIDGE_MODEL = (
    "overlap_p2p_comm",
    "gradient_accumulation_fusion",
    "attention_backend",
    _DISPATCHER,
)
_NEMO = {"tp_comm_overlap": "ub_tp_comm_overlap"}
_NEMO_MODEL = (
    "tp_comm_overlap",
    "overlap_p2p_comm",
    "gradient_accumulation_fusion",
)
_RENAMED = {
    "num_experts": "num_moe_experts",
    "decoder_first_pipeline_num_layers": "num_layers_in_first_pipeline_stage",
    "decoder_last_pipeline_num_layers": "num_layers_in_last_pipeline_stage",
}


def bridge_yaml(
    model: ModelShape, layout: Layout, batch: Batch, words: Mapping[str, Any], node_size: int
) -> str:
    """Return the overrides of a container of Megatron-Bridge.

    Args:
        model: The shape.
        layout: The layout.
        batch: The batch.
        words: What the file says of its software, by our name of the key.
        node_size: GPUs of a server.

    Raises:
        ConfigError: If Megatron-Bridge cannot run the layout.
    """
    check_megatron("Megatron-Bridge", model, layout, batch)
    many = layout.dp * layout.cp > 1
    overlaps = many and words.get("overlap_grad_reduce", True)
    gpus = f"# no key of it gives the GPUs: read it with --gpus {layout.num_devices}"
    return _yaml(
        f"{headline(model, layout)}\n{started(layout, node_size)}\n{gpus}",
        {
            "model": {
                **_model(model, layout, batch, words, _BRIDGE_MODEL),
                "gated_linear_unit": model.gated,
                "activation_func": {"_target_": FUNCTIONS[function_of(model)], "_call_": False},
                "add_bias_linear": model.linear_bias,
                "seq_length": batch.seq_length,
                **loss_names(words.get("loss_kind", "")),
                **context_names(words, layout),
                **round_names(layout, batch),
            },
            "train": {
                "micro_batch_size": batch.micro_batch_size,
                "global_batch_size": batch.global_batch_size,
            },
            "dataset": {"seq_length": batch.seq_length},
            "ddp": {
                "use_distributed_optimizer": layout.zero_stage > 0,
                "use_megatron_fsdp": layout.zero_stage > 1,
                "data_parallel_sharding_strategy": _SHARDING[layout.zero_stage],
                "overlap_grad_reduce": many,
                "overlap_param_gather": overlaps and layout.zero_stage > 0,
                **optimizer_copies(layout),
                **only(words, _DDP),
            },
            **({"comm_overlap": only(words, _TENSOR)} if only(words, _TENSOR) else {}),
            "mixed_precision": _BRIDGE_PRECISION[layout.precision],
        },
    )


def nemo_yaml(
    model: ModelShape, layout: Layout, batch: Batch, words: Mapping[str, Any], node_size: int
) -> str:
    """Return a training file of NeMo 1.

    Args:
        model: The shape.
        layout: The layout.
        batch: The batch.
        words: What the file says of its software, by our name of the key.
        node_size: GPUs of a server.

    Raises:
        ConfigError: If NeMo 1 cannot run the layout, or has no such model.
    """
    check_megatron("NeMo 1", model, layout, batch, rounds=False)
    _check_nemo(model, layout)
    nodes, each = servers(layout, node_size)
    names = _model(model, layout, batch, words, (_DISPATCHER,))
    names = {name.replace("recompute_", _KEPT): value for name, value in names.items()}
    names.pop("expert_tensor_parallel_size", None)
    names["override_vocab_size"] = names.pop("vocab_size")
    rms = norm_of(model) == "rmsnorm"
    return _yaml(
        headline(model, layout),
        {
            "trainer": {
                "num_nodes": nodes,
                "devices": each,
                "precision": "16" if layout.precision == "fp16" else "bf16",
            },
            "model": {
                "mcore_gpt": True,
                "micro_batch_size": batch.micro_batch_size,
                "global_batch_size": batch.global_batch_size,
                "encoder_seq_length": batch.seq_length,
                **names,
                "normalization": "rmsnorm" if rms else "layernorm",
                "activation": word_of("NeMo 1", NEMO, model, "emit megatron-bridge"),
                "bias": model.linear_bias,
                "transformer_engine": True,
                # The time takes these for granted; NeMo 1 has them off.
                "ub_tp_comm_overlap": names["sequence_parallel"] and model.experts is None,
                "overlap_p2p_comm": True,
                "gradient_accumulation_fusion": True,
                **{_NEMO.get(name, name): word for name, word in only(words, _NEMO_MODEL).items()},
                "fp8": layout.precision == "fp8",
                "fsdp": layout.zero_stage == 3,
                "optim": _nemo_optimizer(layout, words),
            },
        },
    )


def _nemo_optimizer(layout: Layout, words: Mapping[str, Any]) -> Names:
    """Return NeMo 1's optimizer, which shares its states and overlaps by its own keys."""
    return {
        "name": "distributed_fused_adam" if layout.zero_stage == 1 else "fused_adam",
        "overlap_grad_sync": words.get("overlap_grad_reduce", True),
        "overlap_param_sync": True,
    }


_KEPT = "activations_checkpoint_"


def _check_nemo(model: ModelShape, layout: Layout) -> None:
    """Refuse what NeMo 1 has no key for."""
    check_one_copy("NeMo 1", layout, "emit megatron-bridge")
    check_usual("NeMo 1", model, "emit megatron or megatron-bridge")
    if model.latent_attention is not None:
        raise ConfigError("NeMo 1 has no latent attention; emit megatron or megatron-bridge")
    if layout.precision not in ("bf16", "fp16", "fp8"):
        raise ConfigError(f"NeMo 1 has no precision={layout.precision!r}; use fp8 or bf16")
    if layout.zero_stage == 2:
        raise ConfigError("NeMo 1 shares no gradients without weights; choose --zero 1 or --zero 3")
    check_expert_slices("NeMo 1", model, layout, "emit megatron")


def _model(
    model: ModelShape, layout: Layout, batch: Batch, words: Mapping[str, Any], keys: Iterable[str]
) -> Names:
    """Return the names of both formats, with those of some keys of the software."""
    names = {**layout_names(model, layout), **model_names(model, layout, batch)}
    names |= only(words, keys) | recompute_names(words, model, layout)
    names |= library_names(names.get("moe_token_dispatcher_type"))
    names["share_embeddings_and_output_weights"] = model.tied
    return {_RENAMED.get(name, name): value for name, value in names.items()}


def _yaml(head: str, sections: dict[str, Any]) -> str:
    return f"# {head}\n" + "\n".join(_lines(sections, 0)) + "\n"


def _lines(table: dict[str, Any], depth: int) -> list[str]:
    lines = []
    for name, value in table.items():
        pad = "  " * depth
        if isinstance(value, dict):
            lines += [f"{pad}{name}:", *_lines(value, depth + 1)]
        else:
            lines.append(f"{pad}{name}: {_scalar(value)}")
    return lines


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    # A pattern over layers would be read as a list.
    return f'"{value}"' if isinstance(value, str) and value[:1] in "[E" else str(value)
