"""The search as it stands without JavaScript: its form, one answer, a table of the fastest."""

from __future__ import annotations

import math
from html import escape

from steptime.book.explorer_data import CHAPTER_MODELS
from steptime.book.search_data import CHANCES
from steptime.inputs.chance import chance_text
from steptime.inputs.datafiles import data_table
from steptime.inputs.face import FITS_WITH
from steptime.inputs.precision import PRECISIONS
from steptime.inputs.presets import accelerator, accelerator_names, model, model_names
from steptime.inputs.said import Said
from steptime.inputs.stack import Stack, families, months, stacks
from steptime.planning.question import Question
from steptime.planning.result import Candidate, SearchResult
from steptime.planning.search import search

MODEL, DEVICE, DEVICES, BATCH, LENGTH = "llama3-70b", "h100", 512, 1024, 8192
"""What the page asks first, as the first command of the page does."""
SHOWN = 10
WIDTH, HEIGHT, LEFT, FOOT = 660, 320, 46, 40


def first_result() -> SearchResult:
    """Return the answer that stands there before any script."""
    question = Question(
        model=model(MODEL),
        accelerator=accelerator(DEVICE),
        num_devices=DEVICES,
        global_batch_size=BATCH,
        seq_length=LENGTH,
    )
    return search(question, splits=False)


def _options(pairs: list[tuple[str, str]], chosen: str) -> str:
    return "".join(
        f'<option value="{escape(key)}"{" selected" if key == chosen else ""}>{escape(name)}'
        "</option>"
        for key, name in pairs
    )


def _chances() -> list[tuple[str, str]]:
    return [(f"{one:g}", f"{one:.0%} or more" if one else "any") for one in CHANCES]


def _exact(family: str) -> list[Stack]:
    """Return the stacks of a family that are software of one make; a name alone may mean more."""
    own = (one for one in stacks().values() if one.family == family)
    return [one for one in own if Said(stack=one.name).exact]


def _how() -> str:
    """Return what may be said of the software and the network, folded away at first."""
    exact = [
        f'<optgroup label="{escape(family)}, exactly">'
        + _options([(one.name, one.title) for one in _exact(family)], "")
        + "</optgroup>"
        for family in families()
    ]
    every = _options([(name, name) for name in families()], "")
    first, last = months()
    return (
        '<details class="sf-how"><summary>Software and network, if you know them</summary><div>'
        '<label>Software<select name="stack"><option value="" selected>not stated</option>'
        f'<optgroup label="A family: what was current">{every}</optgroup>{"".join(exact)}</select>'
        '</label><label>Software of (month)<input name="date" type="month" '
        f'placeholder="YYYY-MM" min="{first}" max="{last}"></label>'
        '<label>Network of a GPU (Gb/s)<input name="net" type="number" min="0" step="any" '
        'placeholder="as built"></label></div></details>'
    )


def form() -> str:
    """Return what a reader fills in; only the script makes it work."""
    names = [*CHAPTER_MODELS, *(one for one in model_names() if one not in CHAPTER_MODELS)]
    models = [(key, model(key).name) for key in sorted(names, key=lambda one: model(one).name)]
    table = data_table("accelerators.toml")
    devices = [(key, str(table[key].get("name", key))) for key in accelerator_names()]
    numbers = "".join(
        f'<label>{word}<input name="{name}" type="number" min="1" step="1" '
        f'value="{value}" required></label>'
        for name, word, value in (
            ("n", "GPUs", DEVICES),
            ("batch", "Sequences a step", BATCH),
            ("seq", "Tokens a sequence", LENGTH),
        )
    )
    return (
        '<form class="sf-form" aria-label="What to search" data-explorer="explorer.html">'
        f'<label>Model<select name="model"><option value="own">yours: paste a config.json …'
        f"</option>{_options(models, MODEL)}</select></label>"
        f'<label>Device<select name="gpu">{_options(devices, DEVICE)}</select></label>{numbers}'
        '<label>Precision<select name="precision">'
        f"{_options([(one, one) for one in PRECISIONS], 'bf16')}</select></label>"
        '<label>Fits with a chance of<select name="fits">'
        f"{_options(_chances(), f'{FITS_WITH:g}')}</select></label>"
        f"{_how()}"
        '<div class="sf-paste" hidden><label>The config.json of your model'
        '<textarea name="config" rows="4" spellcheck="false" autocomplete="off"></textarea></label>'
        '<label>or open the file<input name="file" type="file" accept=".json,application/json">'
        '</label><p class="sf-read" role="status"></p></div></form>'
    )


def _layout(one: Candidate) -> list[str]:
    cut = one.layout
    return [
        *(f"{cut.tp}{' + SP' if cut.sequence_parallel else ''}", str(cut.cp), str(cut.pp)),
        *(str(cut.vpp), str(cut.dp), str(one.batch.micro_batch_size), str(cut.zero_stage)),
        "no" if cut.recompute == "none" else cut.recompute,
    ]


def table(result: SearchResult) -> str:
    """Return the fastest layouts.

    Args:
        result: Of the search.
    """
    sizes = ("tensor", "context", "pipeline", "chunks", "data", "micro-batch", "ZeRO")
    heads = ("step", "GB", "fits", *sizes, "redone")
    rows = []
    for place, one in enumerate(result.best[:SHOWN]):
        mark = "= " if 0 < place < result.num_ties else ""
        chance = chance_text(one.fit_probability, short=True)
        cells = [f"{one.memory_bytes / 1e9:.1f}", chance, *_layout(one)]
        rows.append(
            f'<tr><th scope="row">{mark}{one.step_time_s:.3g} s</th>'
            + "".join(f"<td>{cell}</td>" for cell in cells)
            + "</tr>"
        )
    return (
        f'<div class="sf-scroll"><table class="sf-table"><caption>The {len(rows)} fastest; = ties '
        "with the first</caption><thead><tr>"
        + "".join(f'<th scope="col">{one}</th>' for one in heads)
        + f"</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def front_svg(result: SearchResult) -> str:
    """Return the front of time and memory as a picture.

    Args:
        result: Of the search.
    """
    limit = result.question.memory_limit_bytes
    low = result.front[0].step_time_s * 0.97
    high = min(max(result.front[-1].step_time_s * 1.03, low * 2), low * 4)
    points = []
    for one in result.front:
        if one.step_time_s <= high:
            share = math.log(one.step_time_s / low) / math.log(high / low)
            up = (HEIGHT - FOOT - 22) * one.memory_bytes / limit
            points.append((LEFT + (WIDTH - LEFT - 12) * share, HEIGHT - FOOT - up))
    line = " ".join(
        f"{'H' if place else 'M'}{x:.1f} {'V' if place else ''}{y:.1f}"
        for place, (x, y) in enumerate(points)
    )
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in points)
    label = (
        f"Time of a step against memory: {len(points)} layouts that no other beats in both, the "
        f"fastest takes {result.front[0].step_time_s:.3g} s"
    )
    return (
        f'<svg class="sf-still" role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f'<path class="sf-axis" d="M{LEFT} 14V{HEIGHT - FOOT}H{WIDTH - 12}"/>'
        f'<path class="sf-line" d="{line}"/>{dots}'
        f'<text x="{WIDTH - 12}" y="{HEIGHT - 5}" class="sf-end">time of a step →</text>'
        f'<text x="2" y="{HEIGHT - 5}">↑ memory of a device</text></svg>'
    )


def fragment() -> str:
    """Return the whole, ready to be put into a page."""
    result = first_result()
    best = result.best[0]
    cut = best.layout
    words = f"tensor {cut.tp}, context {cut.cp}, pipeline {cut.pp}, data {cut.dp}"
    question = result.question
    return (
        f'<div class="st-search">{form()}\n<div class="sf-answer">'
        f'<p class="sf-verdict"><strong>{best.step_time_s:.3g} s a step</strong> with {words}: '
        f"{best.memory_bytes / 1e9:.1f} of {question.memory_limit_bytes / 1e9:.1f} GB, for "
        f"{escape(question.model.name)} on {DEVICES} of {DEVICE.upper()}.</p>\n"
        f'<p class="sf-ties">{result.num_evaluated:,} layouts timed, {result.num_fitting:,} fit; '
        f"{result.num_ties} tie.</p>\n{front_svg(result)}\n{table(result)}</div></div>"
    )
