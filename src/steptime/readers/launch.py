"""From the keys of a launch file, under our names, to a reading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from steptime.readers.common.base_model import fill_from
from steptime.readers.common.batch import batch, devices
from steptime.readers.common.class_names import class_model
from steptime.readers.common.settings import set_entries
from steptime.readers.common.software_facts import software_facts
from steptime.readers.common.stops import check_stops
from steptime.readers.frameworks import gpt_neox, maxtext, nanotron
from steptime.readers.frameworks.nemo_recipe import library_recipe
from steptime.readers.huggingface.named_model import named_model
from steptime.readers.keys.beside import deepspeed_settings
from steptime.readers.keys.classes import (
    refuse_by_name,
    refuse_experts,
    refuse_program,
    tell_unused,
)
from steptime.readers.keys.entries import Entries, Entry
from steptime.readers.keys.formats import Format
from steptime.readers.keys.reading import COMMAND_LINE, Reading
from steptime.readers.megatron.kernels import kernels
from steptime.readers.megatron.layout import SIZES, megatron_layout
from steptime.readers.megatron.model import SHAPE, megatron_model
from steptime.readers.megatron.stages import noop_layers
from steptime.readers.torchtitan import rules as torchtitan
from steptime.readers.trainers.own_defaults import sixteen_bit_states, word_pieces
from steptime.readers.trainers.rules import prepare
from steptime.readers.trainers.sharded import BF16_SHARDS, bf16_shards, sharded_layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One launch file, cut into keys.

    Attributes:
        path: The file.
        name: What to call it.
        form: Its format.
        entries: Its keys under our names.
        given: What its user sets.
        notes: What was noted while it was cut.
        is_command: Whether a later key replaces an earlier one, as on a command line.
        program: The words that start the program; empty for a file of keys.
        files: Texts that a script writes, by name.
    """

    path: Path
    name: str
    form: Format
    entries: Iterable[Entry]
    given: Mapping[str, str]
    notes: list[str] = field(default_factory=list)
    is_command: bool = False
    program: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


def launch_reading(source: Source) -> tuple[Reading, set[str]]:
    """Return what a launch file says, and every name that was asked for.

    Args:
        source: The file.

    Raises:
        ConfigError: If it asks for what is not modelled, or contradicts itself.
    """
    form = source.form
    reading = Reading(path=source.name, kind=form.kind, title=form.title, software=form.software)
    found = [*source.entries, *set_entries(source.given, form)]
    entries = Entries(
        reading,
        found,
        last_wins=source.is_command,
        values=form.values,
        refused=form.refused_words,
    )
    entries.files = source.files
    for key, value in form.defaults.items():
        if entries.entry(key) is None:
            meant = form.values.get(key, {}).get(str(value).strip().lower(), value)
            entries.put(key, meant, f"{form.title}'s default")
    entries.asked.clear()
    library_recipe(entries)
    refuse_by_name(entries, form)
    refuse_program(source.program, form, source.name)
    RULES.get(form.kind, _megatron)(entries, source.path.parent)
    check_stops(entries, form)
    software_facts(entries, form)
    refuse_experts(entries)
    tell_unused(entries, form)
    reading.notes.extend(source.notes)
    return reading, entries.asked


def _megatron(entries: Entries, folder: Path) -> None:
    """Note model, layout and batch of Megatron-LM and what shares its names."""
    reading = entries.reading
    noop_layers(entries)
    word_pieces(entries)
    if reading.kind == "megatron-deepspeed":
        deepspeed_settings(entries, folder)
    tp = entries.count("tp", *dict(SIZES)["tp"]) or 1
    if reading.kind == "primus":
        _changed_model(entries, folder)
    _class_s_model(entries)
    reading.model = reading.model or megatron_model(entries, tp) or named_model(entries, folder)
    is_whole = reading.model is not None
    if not is_whole and not any(size in reading.facts for size in SHAPE):
        asked = [gap for gap in reading.missing if gap.startswith("model:")]
        reading.missing[:] = asked or ["model: the file does not give its sizes"]
    named = bool(entries.by_key.get("recipe_name"))
    known = reading.kind not in RECIPES or (is_whole and not named)
    megatron_layout(entries, steps_known=known)
    _ask_of_optimizer(entries)
    sized = any(size in reading.facts for size in SHAPE)
    _ask_of_recipe(entries, is_named=named or not (known or sized))
    kernels(entries)
    batch(entries, default_steps="" if reading.kind in RECIPES else "Megatron-LM's default")
    devices(entries)
    is_bf16 = reading.value("precision") == "bf16"
    if reading.software in BF16_SHARDS and is_bf16 and not reading.value("zero_stage", 0):
        bf16_shards(entries)


def _ask_of_recipe(entries: Entries, *, is_named: bool) -> None:
    """Ask for what a recipe that is only named may have of its own, rather than assume it."""
    reading = entries.reading
    if not is_named:
        return
    told = {one.value for one in entries.by_key.get("recompute", [])}
    if "none" in told and "recompute" not in reading.facts:
        reading.assumptions[:] = [one for one in reading.assumptions if one.name != "recompute"]
        reading.state("recompute", "none", line=COMMAND_LINE, written="--set recompute")
    said = any(one.line > 0 for key in _RECOMPUTED for one in entries.by_key.get(key, []))
    asked = ("zero_stage",) if said else ("zero_stage", "recompute")
    open_ones = [one.name for one in reading.assumptions if one.name in asked]
    reading.assumptions[:] = [one for one in reading.assumptions if one.name not in open_ones]
    cut = reading.value("tp", 1) > 1 and not entries.by_key.get("sequence_parallel")
    for name in (*open_ones, *(["sequence_parallel"] if cut else [])):
        entries.ask(name, "the recipe that this file changes may have its own")


_RECOMPUTED = ("recompute_granularity", "activations_checkpoint_granularity")


def _ask_of_optimizer(entries: Entries) -> None:
    """Ask whether states are shared where an optimizer of its own stands in another file."""
    reading = entries.reading
    if entries.by_key.get("optimizer_name") or not entries.by_key.get("recipe_kind"):
        return
    kept = [one for one in reading.assumptions if one.name != "zero_stage"]
    if len(kept) < len(reading.assumptions):
        reading.assumptions[:] = kept
        entries.ask("zero_stage", "the file does not give its optimizer")


def _changed_model(entries: Entries, folder: Path) -> None:
    """Start from the model that a file names where it gives single sizes of its own."""
    sizes = [
        size for size in (*SHAPE, "num_experts", "ffn_hidden_size") if entries.by_key.get(size)
    ]
    if not sizes or not entries.by_key.get("primus_model"):
        return
    base = named_model(entries, folder, "primus_model")
    if base is not None:
        fill_from(entries, base)
        return
    # Its own file of the model may say what this one leaves out, such as the width of a head.
    for size in SHAPE:
        entries.by_key.pop(size, None)


def _class_s_model(entries: Entries) -> None:
    """Take what a class of a model leaves to its tokenizer from the model that it stands for."""
    entry = entries.entry("model_class")
    base = class_model(str(entry.value)) if entry is not None and entry.known else None
    if any(entries.by_key.get(size) for size in SHAPE):
        if base is not None:
            fill_from(entries, base)
        # A size that is not known may be another than the class's.
        entries.by_key.pop("model_class", None)


RECIPES = ("nemo", "nemo2", "megatron-bridge", "primus")
"""Formats that may hold only what differs from a recipe."""


def _sharded(entries: Entries, folder: Path) -> None:
    """Note model, layout and batch of software that shares states over ranks."""
    reading = entries.reading
    prepare(entries)
    _class_s_model(entries)
    reading.model = megatron_model(entries, 1) or named_model(entries, folder)
    if reading.model is None and not any(gap.startswith("model:") for gap in reading.missing):
        sized = any(size in reading.facts for size in SHAPE)
        why = "its sizes are not all given" if sized else f"{reading.title} names none"
        entries.ask("model", why)
    sharded_layout(entries, folder)
    sixteen_bit_states(entries)


RULES: Mapping[str, Callable[[Entries, Path], None]] = {
    **dict.fromkeys(
        (
            "deepspeed",
            "accelerate",
            "trainer",
            "ms-swift",
            "llama-factory",
            "llama-factory-1",
            "mindspeed-fsdp2",
            "axolotl",
            "litgpt",
            "llm-foundry",
            "olmo",
            "olmo-core",
        ),
        _sharded,
    ),
    "gpt-neox": gpt_neox.rules,
    "nanotron": nanotron.rules,
    "torchtitan": torchtitan.rules,
    "maxtext": maxtext.rules,
}
"""How each format is read; Megatron-LM's way where none is named."""
