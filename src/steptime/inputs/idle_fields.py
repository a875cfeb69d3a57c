"""Fields of a layout that are set and count for nothing."""

from __future__ import annotations

from steptime.inputs.layout import Layout


def idle_fields(layout: Layout) -> dict[str, str]:
    """Return each field that is set and counts for nothing, with why.

    Args:
        layout: How a step is cut.
    """
    found = {}
    if layout.dp_replicate > 1 and layout.zero_stage == 0:
        found["dp_replicate"] = "copies of what is sharded, and ZeRO-0 shards nothing"
    if layout.sequence_parallel and layout.tp == 1:
        found["sequence_parallel"] = "tensor ranks split the sequence, and there is one"
    if layout.schedule != "1f1b" and layout.pp == 1:
        found["schedule"] = "it orders the stages of a pipeline, and there is one"
    return found
