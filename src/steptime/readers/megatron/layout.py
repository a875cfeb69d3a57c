"""Layout from Megatron-LM's names, which its forks, NeMo and Megatron-Bridge share."""

from __future__ import annotations

from steptime.inputs.errors import ConfigError
from steptime.readers.common.precision import precision
from steptime.readers.common.shared_out import megatron_experts, note_copies
from steptime.readers.keys.entries import Entries, Entry
from steptime.readers.keys.reading import Fact
from steptime.readers.keys.safe import shown
from steptime.readers.megatron.experts import NUMBER
from steptime.readers.megatron.stages import stages

SIZES = (
    (
        "tp",
        (
            "tensor_model_parallel_size",
            "tensor_parallel",
            "tp",
            "model_parallel_size",
            "tensor_parallel_size",
        ),
    ),
    ("cp", ("context_parallel_size", "cp")),
    ("pp", ("pipeline_model_parallel_size", "pp", "pipeline_parallel_size")),
    ("ep", ("expert_model_parallel_size", "ep", "moe_expert_parallel_size")),
)
_SHARDING = {"no_shard": 0, "optim": 1, "optim_grads": 2, "optim_grads_params": 3}
_SHARDED_OPTIMIZERS = ("distributed_fused_adam", "mcore_distributed_optim", "megatron_distributed")
METHOD_ALONE = ("megatron", "megatron-deepspeed")
"""Formats whose older flag of a method asks for whole layers, without a granularity."""
_GRANULARITY = ("selective", "full")


def megatron_layout(entries: Entries, *, steps_known: bool = True) -> None:
    """Note the layout of Megatron-LM's arguments in the reading.

    Args:
        entries: The file's keys.
        steps_known: Whether a missing size means Megatron-LM's default; where a file only
            changes a recipe, it means that the recipe's value is not known.

    Raises:
        ConfigError: If sizes are absurd or contradict each other.
    """
    reading = entries.reading
    for name, keys in SIZES:
        size = entries.count(name, *keys)
        if size is not None or any(text.startswith(f"{name}:") for text in reading.missing):
            continue
        if name in ("tp", "pp") and not steps_known:
            entries.ask(name, "the recipe that this file changes may have its own")
        elif name in ("tp", "pp"):
            reading.assume(name, 1, "the software's default")
        elif not steps_known:
            reading.assume(name, 1, "not in this file; a recipe's may differ")
    megatron_experts(entries, entries.entry(*NUMBER) is not None)
    stages(entries)
    sharding(entries)
    recompute(entries)
    precision(entries)
    if entries.flag("sequence_parallel"):
        line = entries.line("sequence_parallel")
        if reading.value("tp", 1) > 1:
            reading.state("sequence_parallel", True, line=line, written="sequence_parallel")
    elif (
        not (steps_known or entries.by_key.get("recipe_name"))
        and reading.value("tp", 1) > 1
        and entries.entry("sequence_parallel") is None
    ):
        reading.assume("sequence_parallel", False, "not in this file; a recipe's may differ")


def _other_optimizer(entries: Entries) -> None:
    kind = entries.word("optimizer")
    if kind and "adam" not in kind:
        entries.reading.notes.append(f"optimizer = {kind}: its states are taken as Adam's")


def sharding(entries: Entries) -> None:
    """Note what data-parallel ranks share.

    Args:
        entries: The file's keys.
    """
    reading = entries.reading
    _other_optimizer(entries)
    stage = entries.count("zero_stage", "zero_stage", least=0)
    if stage is not None:
        if stage > 3:
            line = entries.line("zero_stage")
            raise ConfigError(f"{reading.at(line)}: zero_stage must be <= 3, got {stage}")
        return
    fsdp = entries.flag("use_megatron_fsdp", "use_custom_fsdp")
    optimizer = entries.word("optimizer_name")
    distributed = entries.flag("use_distributed_optimizer")
    if entries.flag("use_torch_fsdp2") or entries.flag("fsdp"):
        keeps = entries.flag("torch_fsdp2_no_reshard_after_forward")
        written, stage = "use_torch_fsdp2", 2 if keeps else 3
    elif fsdp:
        written = "data_parallel_sharding_strategy"
        word = entries.word(written) or "optim_grads_params"
        if word not in _SHARDING:
            line = entries.line(written)
            raise ConfigError(
                f"{reading.at(line)}: {written} {shown(word)} is not understood; known: "
                f"{', '.join(_SHARDING)}"
            )
        stage = _SHARDING[word]
    elif distributed:
        written, stage = "use_distributed_optimizer", 1
    elif any(name in optimizer for name in _SHARDED_OPTIMIZERS):
        written, stage = "optimizer_name", 1
    else:
        reading.assume("zero_stage", 0, "nothing in the file shares states over ranks")
        return
    reading.state("zero_stage", stage, line=entries.line(written), written=written)
    parts = entries.count("optimizer_instances", "num_distributed_optimizer_instances")
    note_copies(reading, parts, entries.line("num_distributed_optimizer_instances"))


def recompute(entries: Entries) -> None:
    """Note what is computed again.

    Args:
        entries: The file's keys.

    Raises:
        ConfigError: If a word is not understood.
    """
    reading = entries.reading
    keys = ("recompute_granularity", "activations_checkpoint_granularity", "recompute")
    kind, key = entries.word(*keys), keys[0]
    method = entries.word("recompute_method", "activations_checkpoint_method")
    number = entries.entry("recompute_num_layers", "activations_checkpoint_num_layers")
    # --deepspeed-activation-checkpointing alone says how checkpoints are kept, not that any are.
    old, how = "checkpoint_activations", "deepspeed_activation_checkpointing"
    keeps_ways = entries.flag(how)
    # Megatron-LM lets this flag replace what the granularity says.
    if entries.flag("recompute_activations"):
        kind, key = "selective", "recompute_activations"
    if not kind and entries.flag(old):
        kind, key = "full", old
    if not kind and method and reading.kind in METHOD_ALONE:
        kind, key = "full", "activations_checkpoint_method"
    modules = entries.entry("recompute_modules")
    if not kind:
        if not any(gap.startswith(keys) for gap in reading.missing):
            why = f"{how} without {old}" if keeps_ways else "nothing in the file asks for it"
            reading.assume("recompute", "none", why)
        return
    line = entries.line(key, *keys)
    if kind not in _GRANULARITY:
        raise ConfigError(
            f"{reading.at(line)}: {key} {shown(kind)} is not understood; known: selective, full"
        )
    if kind == "full" and method == "block" and number is not None:
        kind = kind if _block(entries, number) else "none"
    reading.state("recompute", kind, line=line, written=key)
    if kind != "selective" and modules is not None:
        entries.by_key.pop("recompute_modules")
        reading.notes.append("recompute_modules counts with selective recomputation alone")
    elif modules is not None and modules.known and "core_attn" not in str(modules.value):
        # The modules that are named, not attention's core.
        reading.facts.pop("recompute")
        reading.state("recompute", "none", line=modules.line, written=modules.written)


def _block(entries: Entries, number: Entry) -> bool:
    """Return whether layers are computed again; note how many of all chunks of a rank.

    References:
        megatronlm2026, megatron/core/recompute.py: recompute_method = block counts over
        num_layers_per_pipeline_rank, which transformer_block.py sets to the layers of one block,
        and each chunk of a rank is a block; MindSpeed's own switch counts the rank once.
    """
    reading = entries.reading
    layers = entries.count("recompute_layers", "recompute_num_layers", least=0)
    if layers is None:
        layers = entries.count("recompute_layers", "activations_checkpoint_num_layers", least=0)
    if layers:
        once = entries.flag("enable_recompute_layers_per_pp_rank")
        chunks = 1 if once else int(reading.value("vpp", 1))
        of = f"chunk, {chunks} chunks a rank," if chunks > 1 else "stage"
        reading.notes.append(
            f"recompute_method = block: {layers} layers of each {of} are computed again"
        )
        whole = layers * chunks
        if chunks > 1 and reading.model is not None:
            # More than a chunk holds is all of it.
            whole = min(whole, reading.model.num_layers)
        fact = Fact(name="recompute_layers", value=whole, line=number.line, written=number.written)
        reading.software_facts.append(fact)
    return layers != 0
