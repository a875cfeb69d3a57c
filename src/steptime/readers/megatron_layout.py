"""Layout from Megatron-LM's names, which its forks, NeMo and Megatron-Bridge share."""

from __future__ import annotations

from steptime.inputs.errors import ConfigError
from steptime.readers.entries import Entries
from steptime.readers.megatron_experts import NUMBER
from steptime.readers.patterns import stages_of
from steptime.readers.precision import precision
from steptime.readers.safe import shown

SIZES = (
    ("tp", ("tensor_model_parallel_size", "tensor_parallel", "tp", "model_parallel_size")),
    ("cp", ("context_parallel_size", "cp")),
    ("pp", ("pipeline_model_parallel_size", "pp")),
    ("ep", ("expert_model_parallel_size", "ep", "moe_expert_parallel_size")),
)
_SHARDING = {"no_shard": 0, "optim": 1, "optim_grads": 2, "optim_grads_params": 3}
_SHARDED_OPTIMIZERS = ("distributed_fused_adam", "mcore_distributed_optim", "megatron_distributed")
_GRANULARITY = ("selective", "full")
_SCHEDULES = {"dualpipev": "dualpipe-v"}
_SWITCHED = {
    "enable_zbh1_pipeline": ("zb-h1", 1),
    "enable_zbh1_exact_semantics": ("zb-h1", 1),
    "zero_bubble_v_schedule": ("zb-v", 2),
}
"""Switches that choose a schedule, and the chunks that it has."""


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
        if entries.count(name, *keys) is None and not any(
            text.startswith(f"{name}:") for text in reading.missing
        ):
            why = (
                "the software's default"
                if steps_known
                else "not in this file; a recipe's may differ"
            )
            if name in ("tp", "pp") or not steps_known:
                reading.assume(name, 1, why)
    if entries.count("etp", "expert_tensor_parallel_size", "etp") is None:
        tp = reading.value("tp", 1)
        experts = reading.value("ep", 1) > 1 or entries.entry(*NUMBER) is not None
        if experts and tp > 1:
            reading.assume("etp", tp, "Megatron-LM's default is tp")
    _chunks(entries)
    _stages(entries)
    sharding(entries)
    recompute(entries)
    precision(entries)
    if entries.flag("sequence_parallel"):
        line = entries.line("sequence_parallel")
        if reading.value("tp", 1) > 1:
            reading.state("sequence_parallel", True, line=line, written="sequence_parallel")


def _chunks(entries: Entries) -> None:
    """Note the model chunks of a device, which Megatron-LM can give in four ways."""
    reading = entries.reading
    names = ("virtual_pipeline_model_parallel_size", "num_virtual_stages_per_pipeline_rank", "vp")
    chunks = entries.count("vpp", *names)
    each = entries.count("layers_per_chunk", "num_layers_per_virtual_pipeline_stage")
    stages = reading.value("pp", 1)
    if each is not None:
        layers = reading.value("layers_with_empty", reading.value("num_layers"))
        if layers is None:
            entries.ask("num_layers", "to turn layers per virtual stage into chunks")
            return
        line = entries.line("num_layers_per_virtual_pipeline_stage")
        if layers % (stages * each):
            raise ConfigError(
                f"{reading.at(line)}: {each} layers per virtual stage x pp = {stages} "
                f"do not divide num_layers = {layers}"
            )
        chunks = layers // (stages * each)
        reading.state("vpp", chunks, line=line, written="layers per virtual stage")
    entries.count(
        "microbatch_group",
        "microbatch_group_size_per_virtual_pipeline_stage",
        "microbatch_group_size_per_vp_stage",
    )
    cut = entries.entry("pipeline_model_parallel_layout")
    if cut is not None and cut.known:
        # Bars part the chunks of all stages.
        number = stages_of(cut.value)
        reading.state("uneven_stages", True, line=cut.line, written=cut.written)
        if number > 1 and number % stages == 0:
            chunks = number // stages
            reading.state("vpp", chunks, line=cut.line, written=cut.written)
    word = entries.word("schedules_method")
    if word in _SCHEDULES:
        reading.state("schedule", _SCHEDULES[word], line=entries.line("schedules_method"))
        reading.state("vpp", 2, line=entries.line("schedules_method"), written=word)
    elif word:
        line = entries.line("schedules_method")
        raise ConfigError(f"{reading.at(line)}: schedules_method {shown(word)} is not modelled")
    elif any(entries.flag(name) for name in _SWITCHED):
        name = next(name for name in _SWITCHED if entries.flag(name))
        schedule, held = _SWITCHED[name]
        reading.state("schedule", schedule, line=entries.line(name), written=name)
        if held > 1:
            reading.facts.pop("vpp", None)
            reading.state("vpp", held, line=entries.line(name), written=name)
    elif chunks is not None and chunks > 1:
        reading.assume("schedule", "interleaved-1f1b", "several chunks a device")


def _stages(entries: Entries) -> None:
    """Note what of a file says that layers need not divide over the stages."""
    reading = entries.reading
    ends = sum(
        entries.flag(f"account_for_{end}_in_pipeline_split") for end in ("embedding", "loss")
    )
    method = entries.word("pp_partition_method")
    if "embedding" in method:
        ends = 2
    if ends:
        line = entries.line("pp_partition_method", "account_for_embedding_in_pipeline_split")
        reading.state("counted_ends", ends, line=line, written="ends that count as a layer")
    for name in (
        "decoder_first_pipeline_num_layers",
        "decoder_last_pipeline_num_layers",
        "num_layers_in_first_pipeline_stage",
        "num_layers_in_last_pipeline_stage",
        "num_layer_list",
    ):
        if name in entries.by_key and any(one.value for one in entries.by_key[name]):
            line = entries.by_key[name][-1].line
            reading.state("uneven_stages", True, line=line, written="stages")


def noop_layers(entries: Entries) -> None:
    """Take away the layers that only fill up stages.

    Args:
        entries: The file's keys.
    """
    entry = entries.entry("noop_layers")
    layers = entries.entry("num_layers")
    if entry is None or layers is None or not entry.known or not str(layers.value).isdigit():
        return
    empty = len([word for word in str(entry.value).split(",") if word.strip()])
    real = int(str(layers.value)) - empty
    entries.by_key["num_layers"] = []
    entries.put("num_layers", real, f"{layers.value} less {empty} that do nothing")
    entries.reading.state("uneven_stages", True, line=entry.line, written=entry.written)
    entries.reading.state("layers_with_empty", int(str(layers.value)), line=entry.line)


def sharding(entries: Entries) -> None:
    """Note what data-parallel ranks share.

    Args:
        entries: The file's keys.
    """
    reading = entries.reading
    kind = entries.word("optimizer")
    if kind and "adam" not in kind:
        reading.notes.append(f"optimizer = {kind}: its states are taken as Adam's")
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
        written, stage = "use_torch_fsdp2", 3
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
    if parts and parts > 1:
        reading.state(
            "dp_replicate", parts, line=entries.line("num_distributed_optimizer_instances")
        )
        reading.notes.append(
            f"states are sharded inside each of {parts} groups of data-parallel ranks"
        )


def recompute(entries: Entries) -> None:
    """Note what is computed again.

    Args:
        entries: The file's keys.

    Raises:
        ConfigError: If a word is not understood.
    """
    reading = entries.reading
    keys = ("recompute_granularity", "activations_checkpoint_granularity")
    kind, key = entries.word(*keys), keys[0]
    method = entries.word("recompute_method", "activations_checkpoint_method")
    number = entries.entry("recompute_num_layers", "activations_checkpoint_num_layers")
    old = ("checkpoint_activations", "deepspeed_activation_checkpointing")
    if not kind and entries.flag("recompute_activations"):
        kind, key = "selective", "recompute_activations"
    if not kind and any([entries.flag(name) for name in old]):
        kind, key = "full", old[0]
    modules = entries.entry("recompute_modules")
    if not kind:
        if not any(gap.startswith(keys) for gap in reading.missing):
            reading.assume("recompute", "none", "nothing in the file asks for it")
        return
    line = entries.line(key, *keys)
    if kind not in _GRANULARITY:
        raise ConfigError(
            f"{reading.at(line)}: {key} {shown(kind)} is not understood; known: selective, full"
        )
    if kind == "full" and method == "block" and number is not None:
        reading.notes.append(
            f"recompute_method = block: {shown(number.value)} layers of each stage are computed "
            "again; taken as all of them"
        )
    reading.state("recompute", kind, line=line, written=key)
    if kind == "selective" and modules is not None:
        reading.notes.append(
            f"recompute_modules = {shown(modules.value)} is taken as the attention core alone"
        )
