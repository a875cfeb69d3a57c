"""What a recipe of the library sets that a script only names: from a table of what those set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.readers.keys.entries import Entries
from steptime.readers.keys.reading import where
from steptime.readers.keys.safe import shown

TABLE = "nemo_recipes.toml"
TRAINS_ALL = "pretrain_recipe"
TUNES = "finetune_recipe"
MODEL = ("model_class", "model_kind")


def library_recipe(entries: Entries) -> None:
    """Put what the recipe that a script starts from sets, where the script sets nothing.

    Args:
        entries: The script's keys.

    Raises:
        ConfigError: If the recipe trains small added matrices.
    """
    called = entries.entry("library_recipe")
    if called is None:
        return
    name, _, function = str(called.value).partition(".")
    entries.entry("performance_mode")
    if function != TRAINS_ALL:
        _check_whole(entries, function)
    table = data_table(TABLE)
    known = table["recipes"].get(name)
    if function == TUNES and known is not None and _tuned(entries, name, known):
        return
    if known is None or function != TRAINS_ALL:
        # What else such a recipe sets is not known: its model is.
        entries.put("recipe_name", name, f"NeMo's recipe {name}")
        for key in MODEL if known else ():
            entries.put(key, known[key], f"NeMo's recipe {name}")
        return
    tokenizer = entries.entry("own_tokenizer")
    if tokenizer is not None and not entries.by_key.get("vocab_size"):
        entries.reading.notes.append(
            f"{tokenizer.written} on {where(tokenizer.line)}: the vocabulary is taken as the "
            "model's own; add --set vocab_size=N where the tokenizer has another"
        )
    faster = known.get("performance_mode", {}) if entries.flag("performance_mode") else {}
    for key, value in {**table["usual"], **known, **faster}.items():
        if key != "performance_mode" and not entries.by_key.get(key):
            entries.put(key, value, f"NeMo's recipe {name}")


def _tuned(entries: Entries, name: str, known: Mapping[str, Any]) -> bool:
    """Put in what a recipe of fine-tuning sets, and return whether that is known.

    Sequences that are packed, and its faster mode, set more than the table has.
    """
    table = data_table(TABLE)["finetune"]
    own = table["recipes"].get(name)
    packed = entries.entry("packed_sequence")
    is_packed = packed is not None and str(packed.value).lower() not in ("false", "none")
    if own is None or is_packed or entries.flag("performance_mode"):
        return False
    length = entries.entry("recipe_seq_length")
    if length is not None:
        # The recipe hands it to its data too.
        entries.put("data_seq_length", length.value, f"NeMo's recipe {name}", length.line)
    entries.reading.notes.append(
        f"NeMo's recipe {name}: every sequence is taken as full; those of its own data are shorter"
    )
    for key, value in {**table["usual"], **{one: known[one] for one in MODEL}, **own}.items():
        if not entries.by_key.get(key):
            entries.put(key, value, f"NeMo's recipe {name}")
    return True


def _check_whole(entries: Entries, function: str) -> None:
    """Refuse a recipe of fine-tuning unless the script says that it trains the whole model."""
    told = entries.by_key.get("peft_scheme", [])
    entries.asked.add("peft_scheme")
    if told and str(told[-1].value).lower() == "none":
        return
    given = f"peft_scheme = {shown(told[-1].value)}" if told else "peft_scheme is left out"
    raise ConfigError(
        f"{entries.reading.path}: {function}: {given}: small added matrices are trained, not the "
        "model, which is not modelled; peft_scheme=None trains the model"
    )
