"""A training file of torchtitan."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate, pairwise, product
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
from steptime.planning.emit.architectures import architecture_of
from steptime.planning.emit.names import (
    check_expert_slices,
    headline,
    shared_copies,
    started,
)
from steptime.planning.emit.stages import stated_chunks
from steptime.planning.emit.words import only
from steptime.readers.common.stage_layers import EMBEDDING, HEAD, stage_ends
from steptime.readers.keys.reading import Reading

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
        ConfigError: If torchtitan has no such architecture, schedule, sharding or precision.
    """
    named = _flavor_lines(model)
    _check(layout, words)
    _check_chunks(layout)
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
        *named,
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


def _check(layout: Layout, words: Mapping[str, Any]) -> None:
    """Refuse what torchtitan has no key for, or does not start with."""
    if words.get("async_tp") and not words.get("compiled", True):
        raise ConfigError(
            "torchtitan cuts tensor-parallel messages only where it compiles; leave out "
            "--fact eager=1 or --fact overlap_tp=1"
        )
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


def _check_chunks(layout: Layout) -> None:
    """Refuse one chunk a device where torchtitan's schedule wants more.

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
    family, but = architecture_of(model)
    return [
        f"# no flavor of torchtitan's registry has these sizes, so add one to its {family}"
        f"{f', where {but}' if but else ''}: {sizes}",
        "# no key of it gives them: read it with --model",
    ]


def _parallelism(model: ModelShape, layout: Layout, batch: Batch) -> list[str]:
    """Return the lines of the section that cuts the model."""
    copies = shared_copies(layout, least=2)
    lines = [
        f"data_parallel_replicate_degree = {copies}",
        f"data_parallel_shard_degree = {layout.dp // copies}",
        f"tensor_parallel_degree = {layout.tp}",
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
            *_stages(model, layout),
        ]
    if model.experts:
        lines.append(f"expert_parallel_degree = {layout.ep}")
        lines.append(f"expert_tensor_parallel_degree = {layout.etp}")
    return lines


def _stages(model: ModelShape, layout: Layout) -> list[str]:
    """Return the lines that cut layers into stages: by numbers, or written out.

    References:
        torchtitan2025, torchtitan/distributed/pipeline_parallel.py: the ends count as layers too
        where the layers of a stage make their number.
    """
    chunks, found = layout.pp * layout.vpp, _less(model, layout)
    if found is None:
        return _written_out(stated_chunks(model, layout))
    whole = model.num_layers + sum(found)
    each = -(-whole // chunks)
    if layout.vpp > 1 and -(-whole // each) != chunks:
        return _written_out(stated_chunks(model, layout))
    ends = zip(("first", "last"), found, strict=True)
    lines = [f"pipeline_parallel_{end}_stage_less_layers = {less}" for end, less in ends]
    return [*lines, *([f"pipeline_parallel_layers_per_stage = {each}"] if layout.vpp > 1 else [])]


def _less(model: ModelShape, layout: Layout) -> tuple[int, int] | None:
    """Return for how many layers embedding and head count; None if no numbers cut as stated."""
    stated = {name: getattr(layout, name) for name in STAGE_FIELDS}
    if not any(stated.values()):
        counts = int(ends_count(float(model.num_layers), float(layout.pp * layout.vpp)))
        return counts, counts
    own = Reading(path="", kind="", model=model)
    for first, last in product(range(_MOST_LESS), repeat=2):
        own.facts.clear()
        own.state(EMBEDDING, first)
        own.state(HEAD, last)
        if stage_ends(own, layout.pp, layout.vpp, layout.schedule) == stated:
            return first, last
    return None


def _written_out(chunks: list[int]) -> list[str]:
    """Return the line that names the modules of each stage."""
    starts = [0, *accumulate(chunks)]
    parts = [[f"layers.{layer}" for layer in range(*ends)] for ends in pairwise(starts)]
    parts[0].insert(0, "tok_embeddings")
    parts[-1] += ["norm", "output"]
    return ["module_fqns_per_model_part = [", *(f"    {json.dumps(one)}," for one in parts), "]"]
