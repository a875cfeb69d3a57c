"""The accelerator that people mean by a word: as tables, drivers and sellers write its name."""

from __future__ import annotations

from steptime.inputs.datafiles import data_table
from steptime.inputs.run_words import entries, words


def _name_words(text: str) -> tuple[str, ...]:
    """Return the words of a device's name, small, without those that say nothing."""
    plain = "".join(mark if mark.isalnum() else " " for mark in text.casefold())
    return tuple(word for word in plain.split() if word not in entries("gpu")["beside"]["words"])


def is_other_part(text: str) -> bool:
    """Return whether a name is that of a part with other links, power or memory.

    Args:
        text: As a table or a driver writes it, such as ``H100 NVL``.
    """
    return any(word in entries("gpu")["other_parts"]["words"] for word in _name_words(text))


def preset_named(text: str) -> str | None:
    """Return the preset that an accelerator's name means, or None.

    Args:
        text: As a table or a driver writes it, such as ``NVIDIA H100 80GB HBM3``.
    """
    word = words("gpu").get("".join(_name_words(text)))
    return word.key if word is not None and word.key in data_table("accelerators.toml") else None
