"""Write the figure of the front page: the pipeline that plays, and an answer for your GPUs."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from steptime.book.alone_page import AlonePage
from steptime.book.home_answers import (
    BATCH,
    CLUSTERS,
    FIRST,
    GROUPS,
    LENGTH,
    MODELS,
    Answer,
    answer_of,
    cluster_name,
)
from steptime.book.home_picture import picture_data, pictures
from steptime.book.idea_page import data_module, write_idea
from steptime.book.schedule_page import MICRO_BATCHES, RANKS, timeline
from steptime.inputs.presets import model

PAGE = AlonePage(
    name="front",
    element="home",
    title="Where a training step waits",
    heading="Where a training step waits",
    about="A pipeline of four GPUs, played; and the fastest layout of your model on your GPUs.",
)


def _option(value: object, word: str, chosen: bool) -> str:
    return f'<option value="{value}"{" selected" if chosen else ""}>{escape(word)}</option>'


def controls() -> str:
    """Return the two lists: the model, and the GPUs."""
    models = "".join(_option(name, model(name).name, name == FIRST[0]) for name in MODELS)
    clusters = "".join(
        _option(place, cluster_name(*one), place == FIRST[1]) for place, one in enumerate(CLUSTERS)
    )
    return (
        f'<div class="ask"><label>Model<select name="model">{models}</select></label>'
        f'<label>GPUs<select name="cluster">{clusters}</select></label></div>'
    )


def verdict(answer: Answer) -> str:
    """Return what is said of one model on one cluster.

    Args:
        answer: The answer.
    """
    said = answer.record()
    widths = "".join(
        f'<i class="{kind}" style="width:{100 * share:.2f}%"></i>'
        for (_, kind, _), share in zip(GROUPS, said["shares"], strict=True)
    )
    keys = "".join(
        f'<li><i class="{kind}"></i><b data-share="{kind}">{100 * share:.0f} %</b> {word}</li>'
        for (word, kind, _), share in zip(GROUPS, said["shares"], strict=True)
    )
    return (
        f'<p class="big"><b data-out="step">{said["step"]}</b> <span data-out="unit">a step</span>'
        f'</p><p data-out="range">likely {said["range"]}</p>'
        f'<p data-out="fit"><b>Fits:</b> {said["memory"]} of {said["limit"]} a GPU</p>'
        f'<div class="bar" aria-hidden="true">{widths}</div><ul class="keys">{keys}</ul>'
        f'<p class="small"><span data-out="how">Fastest of {said["tried"]} layouts: '
        f"{said['layout']}. Useful: {said['mfu']} of the 16-bit peak (MFU, attention in full)."
        f"</span> {BATCH:,} sequences of {LENGTH:,} tokens a step, in 16 bits.</p>"
        f'<p><a data-out="link" href="explorer.html?{link(said, *FIRST)}">'
        "Change this layout in the explorer</a></p>"
    )


def link(said: dict[str, Any], name: str, place: int) -> str:
    """Return the query of the explorer for an answer, fit for an attribute.

    Args:
        said: Of an answer that fits.
        name: Of the model.
        place: In `CLUSTERS`.
    """
    return escape(f"l.model={name}&l.gpu={CLUSTERS[place][0]}&{said['ask']}")


def fragment(first: Answer) -> str:
    """Return the whole as it stands before the script, ready to be put into a page.

    Args:
        first: What is said before anything is chosen.
    """
    line = timeline()
    idle = f"{100 * line['bubble_fraction']:.1f} %"
    return (
        f'<div class="st-idea home"><div class="play">{pictures()}'
        '<p class="keys-row">'
        '<button type="button" class="primary needs-script" data-play>▶ Play</button>'
        '<span class="key"><i class="f"></i>forward</span><span class="key"><i class="b"></i>'
        'backward</span><span class="key"><i class="i"></i>waits</span></p>'
        f'<p class="claim"><b class="figure" data-out="idle">{idle}</b> of all GPU time is spent '
        f"waiting when {RANKS} GPUs pass {MICRO_BATCHES} micro-batches down the line and back. "
        'This is the <em>bubble</em>. <a href="pipeline.html">See what shrinks it</a>.</p></div>'
        '<div class="yours" role="group" aria-labelledby="home-yours"><h2 id="home-yours">And on '
        f"your GPUs?</h2>{controls()}{verdict(first)}</div></div>"
    )


def home_data() -> dict[str, Any]:
    """Return everything that the script shows: the moments, and every answer."""
    answers = {
        name: [answer_of(name, place).record() for place in range(len(CLUSTERS))] for name in MODELS
    }
    return {
        **picture_data(),
        "answers": answers,
        "devices": [device for device, _ in CLUSTERS],
        "groups": [kind for _, kind, _ in GROUPS],
    }


def write_home(out: Path) -> None:
    """Write all files of the figure.

    Args:
        out: The folder that becomes part of the site's root.
    """
    modules = {"data.js": data_module("steptime.book.home_page", home_data())}
    write_idea(out, PAGE, fragment(answer_of(*FIRST)), modules)
