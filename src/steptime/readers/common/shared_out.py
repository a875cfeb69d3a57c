"""What launch files say of experts and of copies of shards: which ranks share them out."""

from __future__ import annotations

from typing import Any

from steptime.readers.keys.entries import Entries
from steptime.readers.keys.reading import Reading

COPIES = "dp_replicate"
OVER_DATA = "experts_over_data"
"""What is noted of a file whose experts are shared out over all data-parallel ranks."""
LONG_NAMES = {
    "tp": "tensor_model_parallel_size",
    "pp": "pipeline_model_parallel_size",
    "cp": "context_parallel_size",
    "ep": "expert_model_parallel_size",
    "etp": "expert_tensor_parallel_size",
    "vpp": "virtual_pipeline_model_parallel_size",
}
"""The names that readers ask for, Megatron-LM's, by the project's own short ones."""


def stated(entries: Entries, *names: str) -> dict[str, int]:
    """Return the sizes that a file states under their long names, noted; 1 for the others.

    Args:
        entries: The file's keys.
        *names: Short ones.
    """
    return {name: entries.count(name, LONG_NAMES[name]) or 1 for name in names}


def stated_copies(entries: Entries) -> int:
    """Return the copies of what is sharded that a file states (HSDP), noted; 1 if it does not.

    Args:
        entries: The file's keys.
    """
    return entries.count(COPIES, COPIES) or 1


def note_copies(reading: Reading, copies: int | None, line: int = 0, written: str = "") -> None:
    """Note copies of what is sharded (HSDP), where a file has another name for them.

    Args:
        reading: Of the file.
        copies: As many as it makes; nothing is noted of one, or of none.
        line: Where it says so.
        written: Its name for them.
    """
    if copies and copies > 1:
        reading.state(COPIES, copies, line=line, written=written)


def copies_of(sizes: dict[str, int], zero_stage: Any) -> dict[str, int]:
    """Return sizes with one copy where nothing is sharded.

    Every rank is a copy then, which software may count or not.

    Args:
        sizes: Of the layout, by name.
        zero_stage: What is sharded, if anything.
    """
    return sizes if zero_stage else sizes | {COPIES: 1}


def experts_cut(reading: Reading, sizes: dict[str, int]) -> dict[str, int]:
    """Return sizes that cut no experts of a model without any, which a file may ask for.

    The software makes groups of ranks that nothing uses then: the line counts for nothing.

    Args:
        reading: Of the file; it gets a note.
        sizes: Of the layout, by name.
    """
    if reading.model is None or reading.model.experts is not None:
        return sizes
    if sizes["etp"] > 1 and "etp" in reading.facts:
        idle_cut(reading)
    return sizes | {"etp": 1}


def experts_over_data(reading: Reading, sizes: dict[str, int], dp: int) -> dict[str, int]:
    """Return sizes with experts shared out over all data-parallel ranks, where a file says so.

    Args:
        reading: Of the file.
        sizes: Of the layout, by name.
        dp: Data-parallel ranks.
    """
    # expert_sharding_degree of github.com/databricks/megablocks, megablocks/layers/mpu.py.
    experts = reading.model.experts if reading.model is not None else None
    if experts is None or "ep" in reading.facts or not reading.value(OVER_DATA, False):
        return sizes
    return sizes | {"ep": min(dp, experts.num_experts)}


def idle_cut(reading: Reading) -> None:
    """Drop the cut of experts that a file states for a model without any, and say so.

    Args:
        reading: Of the file.
    """
    reading.notes.append(f"{reading.facts.pop('etp').written} does nothing without experts")


def cut_as_tensors(reading: Reading, why: str) -> None:
    """Take experts to be cut as all else is, over the tensor ranks.

    Args:
        reading: Of the file; what it states is dropped.
        why: Who cuts them so.
    """
    tp = reading.value("tp", 1)
    if tp > 1 and reading.value("etp", 1) != tp:
        reading.facts.pop("etp", None)
        reading.assume("etp", tp, why)


def megatron_experts(entries: Entries, has_experts: bool) -> None:
    """Note the ranks of experts as Megatron-LM's arguments give them.

    Args:
        entries: The file's keys.
        has_experts: Whether the file says that the model has any.
    """
    reading = entries.reading
    over = "moe_expert_model_parallelism"
    if entries.flag(over):
        reading.state(OVER_DATA, True, line=entries.line(over), written=over)
    if entries.flag("moe_tp_extend_ep") and reading.value("tp", 1) > 1:
        # Tensor ranks hold experts of their own there, not slices.
        extended = reading.value("ep", 1) * reading.value("tp", 1)
        reading.facts.pop("ep", None)
        line = entries.line("moe_tp_extend_ep")
        reading.state("ep", extended, line=line, written="moe_tp_extend_ep")
        reading.state("etp", 1, line=line, written="moe_tp_extend_ep")
        return
    told = entries.count("etp", LONG_NAMES["etp"], "etp")
    if (told or 1) > 1 and reading.model is not None and reading.model.experts is None:
        idle_cut(reading)
        return
    if told is None and (reading.value("ep", 1) > 1 or has_experts):
        cut_as_tensors(reading, "Megatron-LM's default is tp")
