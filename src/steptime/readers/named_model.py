"""The model that a launch file names instead of describing: a folder beside it, or a preset."""

from __future__ import annotations

from pathlib import Path

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.model import ModelShape
from steptime.inputs.presets import model as preset_model
from steptime.readers.class_names import class_model
from steptime.readers.entries import Entries, Entry
from steptime.readers.huggingface import read_huggingface, shape_reading
from steptime.readers.reading import where
from steptime.readers.safe import json_object, shown

NAMES = (
    "hf_model_id",
    "hf_path",
    "model_id",
    "hf_pretrained_model_path",
    "primus_model",
    "model_class",
    "recipe_name",
)
"""Keys that name a model; the first that is set counts."""


def named_model(entries: Entries, folder: Path, *keys: str) -> ModelShape | None:
    """Return the shape that a key names; None, and a question, if that is not known here.

    Args:
        entries: The file's keys.
        folder: Where the file lies.
        keys: Its names for the model's name; the usual ones if none is given.

    Raises:
        ConfigError: If a ``config.json`` beside the file cannot be read.
    """
    found = [entries.entry(key) for key in keys or NAMES]
    entry = next((one for one in found if one is not None and one.known), None)
    if entry is None:
        return None
    text = str(entry.value)[:300].removesuffix(".yaml")
    if entry.key == "recipe_name":
        text = _model_of(text)
    if entry.key == "model_class":
        return _of_class(entries, entry)
    beside = folder / text / "config.json"
    try:
        is_here = beside.is_file()
    except (OSError, ValueError):
        is_here = False
    written = entries.files.get(f"{text.rstrip('/')}/config.json")
    if written is not None:
        shape = shape_reading(json_object(written, text), written, f"{text}/config.json").model
    elif is_here:
        shape = read_huggingface(beside).model
    else:
        try:
            shape = preset_model(text)
        except ConfigError:
            entries.ask("model", f"no shape is known for {entry.written} = {shown(text)}")
            return None
    if shape is not None:
        entries.reading.assume("model", shape.name, f"{entry.written} on {where(entry.line)}")
    return shape


def _of_class(entries: Entries, entry: Entry) -> ModelShape | None:
    shape = class_model(str(entry.value))
    if shape is None:
        entries.ask("model", f"no shape is known for {entry.written} = {shown(entry.value)}")
        return None
    entries.reading.assume("model", shape.name, f"{entry.written} on {where(entry.line)}")
    return shape


def _model_of(recipe: str) -> str:
    """Return the model that the name of a recipe starts with: llama3_8b_pretrain_config."""
    for word in data_table("formats/order.toml")["recipe_words"]:
        recipe = recipe.partition(f"_{word}")[0]
    # NeMo's launcher has a folder for each family: gpt3/175b.
    return recipe.replace("/", "-")
