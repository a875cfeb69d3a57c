"""Write the figure of the chapter on memory: what one GPU holds, and what one change does to it."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from steptime.answer import predict
from steptime.book.alone_page import AlonePage
from steptime.book.idea_page import command, data_module, round_top, write_idea
from steptime.book.study.effects import KEPT as LLAMA
from steptime.formulas.memory.total import PARTS
from steptime.inputs.chance import chance_text
from steptime.inputs.presets import model

CHOICES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("the layout that ran", {}),
    ("optimizer states not shared", {"zero_stage": 0}),
    ("attention computed again", {"recompute": "selective"}),
    ("everything computed again", {"recompute": "full"}),
    ("twice the tokens", {"seq_length": 2 * LLAMA["seq_length"]}),
    ("8 stages instead of 16", {"pp": 8, "dp": 128}),
)
"""What a reader may change, and how it is asked; the first is the run."""
MODEL = model(LLAMA["model"]).name
GB = 1e9
COLOURS = ("k5", "k4", "k1", "k6", "k3", "k7", "none")

PAGE = AlonePage(
    name="memory",
    element="memory",
    title="What the fullest GPU holds",
    heading="What the fullest GPU holds",
    about="Weights, gradients, optimizer states and activations of one GPU, as one bar.",
)


def states() -> list[dict[str, Any]]:
    """Return for each choice the gigabytes of each part, their sum, and what the GPU has."""
    found = []
    for name, change in CHOICES:
        told = predict(**{**LLAMA, **change})
        parts = told.memory.fullest.parts_bytes
        found.append(
            {
                "name": name,
                "parts": [parts[part] / GB for part in PARTS],
                "total": told.total_bytes / GB,
                "limit": told.step.accelerator.hbm_bytes / GB,
                "fits": told.memory.outlook.startswith("fits"),
                "outlook": told.memory.outlook,
                "chance": told.memory.fit_probability,
            }
        )
    return found


def sentence(state: dict[str, Any], first: dict[str, Any]) -> str:
    """Return what a choice changes most, and what that means.

    Args:
        state: The choice, from `states`.
        first: The run as it was.
    """
    # Where it is counted not to fit, no chance is worth a number.
    over, chance = state["total"] > state["limit"], state["chance"]
    likely = "" if over or chance is None else f" (chance {chance_text(chance)})"
    total = f"of {state['limit']:.1f} GB: it {state['outlook']}{likely}."
    moved = [new - old for new, old in zip(state["parts"], first["parts"], strict=True)]
    most = max(range(len(PARTS)), key=lambda place: abs(moved[place]))
    if state is first:
        largest = max(range(len(PARTS)), key=state["parts"].__getitem__)
        return f"{total} The largest part: {PARTS[largest]}."
    old, new = first["parts"][most], state["parts"][most]
    return f"{total} {PARTS[most].capitalize()}: {old:.1f} GB before, {new:.1f} GB now."


def fragment() -> str:
    """Return the bar as it stands before the script, ready to be put into a page."""
    every = states()
    first, top = every[0], round_top(max(one["total"] for one in every))
    blocks = "".join(
        f'<i class="{colour}" data-part="{part}" style="width:{100 * size / top:.3f}%"></i>'
        for part, colour, size in zip(PARTS, COLOURS, first["parts"], strict=True)
    )
    keys = "".join(
        f'<li><i class="{colour}"></i>{part} <b data-size="{part}">{size:.1f} GB</b></li>'
        for part, colour, size in zip(PARTS, COLOURS, first["parts"], strict=True)
    )
    ticks = "".join(
        f'<span style="left:{100 * at / 4:g}%">{top * at / 4:g}{" GB" if at == 4 else ""}</span>'
        for at in range(5)
    )
    options = "".join(
        f'<label><input type="radio" name="memory-what" value="{place}"'
        f"{' checked' if not place else ''}><span>{escape(one['name'])}</span></label>"
        for place, one in enumerate(every)
    )
    limit = 100 * first["limit"] / top
    return (
        '<div class="st-idea memory"><p class="said"><b class="figure" data-out="total">'
        f'{first["total"]:.1f} GB</b> <span data-out="says">{sentence(first, first)}</span></p>'
        f'<div class="frame"><p class="limit" style="left:{limit:.3f}%">limit '
        f'{first["limit"]:.1f} GB</p><div class="stack" aria-hidden="true">{blocks}</div>'
        f'<div class="ticks" aria-hidden="true">{ticks}</div></div>'
        f'<ul class="keys">{keys}</ul><fieldset class="opts needs-script"><legend>Change one thing'
        f"</legend>{options}</fieldset>"
        f'<p class="small">The fullest of {LLAMA["pp"]} pipeline ranks of {MODEL} on '
        f"{LLAMA['tp'] * LLAMA['pp'] * LLAMA['dp']:,} H100, by the model. "
        "The run fitted: it also freed early what its stages had passed on, which is not counted. "
        f"<code>{command(LLAMA)}</code></p></div>"
    )


def write_memory(out: Path) -> None:
    """Write all files of the figure.

    Args:
        out: The folder that becomes part of the site's root.
    """
    every = states()
    data = {
        "parts": list(PARTS),
        "top": round_top(max(one["total"] for one in every)),
        "states": [{**one, "says": sentence(one, every[0])} for one in every],
    }
    modules = {"data.js": data_module("steptime.book.memory_page", data)}
    write_idea(out, PAGE, fragment(), modules)
