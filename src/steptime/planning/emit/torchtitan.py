"""A training file of torchtitan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from steptime.formulas.schedule_rules import chunks_held
from steptime.formulas.schedules.registry import place_of
from steptime.formulas.validity import ends_count
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import STAGE_FIELDS, Batch, Layout
from steptime.inputs.model import ModelShape
from steptime.inputs.presets import model as preset_model
from steptime.inputs.presets import model_from_entry
from steptime.pipeline.schedules import SCHEDULES as ALL
from steptime.planning.emit.names import (
    check_expert_slices,
    headline,
    shared_copies,
    started,
)
from steptime.planning.emit.words import only
from steptime.readers.reading import Reading
from steptime.readers.stage_layers import EMBEDDING, HEAD, stage_ends

SCHEDULES = {entry.name: entry.torchtitan for entry in ALL.values() if entry.torchtitan}
_WORDS = {
    "reduce_type": "mixed_precision_reduce",
    "async_tp": "enable_async_tensor_parallel",
    "cp_rotate": "context_parallel_rotate_method",
    "dispatcher": "expert_parallel_comm_backend",
}
_MOST_LESS = 9
"""Layers that an end may count for, less one, where a split is looked for."""
_CONVERTERS = {"bf16": "", "fp8": "float8", "mxfp8": "mx"}


def torchtitan_toml(
    model: ModelShape, layout: Layout, batch: Batch, words: Mapping[str, Any], node_size: int
) -> str:
    """Return the file.

    Args:
        model: The shape; one that torchtitan's registry has is named by its flavor.
        layout: The layout.
        batch: The batch.
        words: What the file says of its software, by our name of the key.
        node_size: GPUs of a server.

    Raises:
        ConfigError: If torchtitan has no such schedule, sharding or precision.
    """
    _check(layout)
    _check_chunks(model, layout)
    _check_shared(model, layout)
    if layout.ep == 1:
        instead = f"choose a layout with --etp {layout.tp}, or with ep > 1"
        check_expert_slices("torchtitan without expert ranks", model, layout, instead)
    local = batch.micro_batch_size
    if layout.pp > 1:
        local = batch.global_batch_size // layout.dp
    converter = _CONVERTERS[layout.precision]
    kept = ['selective_ac_option = "op"'] if layout.recompute == "selective" else []
    lines = [
        f"# {headline(model, layout)}",
        started(layout, node_size),
        "[model]",
        *_flavor_lines(model),
        *([f'converters = ["{converter}"]'] if converter else []),
        "",
        "[training]",
        f"local_batch_size = {local}",
        f"global_batch_size = {batch.global_batch_size}",
        f"seq_len = {batch.seq_length}",
        *_said(words, "reduce_type"),
        "",
        "[parallelism]",
        *_parallelism(model, layout, batch),
        *_said(words, "async_tp", "cp_rotate", "dispatcher"),
        "",
        "[activation_checkpoint]",
        f'mode = "{layout.recompute}"',
        *kept,
        "",
        "[compile]",
        f"enable = {str(words.get('compiled', True)).lower()}",
    ]
    return "\n".join(lines) + "\n"


def _said(words: Mapping[str, Any], *keys: str) -> list[str]:
    """Return the lines of some keys that say something of the software."""
    lines = []
    for key, word in only(words, keys).items():
        shown = str(word).lower() if isinstance(word, bool) else f'"{word}"'
        lines.append(f"{_WORDS[key]} = {shown}")
    return lines


def _check(layout: Layout) -> None:
    """Refuse what torchtitan has no key for."""
    if layout.zero_stage == 1 and layout.dp > 1:
        raise ConfigError(
            "torchtitan has no ZeRO-1, a sharded optimizer beside whole gradients and weights; "
            "choose a layout with --zero 3, or with --zero 0 where it fits"
        )
    if layout.zero_stage > 1 and layout.shards == layout.cp == 1 < layout.dp:
        raise ConfigError(
            f"torchtitan shards nothing where copies take up all of dp={layout.dp}; choose fewer, "
            "or --zero 0"
        )
    if layout.precision not in _CONVERTERS:
        raise ConfigError(f"torchtitan has no precision={layout.precision!r}; use bf16 or fp8")


def _check_chunks(model: ModelShape, layout: Layout) -> None:
    """Refuse chunks that torchtitan's layers of a stage do not make.

    References:
        torchtitan2025, torchtitan/distributed/pipeline_parallel.py.
    """
    if layout.pp == 1 or chunks_held(float(place_of(layout.schedule))) == 1.0:
        return
    if layout.vpp == 1:
        raise ConfigError(
            f"torchtitan's {SCHEDULES[layout.schedule]} wants two chunks a device or more; choose "
            "a larger vpp, or another schedule"
        )
    made = -(-model.num_layers // (layout.pp * _layers_each(model, layout)))
    if made != layout.vpp:
        raise ConfigError(
            f"torchtitan counts layers of a stage, and {_layers_each(model, layout)} each make "
            f"vpp={made}, not {layout.vpp}; choose vpp={made}"
        )


def _check_shared(model: ModelShape, layout: Layout) -> None:
    """Refuse sharing over other ranks than torchtitan's: shards times context ranks.

    References:
        torchtitan2025, torchtitan/distributed/parallel_dims.py (fsdp_enabled).
    """
    alone = layout.dp * layout.cp == 1 and layout.zero_stage > 0
    if alone and model.experts and layout.tp > layout.etp:
        raise ConfigError(
            "torchtitan shares nothing on one data-parallel rank, and experts lie whole on "
            f"tp={layout.tp} ranks; choose --zero 0"
        )


def _layers_each(model: ModelShape, layout: Layout) -> int:
    return -(-model.num_layers // (layout.pp * layout.vpp))


def flavor_of(model: ModelShape) -> tuple[str, str] | None:
    """Return the name and flavor of torchtitan's registry that has this shape; None if none has.

    Args:
        model: The shape.
    """
    plain = replace(model, name="", source="")
    for family, flavors in data_table("torchtitan_flavors.toml").items():
        for flavor, known in flavors.items() if isinstance(flavors, dict) else ():
            shape = (
                preset_model(known)
                if isinstance(known, str)
                else model_from_entry({"name": "", **known})
            )
            if replace(shape, name="", source="") == plain:
                return family, flavor
    return None


def _flavor_lines(model: ModelShape) -> list[str]:
    """Return the lines that name the model, or say what a flavor of it has."""
    known = flavor_of(model)
    if known is not None:
        return [f'name = "{known[0]}"', f'flavor = "{known[1].upper()}"']
    sizes = (
        f"num_layers {model.num_layers}, hidden_size {model.hidden_size}, ffn_hidden_size "
        f"{model.ffn_hidden_size}, heads {model.num_attention_heads}, groups "
        f"{model.num_query_groups}, vocab_size {model.vocab_size}"
    )
    return [
        f"# no flavor of torchtitan's registry has these sizes, so add one: {sizes}",
        "# no key of it gives them: read it with --model",
    ]


def _parallelism(model: ModelShape, layout: Layout, batch: Batch) -> list[str]:
    """Return the lines of the section that cuts the model."""
    copies = shared_copies(layout, least=2)
    whole = layout.tp > 1 and not layout.sequence_parallel
    lines = [
        f"data_parallel_replicate_degree = {copies}",
        f"data_parallel_shard_degree = {layout.dp // copies}",
        f"tensor_parallel_degree = {layout.tp}",
        *(["enable_sequence_parallel = false"] if whole else []),
        f"context_parallel_degree = {layout.cp}",
        f"pipeline_parallel_degree = {layout.pp}",
    ]
    if layout.zero_stage > 1:
        after = "always" if layout.zero_stage == 3 else "never"
        lines.append(f'fsdp_reshard_after_forward = "{after}"')
    if layout.pp > 1:
        lines += [
            f'pipeline_parallel_schedule = "{SCHEDULES[layout.schedule]}"',
            f"pipeline_parallel_microbatch_size = {batch.micro_batch_size}",
            *_ends(model, layout),
        ]
    if layout.vpp > 1:
        each = _layers_each(model, layout)
        lines.append(f"pipeline_parallel_layers_per_stage = {each}")
    if model.experts:
        lines.append(f"expert_parallel_degree = {layout.ep}")
        lines.append(f"expert_tensor_parallel_degree = {layout.etp}")
    return lines


def _ends(model: ModelShape, layout: Layout) -> list[str]:
    """Return the lines that say for how many layers embedding and head count.

    Raises:
        ConfigError: If no two counts cut layers as the layout does.
    """
    stated = {name: getattr(layout, name) for name in STAGE_FIELDS}
    chunks = layout.pp * layout.vpp
    if not any(stated.values()):
        counts = int(ends_count(float(model.num_layers), float(chunks)))
        found = (counts, counts)
    else:
        own = Reading(path="", kind="", model=model)
        tried = ((first, last) for first in range(_MOST_LESS) for last in range(_MOST_LESS))
        for found in tried:
            own.facts.clear()
            own.state(EMBEDDING, found[0])
            own.state(HEAD, found[1])
            if stage_ends(own, layout.pp, layout.vpp, layout.schedule) == stated:
                break
        else:
            told = ", ".join(f"{name}={value}" for name, value in stated.items())
            raise ConfigError(
                f"torchtitan cuts layers by how many the ends count for, which does not give "
                f"{told}; choose a layout without it, or emit megatron"
            )
    ends = zip(("first", "last"), found, strict=True)
    return [f"pipeline_parallel_{end}_stage_less_layers = {less}" for end, less in ends]
