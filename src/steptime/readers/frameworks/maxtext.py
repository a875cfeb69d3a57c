"""Model, layout and batch from MaxText's keys: a mesh of axes within and across slices."""

from __future__ import annotations

import math
from pathlib import Path

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.readers.common.base_model import fill_from
from steptime.readers.common.batch import devices
from steptime.readers.common.framework_rules import FIXED_RANKS
from steptime.readers.common.shared_out import LONG_NAMES, note_copies
from steptime.readers.huggingface.named_model import named_model
from steptime.readers.keys.entries import Entries
from steptime.readers.keys.safe import shown
from steptime.readers.megatron.model import SHAPE, megatron_model

_AXES = ("data", "fsdp", "tensor", "pipeline", "context", "expert")
_OURS = {"tensor": "tp", "pipeline": "pp", "context": "cp", "expert": "ep"}


def rules(entries: Entries, folder: Path) -> None:
    """Note model, layout and batch in the reading.

    Args:
        entries: The file's keys.
        folder: Where the file lies.

    Raises:
        ConfigError: If an axis is left open twice, or sizes are absurd.

    References:
        maxtext2025, configs/base.yml and configs/types.py.
    """
    reading = entries.reading
    _model(entries, folder)
    devices(entries)
    _mesh(entries)
    _recompute(entries)
    _precision(entries)
    entries.count("seq_length", "seq_length")
    for name in ("pipeline_microbatches", "pipeline_repeats"):
        # MaxText's own file writes -1 for what it works out.
        found = entries.by_key.get(name, [])
        found[:] = [one for one in found if str(one.value).strip() != "-1"]
    _batch(entries)
    if reading.value("pp", 1) > 1:
        entries.count("vpp", "pipeline_repeats")


def _model(entries: Entries, folder: Path) -> None:
    """Read the shape of the sizes, or of the name; ``default`` is MaxText's own small model."""
    reading = entries.reading
    scale = entries.entry("global_parameter_scale")
    if scale is not None and str(scale.value) != "1":
        raise ConfigError(
            f"{reading.at(scale.line)}: global_parameter_scale = {shown(scale.value)}: sizes that "
            "are scaled together are not read; give the sizes"
        )
    activations = entries.entry("mlp_activations")
    gated = activations is None or "linear" in str(activations.value)
    entries.put("gated_linear_unit", gated, "mlp_activations")
    rows = entries.entry("position_rows")
    if rows is not None and str(rows.value).strip().isdigit() and str(rows.value) != "0":
        entries.put("position_embedding_type", "learned", rows.written)
        entries.put("max_position_embeddings", rows.value, rows.written)
    else:
        entries.put("position_embedding_type", "rope", "MaxText's decoder blocks")
    entries.put("should_pad_vocab", False, "MaxText pads nothing")
    if entries.word("attention_type") == "mla":
        entries.put("multi_latent_attention", True, "attention_type")
    _windows(entries)
    if any(entries.entry(size) is not None for size in SHAPE):
        _filled(entries, folder)
        entries.put("share_embeddings_and_output_weights", False, "MaxText's default")
        reading.model = megatron_model(entries, 1)
    else:
        reading.model = named_model(entries, folder, "model_name", "primus_model")
    if reading.model is None and not any(gap.startswith("model:") for gap in reading.missing):
        entries.ask("model", "the file gives neither its sizes nor model_name")


def _filled(entries: Entries, folder: Path) -> None:
    """Put in the sizes that a file leaves out: the named model's, or those of MaxText's own."""
    name = entries.word("model_name")
    if not name or name == "default":
        for key, value in data_table("formats/maxtext.toml")["sizes"].items():
            if entries.entry(key) is None:
                entries.put(key, value, "MaxText's default")
        return
    base = named_model(entries, folder, "model_name")
    if base is not None:
        fill_from(entries, base)
        entries.reading.notes.append(
            f"model_name = {name}: its sizes count where the file gives none; MaxText keeps all "
            "of them without override_model_config"
        )


def _windows(entries: Entries) -> None:
    """Take a window where the decoder's block or the kind of attention has one."""
    every, _, parts = entries.word("decoder_block").partition("/")
    layers = entries.entry("num_layers")
    if parts not in ("", "1") and layers is not None and str(layers.value).isdigit():
        whole = int(str(layers.value)) * int(parts)
        entries.by_key["num_layers"] = []
        entries.put("num_layers", whole, f"{layers.written} of {parts} layers each")
    if entries.word("attention_type") == "windows":
        if entries.entry("window_tokens") is None:
            entries.ask("window_tokens", "attention_type = local_sliding without its size")
    elif every not in ("", "0"):
        # One layer of the block's cycle attends to all keys.
        entries.put("window_attn_skip_freq", int(every), "decoder_block")
    else:
        entries.by_key.pop("window_tokens", None)


def _mesh(entries: Entries) -> None:
    """Note the axes; the one that is -1 takes what the others leave."""
    reading = entries.reading
    sizes, is_open = _axes(entries)
    for axis, ours in _OURS.items():
        key, names = f"ici or dcn {axis}", LONG_NAMES[ours]
        if entries.count(ours, names) is None and sizes[axis] > 1:
            reading.state(ours, sizes[axis], written=key)
        elif any(name.endswith(axis) for name in is_open) and entries.entry(names) is None:
            entries.ask(ours, f"the {axis} axis takes what the launcher gives")
    # An axis that nobody sets is 1, but for the two that MaxText leaves open.
    open_fsdp = any("fsdp" in name for name in is_open) or "ici_fsdp" not in entries.by_key
    experts = reading.value("ep", 1) > 1 or any("expert" in name for name in is_open)
    shards = sizes["fsdp"] > 1 or open_fsdp or experts
    why = "the fsdp and expert axes share weights" if shards else "no fsdp axis"
    reading.assume("zero_stage", 3 if shards else 0, why)
    if reading.value("tp", 1) > 1:
        reading.assume("sequence_parallel", False, "the tensor axis does not cut the sequence")
    if shards and not any(name.endswith("data") for name in is_open):
        note_copies(reading, sizes["data"], written="ici x dcn data")
    if is_open or open_fsdp:
        if reading.value("num_gpus") is None:
            entries.ask("num_gpus", "an axis of the mesh takes what the launcher gives")
        fixed = math.prod(sizes.values())
        if fixed > 1:
            reading.assume(FIXED_RANKS, fixed, "what the mesh's other axes multiply to")
        return
    # The expert axis is one of data for all but experts.
    dp = sizes["data"] * sizes["fsdp"] * sizes["expert"]
    if reading.value("num_gpus") is None:
        reading.state("dp", dp, written="data x fsdp x expert")
        reading.missing[:] = [gap for gap in reading.missing if not gap.startswith("num_gpus")]


def _axes(entries: Entries) -> tuple[dict[str, int], list[str]]:
    """Return the size of each axis within and across slices together, and which are open."""
    sizes: dict[str, int] = {}
    is_open: list[str] = []
    for axis in _AXES:
        sizes[axis] = 1
        for part in ("dcn", "ici"):
            entry = entries.entry(f"{part}_{axis}")
            if entry is not None and str(entry.value).strip() == "-1":
                is_open.append(f"{part}_{axis}")
            else:
                sizes[axis] *= entries.count(f"{part}_{axis}", f"{part}_{axis}") or 1
    for part in ("dcn", "ici"):
        if len([name for name in is_open if name.startswith(part)]) > 1:
            raise ConfigError(
                f"{entries.reading.path}: more than one axis of {part} is -1: {', '.join(is_open)}"
            )
    return sizes, is_open


def _recompute(entries: Entries) -> None:
    reading = entries.reading
    entry = entries.entry("remat_policy")
    word = entries.word("remat_policy")
    if entry is None:
        return
    if word in ("offloaded", "custom"):
        raise ConfigError(
            f"{reading.at(entry.line)}: {entry.written}: a policy that keeps activations on the "
            "host, or one of its own, is not modelled"
        )
    if entry.line < 0:
        reading.assume("recompute", word, entry.written)
    else:
        reading.state("recompute", word, line=entry.line, written=entry.written)
    if word == "selective":
        reading.notes.append("remat_policy keeps most products; taken as the attention core alone")


def _precision(entries: Entries) -> None:
    reading = entries.reading
    low, plain = entries.word("quantization"), entries.word("dtype")
    reading.assume("precision", low or plain, "quantization" if low else "dtype")
    if not low and plain == "fp32":
        reading.notes.insert(0, "32 BITS: dtype asks for fp32; the time here is that of bf16")


def _batch(entries: Entries) -> None:
    """Note the batch: a device's share of it, of all devices, is what MaxText is given."""
    reading = entries.reading
    entry = entries.entry("per_device_batch_size")
    steps = entries.count("gradient_accumulation", "gradient_accumulation") or 1
    try:
        each = float(str(entry.value)[:20]) if entry is not None else 0.0
    except ValueError:
        each = 0.0
    if entry is None or not 0 < each < 1e9:
        entries.ask("micro_batch_size", "per_device_batch_size is not known")
        return
    # Ranks that share a replica see the same sequences.
    share = reading.value("tp", 1) * reading.value("cp", 1) * reading.value("pp", 1)
    rank = each * share
    if rank != int(rank) or not int(rank):
        raise ConfigError(
            f"{reading.at(entry.line)}: {entry.written} = {shown(entry.value)} makes {rank:g} "
            "sequences a replica, no whole number"
        )
    micro = int(rank)
    parts = entries.count("pipeline_microbatches", "pipeline_microbatches") if share > 1 else None
    if parts and reading.value("pp", 1) > 1 and micro % parts == 0:
        micro //= parts
        steps *= parts
    elif reading.value("pp", 1) > 1:
        stages = reading.value("pp", 1)
        if micro % stages == 0:
            micro, steps = micro // stages, steps * stages
    reading.assume("micro_batch_size", micro, f"{entry.written} x ranks of a replica")
    # Those of the pipeline count too: the file's own number, or its default, is a part of them.
    reading.facts.pop("gradient_accumulation", None)
    kept = [one for one in reading.assumptions if one.name != "gradient_accumulation"]
    reading.assumptions[:] = kept
    reading.assume("gradient_accumulation", steps, "micro-batches of a step")
