"""The model that a launch file names instead of describing: a folder beside it, or a preset."""

from __future__ import annotations

from pathlib import Path

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.model import ModelShape
from steptime.inputs.no_shapes import why_no_shape
from steptime.inputs.presets import model as preset_model
from steptime.readers.common.class_names import class_model
from steptime.readers.huggingface.model import read_huggingface, shape_reading
from steptime.readers.keys.entries import Entries, Entry
from steptime.readers.keys.predict_line import predict_line
from steptime.readers.keys.reading import where
from steptime.readers.keys.safe import json_object, shown

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
            ask_for_shape(entries, text, f"{entry.written} = {shown(text)}", entry.line)
            return None
    if shape is not None:
        entries.reading.assume("model", shape.name, f"{entry.written} on {where(entry.line)}")
    return shape


def _of_class(entries: Entries, entry: Entry) -> ModelShape | None:
    shape = class_model(str(entry.value))
    if shape is None:
        text = str(entry.value)[:300]
        ask_for_shape(entries, text, f"{entry.written} = {shown(text)}", entry.line)
        return None
    entries.reading.assume("model", shape.name, f"{entry.written} on {where(entry.line)}")
    return shape


def _model_of(recipe: str) -> str:
    """Return the model that the name of a recipe starts with: llama3_8b_pretrain_config."""
    for word in data_table("formats/order.toml")["recipe_words"]:
        recipe = recipe.partition(f"_{word}")[0]
    # NeMo's launcher has a folder for each family: gpt3/175b.
    return recipe.replace("/", "-")


def ask_for_shape(entries: Entries, name: str, written: str, line: int) -> None:
    """Ask for the shape of a model whose name is not known, unless the name says why none is.

    Args:
        entries: The file's keys.
        name: Of the model.
        written: How the file has it.
        line: Where.

    Raises:
        ConfigError: If models of that name have no shape here.
    """
    why = why_no_shape(name)
    if why:
        raise ConfigError(
            f"{entries.reading.at(line)}: {written}: {why}; without it, ask: {predict_line()}"
        )
    entries.ask("model", f"no shape is known for {written}")
