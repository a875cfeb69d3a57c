"""Model, layout and batch from a NeMo, Megatron-Bridge or Megatron-LM YAML file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from steptime.inputs.errors import ConfigError
from steptime.inputs.model import ModelShape
from steptime.inputs.presets import model as preset_model
from steptime.readers.entries import Entries, Entry
from steptime.readers.megatron_layout import megatron_layout
from steptime.readers.megatron_model import SHAPE, megatron_model
from steptime.readers.reading import Reading, where
from steptime.readers.safe import LARGEST_LAUNCH_BYTES, file_text, short
from steptime.readers.settings import check_settings, set_entries
from steptime.readers.yaml_lines import Leaf, yaml_leaves

_INTERPOLATION = re.compile(r"\$\{([^{}]*)\}")
_ASIDE = (
    "checkpoint",
    "ckpt",
    "exp_manager",
    "experiment",
    "logger",
    "optimizer",
    "optim",
    "profiling",
    "rng",
    "scheduler",
    "tokenizer",
    "validation_ds",
    "test_ds",
    "inference",
    "peft",
    "wandb",
)
"""Sections whose keys may share a name with a layout's but mean something else."""

_FROM_ASIDE = {
    ("optim", "name"): "optimizer_name",
    ("tokenizer", "type"): "tokenizer_type",
    ("tokenizer", "tokenizer_type"): "tokenizer_type",
    ("tokenizer", "library"): "library",
    ("tokenizer", "model"): "tokenizer_model",
    ("tokenizer", "tokenizer_model"): "tokenizer_model",
    ("tokenizer", "vocab_size"): "vocab_size",
}
_PRECISION = ("bf16", "fp16", "fp8", "fp8_recipe", "fp4", "fp4_recipe")
"""What a section ``mixed_precision`` sets for the model, whatever the model's own says."""

_MARKERS = ("tensor_model_parallel_size", "tp", "global_batch_size", "micro_batch_size", "gbs")


def read_nemo(path: str | Path, given: Mapping[str, str] | None = None) -> Reading:
    """Return what a NeMo, Megatron-Bridge or Megatron-LM YAML file says.

    Args:
        path: The file.
        given: Values for ``${NAME}`` that the launcher sets.

    Raises:
        ConfigError: If it is no such file, or its numbers contradict each other.
    """
    name = short(Path(path))
    text = file_text(path, most=LARGEST_LAUNCH_BYTES)
    leaves = yaml_leaves(text, name)
    reading = Reading(path=name, kind="nemo")
    settings = given or {}
    check_settings(settings, text, name)
    found = list(_entries(leaves, settings))
    found += set_entries(settings)
    if not any(entry.key in (*_MARKERS, "num_layers") for entry in found):
        raise ConfigError(
            f"{name} has none of NeMo's or Megatron's keys, such as tensor_model_parallel_size"
        )
    entries = Entries(reading, found, last_wins=False)
    tp = entries.count("tp", "tensor_model_parallel_size", "tp") or 1
    reading.model = megatron_model(entries, tp) or _preset(entries)
    if reading.model is None and not any(size in reading.facts for size in SHAPE):
        reading.missing[:] = ["model: the file does not give its sizes"]
    megatron_layout(entries, steps_known=reading.model is not None)
    return reading


def _entries(leaves: list[Leaf], given: Mapping[str, str]) -> Iterator[Entry]:
    """Yield the leaves that may matter, with what they refer to put in."""
    by_path = {".".join(leaf.path): leaf.value for leaf in leaves}
    lists: dict[tuple[str, ...], tuple[list[object], int]] = {}
    has_mixed = any("mixed_precision" in leaf.path[:-1] for leaf in leaves)
    for leaf in leaves:
        parts = [part.lower() for part in leaf.path]
        if leaf.path and leaf.path[-1].isdigit():
            values, line = lists.setdefault(leaf.path[:-1], ([], leaf.line))
            values.append(leaf.value)
            continue
        if has_mixed and parts[-1] in _PRECISION and "mixed_precision" not in parts[:-1]:
            continue
        aside = next((part for part in parts[:-1] if part in _ASIDE), None)
        # Megatron-LM's own tests write the flags themselves as keys.
        key = parts[-1].lstrip("-").replace("-", "_")
        if aside is not None:
            renamed = _FROM_ASIDE.get((aside, key))
            if renamed is None:
                continue
            key = renamed
        value, known = _resolved(leaf.value, by_path, given)
        yield Entry(key, value, leaf.line, ".".join(leaf.path)[-80:], known)
    for path, (values, line) in lists.items():
        if path and not any(part.lower() in _ASIDE for part in path):
            yield Entry(path[-1].lower(), values, line, ".".join(path)[-80:])


def _resolved(
    value: object, by_path: Mapping[str, object], given: Mapping[str, str]
) -> tuple[object, bool]:
    """Return a value with its ``${...}`` put in, and whether that could be done."""
    for _ in range(8):
        if not isinstance(value, str) or "${" not in value:
            return value, True
        match = _INTERPOLATION.search(value[:1000])
        if match is None:
            return value, False
        inner = match[1].strip()
        if inner.startswith("oc.env:"):
            variable, comma, default = inner[len("oc.env:") :].partition(",")
            inner = variable.strip()
            found: object = given.get(inner, default.strip() if comma else None)
        else:
            found = given.get(inner, by_path.get(inner))
        if found is None:
            return value, False
        if match[0] == value:
            value = found
        else:
            value = (value[: match.start()] + str(found) + value[match.end() :])[:1000]
    return value, False


def _preset(entries: Entries) -> ModelShape | None:
    """Return the known shape that ``hf_model_id`` names, if it does."""
    entry = entries.entry("hf_model_id", "hf_path", "model_id")
    if entry is None or not entry.known:
        return None
    try:
        shape = preset_model(str(entry.value)[:200].rsplit("/", 1)[-1])
    except ConfigError:
        return None
    entries.reading.assume("model", shape.name, f"{entry.written} on {where(entry.line)}")
    return shape
