"""Models that a recipe names by a class, such as Llama3Config8B or Qwen3ModelProvider8B."""

from __future__ import annotations

import functools
import re

from steptime.inputs.datafiles import data_table
from steptime.inputs.model import ModelShape
from steptime.inputs.no_shapes import bare_name
from steptime.inputs.presets import model as preset_model

_POINT = re.compile(r"(?<=\d)p(?=\d+b)")
"""1P5B is 1.5 billion."""


@functools.cache
def _known() -> dict[str, str]:
    """Return the key of each known model by its names without signs."""
    table = data_table("models.toml")
    names = {key: (key, *entry["aliases"]) for key, entry in table.items()}
    found = {bare_name(name): key for key, several in names.items() for name in several}
    return found | dict(data_table("formats/order.toml")["classes"])


def class_model(name: str) -> ModelShape | None:
    """Return the shape that a class stands for; None if that is not known here.

    Args:
        name: Of the class, or of a version of a model with no signs in it.
    """
    # A module in front of a class is no part of the model's name.
    last = name[:100].rpartition(".")[2]
    bare = _POINT.sub("", bare_name(last if last.isidentifier() else name[:100]))
    for word in data_table("formats/order.toml")["class_words"]:
        bare = bare.replace(word, "")
    key = _known().get(bare)
    return preset_model(key) if key else None
