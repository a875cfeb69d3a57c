"""Whose messages a trace shows: tensor-, context-, expert-, data-parallel or between stages."""

from __future__ import annotations

from steptime.inputs.layout import Layout
from steptime.inputs.rank_order import rank_order
from steptime.readers.trace.kernel_names import MESSAGES, carried
from steptime.readers.trace.rank import Message

_ALONG = {
    frozenset({"tp"}): "tensor_parallel",
    frozenset({"cp"}): "context_parallel",
    frozenset({"pp"}): "pipeline_sends",
    frozenset({"dp"}): "data_parallel",
    frozenset({"dp", "cp"}): "data_parallel",
}


def message_part(message: Message, layout: Layout | None) -> str:
    """Return the part that a message belongs to, `MESSAGES` where nothing tells.

    What its group is described as comes first; then the ranks of the group, as the layout
    places them; then what it does, where one part alone can be meant.

    Args:
        message: From a trace.
        layout: That ran; None if unknown.
    """
    if message.described:
        return message.described
    if layout is None:
        return MESSAGES
    able = [part for part in carried(message.does) if _sizes(layout)[part] - {1}]
    along = _ALONG.get(_axes(message.ranks, layout), "")
    if along in able and len(message.ranks) > 1:
        return along
    if message.group_size:
        able = [part for part in able if message.group_size in _sizes(layout)[part]]
    return able[0] if len(able) == 1 else MESSAGES


def _sizes(layout: Layout) -> dict[str, set[int]]:
    """Return how many ranks a group of each part can have."""
    data = layout.dp * layout.cp
    return {
        "tensor_parallel": {layout.tp},
        "context_parallel": {layout.cp},
        "expert_parallel": {layout.ep, layout.ep * layout.tp} if layout.ep > 1 else {1},
        "data_parallel": {layout.dp, data, data // layout.ep or 1},
        "pipeline_sends": {layout.pp} if layout.pp == 1 else {2, layout.pp},
    }


def _axes(ranks: tuple[int, ...], layout: Layout) -> frozenset[str]:
    """Return the axes of the layout along which some ranks differ."""
    places = []
    for rank in ranks:
        place, left = {}, rank
        for axis in rank_order(layout.order):
            size = getattr(layout, axis)
            place[axis], left = left % size, left // size
        places.append(place)
    if not places:
        return frozenset()
    return frozenset(axis for axis in places[0] if len({place[axis] for place in places}) > 1)
