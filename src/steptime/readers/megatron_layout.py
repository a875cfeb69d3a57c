"""Layout and batch from Megatron-LM's names, which NeMo and Megatron-Bridge share."""

from __future__ import annotations

from steptime.inputs.errors import ConfigError
from steptime.readers.entries import Entries

SIZES = (
    ("tp", ("tensor_model_parallel_size", "tensor_parallel", "tp")),
    ("cp", ("context_parallel_size", "cp")),
    ("pp", ("pipeline_model_parallel_size", "pp")),
    ("ep", ("expert_model_parallel_size", "ep")),
)
_SHARDING = {"no_shard": 0, "optim": 1, "optim_grads": 2, "optim_grads_params": 3}


def megatron_layout(entries: Entries, *, steps_known: bool = True) -> None:
    """Note the layout and the batch of Megatron-LM's arguments in the reading.

    Args:
        entries: The file's keys.
        steps_known: Whether a missing size means Megatron-LM's default; where a file only
            changes a recipe, it means that the recipe's value is not known.

    Raises:
        ConfigError: If sizes are absurd or contradict each other.
    """
    reading = entries.reading
    for name, keys in SIZES:
        if entries.count(name, *keys) is None and not any(
            text.startswith(f"{name}:") for text in reading.missing
        ):
            why = (
                "Megatron-LM's default"
                if steps_known
                else "not in this file; the recipe may differ"
            )
            if name in ("tp", "pp") or not steps_known:
                reading.assume(name, 1, why)
    if entries.count("etp", "expert_tensor_parallel_size", "etp") is None:
        tp = reading.value("tp", 1)
        experts = reading.value("ep", 1) > 1 or entries.entry("num_experts") is not None
        if experts and tp > 1:
            reading.assume("etp", tp, "Megatron-LM's default is tp")
    _chunks(entries)
    _sharding(entries)
    _recompute(entries)
    _precision(entries)
    if entries.flag("sequence_parallel"):
        line = entries.line("sequence_parallel")
        if reading.value("tp", 1) > 1:
            reading.state("sequence_parallel", True, line=line, written="sequence_parallel")
    _batch(entries)
    _devices(entries)


def _chunks(entries: Entries) -> None:
    """Note the model chunks of a device, which Megatron-LM can give in three ways."""
    reading = entries.reading
    chunks = entries.count(
        "vpp",
        "virtual_pipeline_model_parallel_size",
        "num_virtual_stages_per_pipeline_rank",
        "vp",
    )
    each = entries.count("layers_per_chunk", "num_layers_per_virtual_pipeline_stage")
    if each is not None:
        layers, stages = reading.value("num_layers"), reading.value("pp", 1)
        if layers is None:
            entries.ask("num_layers", "to turn layers per virtual stage into chunks")
            return
        if layers % (stages * each):
            line = entries.line("num_layers_per_virtual_pipeline_stage")
            raise ConfigError(
                f"{reading.at(line)}: {each} layers per virtual stage x pp = {stages} "
                f"do not divide num_layers = {layers}"
            )
        line = entries.line("num_layers_per_virtual_pipeline_stage")
        reading.state(
            "vpp", layers // (stages * each), line=line, written="layers per virtual stage"
        )
        chunks = layers // (stages * each)
    if chunks is not None and chunks > 1:
        reading.assume("schedule", "interleaved-1f1b", "several chunks a device")


def _sharding(entries: Entries) -> None:
    reading = entries.reading
    stage = entries.count("zero_stage", "zero_stage", least=0)
    if stage is not None:
        if stage > 3:
            line = entries.line("zero_stage")
            raise ConfigError(f"{reading.at(line)}: zero_stage must be <= 3, got {stage}")
        return
    fsdp = entries.flag("use_megatron_fsdp", "use_custom_fsdp")
    if entries.flag("use_torch_fsdp2"):
        written, stage = "use_torch_fsdp2", 3
    elif fsdp:
        written = "data_parallel_sharding_strategy"
        stage = _SHARDING.get(entries.word(written) or "optim_grads_params", 3)
    elif entries.flag("use_distributed_optimizer"):
        written, stage = "use_distributed_optimizer", 1
    elif entries.word("optimizer_name") == "distributed_fused_adam":
        written, stage = "optimizer_name", 1
    else:
        return
    reading.state("zero_stage", stage, line=entries.line(written), written=written)


def _recompute(entries: Entries) -> None:
    reading = entries.reading
    key = "recompute_granularity"
    kind = entries.word(key, "activations_checkpoint_granularity")
    if not kind and entries.flag("recompute_activations"):
        kind, key = "selective", "recompute_activations"
    if not kind and entries.flag("checkpoint_activations", "deepspeed_activation_checkpointing"):
        kind, key = "full", "checkpoint_activations"
    if kind not in ("selective", "full"):
        return
    reading.state("recompute", kind, line=entries.line(key), written=key)
    if kind == "full" and entries.word("recompute_method", "activations_checkpoint_method") == (
        "block"
    ):
        reading.notes.append("recomputes some layers of each stage; taken as all of them")
    modules = entries.entry("recompute_modules")
    if kind == "selective" and modules is not None:
        reading.notes.append("recompute_modules is taken as the attention core alone")


def _precision(entries: Entries) -> None:
    reading = entries.reading
    recipe = entries.word("fp8_recipe")
    mixed = entries.word("mixed_precision", "precision")
    if entries.word("fp4", "fp4_format") or "nvfp4" in mixed or "fp4" in mixed:
        key, name = "fp4_format", "nvfp4"
    elif entries.word("fp8", "fp8_format") not in ("", "false", "none") or "fp8" in mixed:
        key, name = "fp8_format", "mxfp8" if recipe == "mxfp8" or "mxfp8" in mixed else "fp8"
    elif entries.flag("bf16") or "bf16" in mixed:
        key, name = "bf16", "bf16"
    elif entries.flag("fp16") or mixed in ("16", "16-mixed", "fp16"):
        key, name = "fp16", "fp16"
    else:
        reading.assume("precision", "bf16", "no precision is given; fp32 is not modelled")
        return
    reading.state("precision", name, line=entries.line(key), written=key)


def _batch(entries: Entries) -> None:
    reading = entries.reading
    if entries.count("micro_batch_size", "micro_batch_size", "batch_size", "mbs") is None:
        entries.ask("micro_batch_size")
    if entries.count("global_batch_size", "global_batch_size", "gbs") is None:
        entries.ask("global_batch_size")
    length = entries.count("seq_length", "seq_length", "encoder_seq_length", "sequence_length")
    if length is None:
        entries.ask("seq_length")
    if entries.entry("rampup_batch_size"):
        reading.notes.append("the batch ramps up; times are for the full batch")


def _devices(entries: Entries) -> None:
    reading = entries.reading
    if entries.count("num_gpus", "world_size", "num_gpus") is not None:
        return
    nodes = entries.count("num_nodes", "nnodes", "num_nodes", "slurm_nodes")
    each = entries.count(
        "gpus_per_node",
        "nproc_per_node",
        "devices",
        "num_gpus_per_node",
        "gpus_per_node",
        "slurm_gpus_per_node",
    )
    if nodes is not None and each is not None:
        reading.state("num_gpus", nodes * each, written="nodes x GPUs per node")
    elif not any(text.startswith("num_gpus") for text in reading.missing):
        reading.missing[:] = [
            text
            for text in reading.missing
            if text.split(":")[0] not in ("num_nodes", "gpus_per_node")
        ]
        entries.ask("num_gpus", "the number of nodes is set when it is launched")
