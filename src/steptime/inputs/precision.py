"""Precisions of the matrix products: ``data/precisions.toml``, one table each."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from steptime.inputs.accelerator import Accelerator
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError, check_choice
from steptime.inputs.fact import Fact, facts_from
from steptime.inputs.generation import USUAL_16_BITS, generations

NO_EIGHT_BITS = "precision='{precision}': {accelerator} has no 8-bit matrix products; use {near}"
NO_BLOCKS = "precision='{precision}': {accelerator} has no matrix products of that format; use fp8"
"""The layout page prints the same sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """A precision of the layers' products.

    Attributes:
        name: Key in ``data/precisions.toml``.
        bits: Of a value that is multiplied.
        fp8: Whether products run in eight bits or fewer.
        needs: What a device must multiply: nothing special, ``eight`` bits, or ``blocks``.
        words: Other names that people write for it.
        facts: What it changes of the software.
        since: Month before which no software had it; empty where all had.
    """

    name: str
    bits: int
    fp8: bool
    needs: str
    words: tuple[str, ...]
    facts: tuple[Fact, ...]
    since: str


@functools.cache
def precisions() -> dict[str, Precision]:
    """Return every precision, in the order of the data file."""
    return {
        name: Precision(
            name=name,
            bits=int(entry["bits"]),
            fp8=bool(entry["fp8"]),
            needs=str(entry["needs"]),
            words=tuple(entry["words"]),
            facts=facts_from(entry.get("facts", {})),
            since=str(entry.get("since", "")),
        )
        for name, entry in data_table("precisions.toml").items()
    }


_KNOWN = precisions()
PRECISIONS = tuple(_KNOWN)


def precision_word(text: object) -> str:
    """Return the name of a precision that people write in several ways.

    Args:
        text: A key of ``data/precisions.toml``, or one of its words, in any case.

    Raises:
        ConfigError: If it is none of them.
    """
    if text in PRECISIONS:
        return str(text)
    word = str(text).strip().lower().replace("_", "-")
    for name, one in precisions().items():
        if word in one.words:
            return name
    if word in data_table("run_words.toml")["precision"]["wider"]["words"]:
        raise ConfigError(
            f"unknown precision {word!r}: it is not modelled; one of: {', '.join(PRECISIONS)}"
        )
    return check_choice("precision", word if word in PRECISIONS else text, PRECISIONS)


def precision_named(name: str) -> Precision:
    """Return a precision by its name.

    Args:
        name: A key of ``data/precisions.toml``.

    Raises:
        ConfigError: If there is no such precision.
    """
    found = _KNOWN.get(name)
    return _KNOWN[check_choice("precision", name, PRECISIONS)] if found is None else found


def check_precision(device: Accelerator, precision: str) -> None:
    """Refuse products that a device does not have.

    Args:
        device: The accelerator.
        precision: A name of ``PRECISIONS``.

    Raises:
        ConfigError: If it has no such products.

    References:
        nvidia2024gb200 (what Blackwell multiplies).
    """
    needs = precision_named(precision).needs
    generation = generations().get(device.generation)
    text = ""
    if needs and not device.peak_fp8_flop_per_s:
        text = NO_EIGHT_BITS
    elif needs == "blocks" and generation is not None and not generation.block_formats:
        text = NO_BLOCKS
    if text:
        near = USUAL_16_BITS if generation is None else generation.sixteen_bits
        raise ConfigError(text.format(precision=precision, accelerator=device.name, near=near))
