"""Turn a layout into the arguments of a training framework."""

from __future__ import annotations

from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.model import ModelShape
from steptime.pipeline.schedules import SCHEDULES

FORMATS = ("megatron", "torchtitan")
_TITAN_SCHEDULES = {
    entry.name: entry.torchtitan for entry in SCHEDULES.values() if entry.torchtitan
}
_SHARDING = {2: "optim_grads", 3: "optim_grads_params"}
_PRECISION_FLAGS = {
    "fp16": ["--fp16"],
    "bf16": ["--bf16"],
    "fp8": ["--bf16", "--fp8-format hybrid"],
    "mxfp8": ["--bf16", "--fp8-format e4m3", "--fp8-recipe mxfp8"],
    "nvfp4": ["--bf16", "--fp4-format e2m1"],
}


def emitted(kind: str, model: ModelShape, layout: Layout, batch: Batch) -> str:
    """Return the arguments that train ``model`` with this layout.

    Args:
        kind: megatron for Megatron-LM's flags, torchtitan for its TOML file.
        model: The shape.
        layout: The layout.
        batch: The batch.

    Raises:
        ConfigError: If the framework cannot run the layout's schedule.
    """
    check_choice("format", kind, FORMATS)
    if kind == "megatron":
        return "\n".join(megatron_flags(model, layout, batch)) + "\n"
    return torchtitan_toml(model, layout, batch)


def megatron_flags(model: ModelShape, layout: Layout, batch: Batch) -> list[str]:
    """Return Megatron-LM's flags, one a line.

    Args:
        model: The shape.
        layout: The layout.
        batch: The batch.

    Raises:
        ConfigError: If Megatron-LM has no such schedule.
    """
    if layout.schedule not in ("1f1b", "interleaved-1f1b"):
        raise ConfigError(f"Megatron-LM does not run schedule={layout.schedule!r}; use 1f1b")
    return [
        *_megatron_layout(model, layout),
        *_megatron_savings(layout),
        f"--micro-batch-size {batch.micro_batch_size}",
        f"--global-batch-size {batch.global_batch_size}",
        f"--seq-length {batch.seq_length}",
        *_PRECISION_FLAGS[layout.precision],
        *_megatron_model(model, batch),
    ]


def _megatron_layout(model: ModelShape, layout: Layout) -> list[str]:
    """Return the flags that cut the model."""
    flags = [
        f"--tensor-model-parallel-size {layout.tp}",
        f"--context-parallel-size {layout.cp}",
        f"--pipeline-model-parallel-size {layout.pp}",
    ]
    if layout.vpp > 1:
        flags.append(f"--num-virtual-stages-per-pipeline-rank {layout.vpp}")
    if layout.pp > 1 and model.num_layers % (layout.pp * layout.vpp):
        flags += [
            "--account-for-embedding-in-pipeline-split",
            "--account-for-loss-in-pipeline-split",
        ]
    if model.experts:
        flags += [
            f"--expert-model-parallel-size {layout.ep}",
            f"--expert-tensor-parallel-size {layout.etp}",
        ]
    return flags


def _megatron_savings(layout: Layout) -> list[str]:
    """Return the flags that save memory."""
    flags = []
    if layout.sequence_parallel and layout.tp > 1:
        flags.append("--sequence-parallel")
    if layout.zero_stage == 1:
        flags.append("--use-distributed-optimizer")
    elif layout.zero_stage > 1:
        flags += [
            "--use-megatron-fsdp",
            f"--data-parallel-sharding-strategy {_SHARDING[layout.zero_stage]}",
        ]
    if layout.recompute != "none":
        flags.append(f"--recompute-granularity {layout.recompute}")
    if layout.recompute == "full":
        flags += ["--recompute-method uniform", "--recompute-num-layers 1"]
    return flags


def _megatron_model(model: ModelShape, batch: Batch) -> list[str]:
    flags = [
        f"--num-layers {model.num_layers}",
        f"--hidden-size {model.hidden_size}",
        f"--ffn-hidden-size {model.ffn_hidden_size}",
        f"--num-attention-heads {model.num_attention_heads}",
        f"--kv-channels {model.head_dim}",
        f"--vocab-size {model.vocab_size}",
        f"--max-position-embeddings {model.learned_positions or batch.seq_length}",
    ]
    if model.num_query_groups != model.num_attention_heads:
        flags += ["--group-query-attention", f"--num-query-groups {model.num_query_groups}"]
    if not model.learned_positions:
        flags.append("--position-embedding-type rope")
    if model.gated:
        flags.append("--swiglu")
    if not model.tied:
        flags.append("--untie-embeddings-and-output-weights")
    if model.experts:
        experts = model.experts
        dense = experts.num_dense_layers
        flags += [
            f"--num-experts {experts.num_experts}",
            f"--moe-router-topk {experts.top_k}",
            f"--moe-ffn-hidden-size {experts.expert_ffn_hidden_size}",
        ]
        if experts.num_shared_experts:
            width = experts.num_shared_experts * experts.expert_ffn_hidden_size
            flags.append(f"--moe-shared-expert-intermediate-size {width}")
        if dense:
            flags.append(f"--moe-layer-freq '([0]*{dense}+[1]*{model.num_layers - dense})'")
    if model.latent_attention:
        latent = model.latent_attention
        flags += ["--multi-latent-attention", f"--kv-lora-rank {latent.kv_lora_rank}"]
        flags += [f"--q-lora-rank {latent.q_lora_rank}"] if latent.q_lora_rank else []
        flags += [
            f"--qk-head-dim {latent.qk_nope_head_dim}",
            f"--qk-pos-emb-head-dim {latent.qk_rope_head_dim}",
            f"--v-head-dim {latent.v_head_dim}",
        ]
    return flags


def torchtitan_toml(model: ModelShape, layout: Layout, batch: Batch) -> str:
    """Return the sections of a torchtitan file that set layout and batch.

    Args:
        model: Names the model in a comment.
        layout: The layout.
        batch: The batch.

    Raises:
        ConfigError: If torchtitan has no such schedule, or no such sharding.
    """
    if layout.schedule not in _TITAN_SCHEDULES:
        known = ", ".join(_TITAN_SCHEDULES)
        raise ConfigError(f"torchtitan does not run {layout.schedule!r}; it runs {known}")
    if layout.zero_stage == 1 and layout.dp > 1:
        raise ConfigError(
            "torchtitan has no ZeRO-1, a sharded optimizer beside whole gradients and weights; "
            "choose a layout with --zero 3, or with --zero 0 where it fits"
        )
    local = batch.micro_batch_size
    if layout.pp > 1:
        local = batch.global_batch_size // layout.dp
    converter = {"fp8": "float8", "mxfp8": "mx"}.get(layout.precision)
    lines = [
        f"# {model.name}: {layout.num_devices} GPUs",
        *(["[model]", f'converters = ["{converter}"]', ""] if converter else []),
        "[training]",
        f"local_batch_size = {local}",
        f"global_batch_size = {batch.global_batch_size}",
        f"seq_len = {batch.seq_length}",
        "",
        "[parallelism]",
        *_titan_parallelism(model, layout, batch),
        "",
        "[activation_checkpoint]",
        f'mode = "{layout.recompute}"',
    ]
    return "\n".join(lines) + "\n"


def _titan_parallelism(model: ModelShape, layout: Layout, batch: Batch) -> list[str]:
    """Return the lines of the section that cuts the model."""
    replicate, shard = (1, layout.dp) if layout.zero_stage > 1 else (layout.dp, 1)
    lines = [
        f"data_parallel_replicate_degree = {replicate}",
        f"data_parallel_shard_degree = {shard}",
        f"tensor_parallel_degree = {layout.tp}",
        f"context_parallel_degree = {layout.cp}",
        f"pipeline_parallel_degree = {layout.pp}",
    ]
    if layout.zero_stage > 1:
        after = "always" if layout.zero_stage == 3 else "never"
        lines.append(f'fsdp_reshard_after_forward = "{after}"')
    if layout.pp > 1:
        lines += [
            f'pipeline_parallel_schedule = "{_TITAN_SCHEDULES[layout.schedule]}"',
            f"pipeline_parallel_microbatch_size = {batch.micro_batch_size}",
        ]
    if layout.vpp > 1:
        each = -(-model.num_layers // (layout.pp * layout.vpp))
        lines.append(f"pipeline_parallel_layers_per_stage = {each}")
    if model.experts:
        lines.append(f"expert_parallel_degree = {layout.ep}")
        lines.append(f"expert_tensor_parallel_degree = {layout.etp}")
    return lines
