"""What torchtitan's loss moves and keeps: compiled, over chunks of tokens, of whole logits."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import check_count
from steptime.readers.common.software_facts import note_fact
from steptime.readers.keys.entries import Entries, Entry
from steptime.readers.keys.reading import DEFAULT


def loss_facts(entries: Entries, tp: int) -> None:
    """Note the bytes that the loss moves and keeps, where the file tells how it is computed.

    Args:
        entries: The file's keys.
        tp: Tensor-parallel size: each rank has its part of the logits, or all of them.

    Raises:
        ConfigError: If the chunks are no count.
    """
    table = data_table("formats/torchtitan.toml")["loss"]
    chunks, chunked = _chunks(entries, table)
    copies, whole = _copies(entries, tp)
    by, compiled = _compiled(entries, table)
    told = by or chunked or whole
    if told is None:
        return
    bytes_of = table["compiled" if compiled else "eager"]
    note_fact(entries, "loss_bytes", bytes_of["loss_bytes"] * copies, told)
    note_fact(entries, "logit_bytes", bytes_of["logit_bytes"] * copies / chunks, chunked or told)


def _compiled(entries: Entries, table: dict[str, Any]) -> tuple[Entry | None, bool]:
    """Return what tells whether the loss is compiled, and whether it is."""
    entry, parts = entries.entry("compiled"), entries.entry("compiled_parts")
    if entry is None:
        return Entry("compiled", "false", DEFAULT, table["unsaid"]), False
    on = entries.flag("compiled")
    if not entry.known or (on and not entry.written.startswith(table["own_key"])):
        return None, False
    if parts is not None and "loss" not in str(parts.value):
        return parts, False
    return entry, on


def _chunks(entries: Entries, table: dict[str, Any]) -> tuple[int, Entry | None]:
    """Return over how many chunks of tokens the loss is computed in turn, and what tells it."""
    kind, count = entries.entry("loss_kind"), entries.entry("loss_chunks")
    if kind is None or not fnmatchcase(str(kind.value).lower()[:200], table["wrapper"]):
        return 1, None
    if count is None or not count.known:
        return int(table["chunks"]), kind
    return check_count(f"{entries.reading.at(count.line)}: {count.written}", count.value), count


def _copies(entries: Entries, tp: int) -> tuple[int, Entry | None]:
    """Return how many parts of the logits a rank has, and what tells it."""
    whole, cut = entries.entry("loss_whole"), entries.entry("loss_cut")
    if whole is not None and entries.flag("loss_whole"):
        return tp, whole
    if cut is not None and cut.known and not entries.flag("loss_cut"):
        return tp, cut
    return 1, None
