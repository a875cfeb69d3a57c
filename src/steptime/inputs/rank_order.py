"""Rank orders: which axes of a layout have the nearest ranks."""

from __future__ import annotations

from steptime.inputs.errors import ConfigError

AXES = ("tp", "cp", "pp", "dp")
ORDERS = {
    "megatron": ["tp", "cp", "dp", "pp"],
    "llama3": ["tp", "cp", "pp", "dp"],
}
"""Rank orders by name, nearest first. Megatron-LM's default is tp-cp-ep-dp-pp: its expert
groups are cut from the tp, cp and dp ranks of a stage, so four axes say it all."""


def rank_order(text: str) -> list[str]:
    """Return the axes of an order given by name or written out.

    Args:
        text: ``megatron``, ``llama3``, or axes joined by dashes, nearest first, with or
            without ``ep``: ``tp-cp-ep-dp-pp``.

    Raises:
        ConfigError: If it is neither.
    """
    if text in ORDERS:
        return list(ORDERS[text])
    axes = [axis for axis in str(text).lower().split("-") if axis != "ep"]
    if sorted(axes) != sorted(AXES):
        raise ConfigError(
            f"unknown rank order {str(text)[:60]!r}; use megatron, llama3, or the axes tp, cp, dp "
            "and pp joined by dashes, nearest first, such as tp-cp-dp-pp"
        )
    return axes


def data_inside(order: str) -> float:
    """Return 1.0 where data-parallel ranks are nearer than pipeline ones, else 0.0.

    Args:
        order: As in `rank_order`.
    """
    axes = rank_order(order)
    return float(axes.index("dp") < axes.index("pp"))
