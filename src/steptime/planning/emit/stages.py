"""How layers are cut over pipeline ranks, in the words of Megatron-LM, or chunk by chunk."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from steptime.formulas.schedule import entry_number
from steptime.formulas.stage_split import stated_before
from steptime.formulas.validity import ends_count
from steptime.inputs.layout import SCHEDULES, Layout
from steptime.inputs.model import ModelShape


def stage_names(model: ModelShape, layout: Layout) -> dict[str, Any]:
    """Return how layers are cut into chunks; written out where they do not divide.

    Args:
        model: The shape.
        layout: The layout.
    """
    chunks = layout.pp * layout.vpp
    layers = model.num_layers
    if layout.first_stage_layers or layout.last_stage_layers:
        return _stated_stages(model, layout)
    held: dict[str, Any] = (
        {"virtual_pipeline_model_parallel_size": layout.vpp} if layout.vpp > 1 else {}
    )
    if layers % chunks == 0:
        return held
    if ends_count(float(layers), float(chunks)):
        ends = ("embedding", "loss")
        return {f"account_for_{end}_in_pipeline_split": True for end in ends} | held
    whole, rest = divmod(layers, chunks)
    counts = [whole + (place < rest) for place in range(chunks)]
    parts = [f"t*{count}" if count else "" for count in counts]
    return {"pipeline_model_parallel_layout": "E" + "|".join(parts) + "L"}


def _stated_stages(model: ModelShape, layout: Layout) -> dict[str, Any]:
    """Return how layers are cut where some ranks have a stated number of them.

    The flags want ranks between that are alike and chunks that divide; else a layout is written
    out, chunk by chunk.
    """
    ranks = _stated_ranks(model, layout)
    between = ranks[bool(layout.first_stage_layers) : layout.pp - bool(layout.last_stage_layers)]
    if len(set(between)) < 2 and all(count % layout.vpp == 0 for count in ranks):
        ends = {"first": layout.first_stage_layers, "last": layout.last_stage_layers}
        held: dict[str, Any] = {"virtual_pipeline_model_parallel_size": layout.vpp}
        names: dict[str, Any] = {
            f"decoder_{end}_pipeline_num_layers": count for end, count in ends.items() if count
        }
        return names | (held if layout.vpp > 1 else {})
    parts = [f"t*{count}" if count else "" for count in stated_chunks(model, layout)]
    return {"pipeline_model_parallel_layout": "E" + "|".join(parts) + "L"}


def stated_chunks(model: ModelShape, layout: Layout) -> list[int]:
    """Return the layers of each chunk, in the order of the model, where ends are stated.

    Args:
        model: The shape.
        layout: The layout.
    """
    ranks = _stated_ranks(model, layout)
    if entry_number("vee", float(SCHEDULES.index(layout.schedule))) > 0.0:
        return [count - count // 2 for count in ranks] + [count // 2 for count in reversed(ranks)]
    chunks = []
    for place in range(layout.vpp):
        for rank, count in enumerate(ranks):
            each, more = divmod(count, layout.vpp)
            # The first rank's first chunk has the embedding, the last one's last the head.
            late = place >= layout.vpp - more if rank == 0 else place < more
            chunks.append(each + late)
    return chunks


def _stated_ranks(model: ModelShape, layout: Layout) -> list[int]:
    """Return the layers of each rank where ends are stated."""
    record: Any = SimpleNamespace(
        num_layers=float(model.num_layers),
        pp=float(layout.pp),
        first_stage_layers=float(layout.first_stage_layers),
        last_stage_layers=float(layout.last_stage_layers),
    )
    starts = [0, *(int(stated_before(record, float(rank))) for rank in range(1, layout.pp))]
    return [end - start for start, end in pairwise([*starts, model.num_layers])]
