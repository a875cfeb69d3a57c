"""Model, layout and batch from torchtitan's keys."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import model as preset_model
from steptime.inputs.presets import model_from_entry
from steptime.readers.common.batch import devices
from steptime.readers.common.shared_out import LONG_NAMES, cut_as_tensors, stated, stated_copies
from steptime.readers.huggingface.named_model import ask_for_shape, named_model
from steptime.readers.keys.entries import Entries
from steptime.readers.keys.predict_line import predict_line
from steptime.readers.keys.safe import shown
from steptime.readers.torchtitan.loss import loss_facts
from steptime.readers.torchtitan.stages import PIPELINE, stages
from steptime.readers.trainers.sharded import some_layers


def rules(entries: Entries, folder: Path) -> None:
    """Note model, layout and batch in the reading.

    Args:
        entries: The file's keys.
        folder: Where the file lies; a checkpoint's ``config.json`` may be beside it.

    Raises:
        ConfigError: If a word is not understood or sizes are absurd.
    """
    _registry(entries)
    loss_facts(entries, stated(entries, "tp")["tp"])
    parts = entries.entry("compiled_parts")
    if parts is not None and "model" not in str(parts.value) and entries.flag("compiled"):
        entries.by_key.pop("compiled")
        entries.put("compiled", False, f"{parts.written}: not the model")
    entries.reading.model = _of_assets(entries, folder) or _of_flavor(entries)
    _layout(entries)
    _experts(entries)
    _recompute(entries)
    _precision(entries)
    _batch(entries)


def _registry(entries: Entries) -> None:
    """Put the words of torchtitan's registry in Python into those of its TOML files.

    Its batches are counted in tokens, a micro-batch of the pipeline apart from the others.
    """
    start = entries.entry("recipe_kind")
    if start is not None and not str(start.value).endswith("Config"):
        # What is only changed here, and says most, stands elsewhere.
        raise ConfigError(
            f"{entries.reading.path}: its recipe starts from {shown(start.value)}, which is not "
            "beside it: explain it inside its own checkout, or ask: " + predict_line()
        )
    kind = entries.entry("recompute_kind")
    if kind is not None and kind.value:
        entries.put("recompute_mode", kind.value, kind.written, kind.line)
        if kind.value == "selective":
            why = "every second product is computed again"
            entries.put("recompute_option", "op", why, kind.line)
    tokens, length = entries.entry("micro_tokens"), entries.entry("seq_length")
    if tokens is None or length is None or not (tokens.known and length.known):
        return
    each, whole = int(str(length.value)), int(str(tokens.value))
    micro = max(1, whole // each)
    if whole % each:
        entries.reading.notes.append(f"{tokens.written} = {whole} is no whole sequence; cut down")
    stages = entries.entry("pipeline_model_parallel_size")
    count = entries.entry("pipeline_count") if stages is not None and stages.value != 1 else None
    passes = int(str(count.value)) if count is not None and count.known else 1
    entries.put("local_batch_size", micro * passes, f"{tokens.written} / the context length")
    total = entries.entry("step_tokens")
    if total is not None and total.known and str(total.value).isdigit():
        entries.put("global_batch_size", int(str(total.value)) // each, total.written)


def _of_assets(entries: Entries, folder: Path) -> Any:
    """Return the shape of the checkpoint's folder, if it is here."""
    assets = entries.entry("assets")
    if assets is None or not (folder / str(assets.value)[:300] / "config.json").is_file():
        return None
    return named_model(entries, folder, "assets")


def _of_flavor(entries: Entries) -> Any:
    """Return the shape of a flavor of torchtitan's registry."""
    family, flavor = entries.word("model_name"), entries.word("flavor")
    if not family and entries.entry("primus_model") is not None:
        return named_model(entries, Path(), "primus_model")
    if entries.entry("hf_model_id") is not None:
        # A backend for any model of transformers, whose flavor says how much of it is built.
        if flavor in ("", "full"):
            return named_model(entries, Path(), "hf_model_id")
        entries.ask("model", f"flavor {flavor} builds a part of a model")
        return None
    if not family:
        entries.ask("model", "the file names none, with model.name and model.flavor")
        return None
    table = data_table("torchtitan_flavors.toml")
    names = {one.name for found in entries.by_key.values() for one in found}
    older = sorted(names.intersection(table["older_keys"]))
    if older and f"{family} {flavor}" in table["changed"]:
        entries.ask("model", f"{family} {flavor} had other sizes when {older[0]} was a key")
        return None
    # Variants of a flavor differ in how attention is computed, not in sizes.
    for ending in ("", *table["variants"]):
        known = table.get(family, {}).get(flavor.removesuffix(ending) if ending else flavor)
        if known is not None and (not ending or flavor.endswith(ending)):
            line = entries.line("flavor")
            if isinstance(known, str):
                shape = preset_model(known)
            else:
                shape = model_from_entry({"name": f"{family} {flavor}", **known})
            entries.reading.assume("model", shape.name, f"model.name and flavor, line {line}")
            return shape
    written = f"model.name {family} {flavor}".rstrip()
    ask_for_shape(entries, family, written, entries.line("model_name"))
    return None


def _layout(entries: Entries) -> None:
    reading = entries.reading
    sizes = stated(entries, *(name for name in LONG_NAMES if name != "vpp"))
    tp, cp, pp = sizes["tp"], sizes["cp"], sizes["pp"]
    copies = stated_copies(entries)
    shards = entries.entry("dp_shard")
    gpus = entries.count("num_gpus", "num_gpus")
    if shards is None or str(shards.value).strip() == "-1":
        if gpus is None and entries.by_key.get("nproc_per_node"):
            devices(entries)
        elif gpus is None:
            entries.ask("num_gpus", "data_parallel_shard_degree = -1 takes what the launcher gives")
        count = None
    else:
        count = entries.count("dp_shard", "dp_shard") or 1
        reading.state("dp", copies * count, written="replicate x shard degree")
    after = entries.word("reshard")
    keeps = after == "never" or (after == "default" and pp > 1)
    if entries.word("dp_kind_word") == "ddp":
        reading.assume("zero_stage", 0, "data_parallel_type = ddp")
    # Context ranks share weights too, whatever the degree of shards.
    elif count != 1 or cp > 1:
        reading.assume("zero_stage", 2 if keeps else 3, f"fsdp_reshard_after_forward = {after}")
    if entries.entry("sequence_parallel") is not None:
        cut = entries.flag("sequence_parallel") and tp > 1
        reading.state("sequence_parallel", cut, line=entries.line("sequence_parallel"))
    elif tp > 1:
        reading.assume("sequence_parallel", True, "torchtitan's tensor parallelism includes it")
    if pp > 1:
        stages(entries)
    else:
        entries.asked.update(PIPELINE)


def _experts(entries: Entries) -> None:
    """Cut experts as the rest is cut where they are not shared out over ranks."""
    reading = entries.reading
    if reading.model is None or reading.model.experts is None or reading.value("ep", 1) > 1:
        return
    cut_as_tensors(reading, "expert_tensor_parallel_degree has no effect where ep = 1")


def _recompute(entries: Entries) -> None:
    """Note what is computed again: torchtitan's own selection is not Megatron-LM's."""
    reading = entries.reading
    mode, option = entries.word("recompute_mode"), entries.word("recompute_option")
    line = entries.line("recompute_mode")
    if mode != "selective":
        _note(entries, "recompute", mode or "none", line)
        # How layers would be chosen says nothing where none are.
        entries.by_key.pop("recompute_option", None)
        return
    if option in ("op", "") or line < 0:
        _note(entries, "recompute", "selective", line)
        if option == "op":
            reading.state("recompute_per_op", True, line=entries.line("recompute_option"))
            reading.notes.append(
                "selective_ac_option = op: every other matrix product is computed again, not the "
                "attention core alone"
            )
        return
    if not option.isdigit() or not int(option):
        line = entries.line("recompute_option")
        raise ConfigError(
            f"{reading.at(line)}: selective_ac_option = {shown(option)} is not understood; it is "
            "op or a number of layers"
        )
    every = int(option)
    _note(entries, "recompute", "full", line)
    told = entries.entry("recompute_option")
    # Told as a count of layers; the word that is a fact of its own is op.
    entries.by_key.pop("recompute_option")
    if every > 1 and told is not None:
        some_layers(reading, told, 1, every, from_first=False)


def _note(entries: Entries, name: str, value: str, line: int) -> None:
    if line < 0:
        entries.reading.assume(name, value, "torchtitan's default")
    else:
        entries.reading.state(name, value, line=line)


def _precision(entries: Entries) -> None:
    found = _converted(entries)
    word = entries.word("param_type")
    entries.entry("reduce_type")
    if entries.flag("eight_bits") or entries.word("eight_bits_word") not in ("", "none", "false"):
        found = found or "fp8"
    precision = found or word or "bf16"
    entries.reading.assume("precision", precision, "model.converters")
    if precision != "fp8":
        # What is cast before it is gathered counts with such products alone.
        entries.by_key.pop("gather_8_bits", None)
    if precision == "fp32":
        entries.reading.notes.insert(0, "32 BITS: mixed_precision_param asks for fp32")


def _converted(entries: Entries) -> str:
    """Return the precision that converters of the model make of its products; empty for none.

    Raises:
        ConfigError: If one trains another model, or is not known.
    """
    entry = entries.entry("converters")
    if entry is None or str(entry.value).strip() in ("", "[]", "false", "False"):
        return ""
    table = data_table("formats/torchtitan.toml")
    names = (
        entry.value
        if isinstance(entry.value, list)
        else re.split(r"[\s,\[\]'\"]+", str(entry.value))
    )
    at, found = entries.reading.at(entry.line), ""
    for name in [str(one)[:200].lower() for one in names[:50] if str(one)]:
        for wild, why in table["converters_refused"].items():
            if fnmatchcase(name, wild):
                raise ConfigError(f"{at}: {entry.written} = {shown(name)}: {why}")
        known = next(
            (its for wild, its in table["converters"].items() if fnmatchcase(name, wild)), None
        )
        if known is None:
            raise ConfigError(
                f"{at}: {entry.written} = {shown(name)} is not understood; known: "
                f"{', '.join(one.strip('*') for one in table['converters'])}"
            )
        found = found or known
        if known and name.endswith(".config"):
            entries.reading.notes.append(
                f"{entry.written} = {name}: every layer is taken in the low precision, whatever "
                "part of them it names"
            )
    return found


def _batch(entries: Entries) -> None:
    reading = entries.reading
    local = entries.count("local_batch_size", "local_batch_size")
    if entries.count("seq_length", "seq_length") is None:
        entries.ask("seq_length")
    if local is None:
        entries.ask("micro_batch_size")
        return
    micro = local
    if reading.value("pp", 1) > 1:
        count = entries.count("pipeline_count", "pipeline_count")
        micro = entries.count("pipeline_micro", "pipeline_micro") or 1
        if count and local % count == 0:
            micro = local // count
        if local % micro:
            raise ConfigError(
                f"{reading.path}: local batch {local} does not divide into micro-batches of {micro}"
            )
    reading.assume("micro_batch_size", micro, "local batch, cut by the pipeline if there is one")
    total = entries.entry("global_batch_size")
    if total is not None and str(total.value).strip() != "-1":
        entries.count("global_batch_size", "global_batch_size")
    else:
        reading.assume("gradient_accumulation", local // micro, "no global batch size: one pass")
