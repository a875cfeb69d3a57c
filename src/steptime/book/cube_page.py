"""Write the figure of the chapter on layouts: sixteen GPUs as a cube of four dimensions."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from steptime.book.alone_page import AlonePage
from steptime.book.idea_page import data_module, write_idea
from steptime.formulas.traffic import tensor_all_reduces_per_layer
from steptime.inputs.rank_order import rank_order
from steptime.planning.groups import axis_strides

ORDER = rank_order("llama3")
SIZES = dict.fromkeys(ORDER, 2)
NUM_RANKS = 2 ** len(ORDER)
FIRST = 0
"""The GPU that is chosen first."""
WORDS = {"tp": "tensor", "cp": "context", "pp": "pipeline", "dp": "data"}
STEPS = {"tp": (42.0, 0.0), "cp": (18.0, -41.0), "pp": (0.0, 116.0), "dp": (164.0, 22.0)}
"""Where a step along each axis leads on the page: the shorter, the more the two talk."""
ORIGIN, RADIUS = (40.0, 62.0), 14.0
WIDTH, HEIGHT = 320.0, 228.0

PAGE = AlonePage(
    name="cube",
    element="cube",
    title="Ranks in four dimensions",
    heading="Ranks in four dimensions",
    about="Sixteen GPUs, cut by tensor, context, pipeline and data: who talks to whom.",
)


def coordinates(rank: int) -> dict[str, int]:
    """Return where a rank stands on each axis.

    Args:
        rank: From 0.
    """
    strides = axis_strides(ORDER, SIZES)
    return {axis: rank // strides[axis] % SIZES[axis] for axis in ORDER}


def group(rank: int, axis: str) -> list[int]:
    """Return the ranks that differ from one along an axis alone, itself among them.

    Args:
        rank: From 0.
        axis: The axis.
    """
    stride = axis_strides(ORDER, SIZES)[axis]
    first = rank - coordinates(rank)[axis] * stride
    return [first + stride * place for place in range(SIZES[axis])]


def place(rank: int) -> tuple[float, float]:
    """Return where a rank is drawn.

    Args:
        rank: From 0.
    """
    at = coordinates(rank)
    x = ORIGIN[0] + sum(at[axis] * STEPS[axis][0] for axis in ORDER)
    y = ORIGIN[1] + sum(at[axis] * STEPS[axis][1] for axis in ORDER)
    return x, y


def talks() -> dict[str, str]:
    """Return how often a group of each axis talks."""
    count = tensor_all_reduces_per_layer(0.0)
    return {
        "tp": f"{count:.0f} sums for each layer and micro-batch: the shortest way, inside a server",
        "cp": "keys and values of each layer, passed round",
        "pp": "one activation there and one gradient back for each micro-batch",
        "dp": "gradients, once a step: the longest way",
    }


def says(rank: int) -> str:
    """Return what a GPU is, and with whom it talks.

    Args:
        rank: From 0.
    """
    at = coordinates(rank)
    where = ", ".join(f"{WORDS[axis]} {at[axis]}" for axis in ORDER)
    others = (
        f"{WORDS[axis]} with GPU {next(one for one in group(rank, axis) if one != rank)}"
        for axis in ORDER
    )
    return f"GPU {rank} is {where}. It shares {', '.join(others)}."


def _edges() -> str:
    lines = []
    for axis in ORDER:
        for rank in range(NUM_RANKS):
            first, last = group(rank, axis)
            if rank == first:
                (x, y), (to_x, to_y) = place(first), place(last)
                lines.append(
                    f'<path class="{axis}" data-axis="{axis}" data-edge="{first} {last}" '
                    f'd="M{x:g} {y:g}L{to_x:g} {to_y:g}"/>'
                )
    return "".join(reversed(lines))


def _nodes() -> str:
    nodes = []
    for rank in range(NUM_RANKS):
        x, y = place(rank)
        chosen = ' class="on"' if rank == FIRST else ""
        nodes.append(
            f'<g data-rank="{rank}"{chosen}><circle cx="{x:g}" cy="{y:g}" r="{RADIUS:g}"/>'
            f'<text class="mid" x="{x:g}" y="{y + 4.5:g}">{rank}</text></g>'
        )
    return "".join(nodes)


def fragment() -> str:
    """Return the figure as it stands before the script."""
    often = talks()
    keys = "".join(
        f'<li><button type="button" class="{axis}" data-axis="{axis}" disabled><i class="{axis}">'
        f"</i>{WORDS[axis]}</button> {escape(often[axis])}</li>"
        for axis in ORDER
    )
    name = (
        f"{NUM_RANKS} GPUs as corners of a cube of four dimensions; lines join those that talk, "
        "and the shorter a line the more they do."
    )
    return (
        f'<div class="st-idea cube"><svg role="img" aria-label="{name}" '
        f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}">{_edges()}{_nodes()}</svg>'
        f'<div><p class="told" data-out="says" aria-live="polite">{says(FIRST)}</p>'
        '<p class="keys-row needs-script">'
        '<button type="button" data-step="-1">◂ GPU before</button>'
        '<button type="button" data-step="1">Next GPU ▸</button></p>'
        f'<ul class="axes">{keys}</ul></div></div>'
    )


def write_cube(out: Path) -> None:
    """Write all files of the figure.

    Args:
        out: The folder that becomes part of the site's root.
    """
    data: dict[str, Any] = {
        "says": [says(rank) for rank in range(NUM_RANKS)],
        "groups": [{axis: group(rank, axis) for axis in ORDER} for rank in range(NUM_RANKS)],
        "first": FIRST,
    }
    write_idea(out, PAGE, fragment(), {"data.js": data_module("steptime.book.cube_page", data)})
