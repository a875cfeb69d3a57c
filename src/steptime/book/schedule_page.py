"""What the schedule figure needs from Python: its model, its words, its stand-in.

`write_schedule` fills a folder that becomes part of the site's root: the generated
JavaScript, the list of schedules, the fragment that stands in the page without
JavaScript (and in print, and for search), and a page of its own.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from steptime.book.alone_page import AlonePage
from steptime.book.figure_page import write_figure
from steptime.book.javascript import BUNDLES, bundle
from steptime.pipeline import build, codes, durations, execute, held, idle_causes, measure
from steptime.pipeline.schedules import SCHEDULES

NAME, RANKS, MICRO_BATCHES = "1f1b", 4, 8
UNIT, PITCH, HEADS = 18, 30, 46

PAGE = AlonePage(
    name="schedule",
    element="sched",
    title="Pipeline schedules, animated",
    heading="Pipeline schedules",
    about=f"{len(SCHEDULES)} pipeline schedules, action by action, and where each one idles.",
)


def write_schedule(out: Path) -> None:
    """Write all generated files of the figure.

    Args:
        out: The folder that becomes part of the site's root.
    """
    modules = {"pipeline.js": bundle(*BUNDLES["pipeline"]), "data.js": data_module()}
    write_figure(out, PAGE, fallback_html(), modules)


def data_module() -> str:
    """Return the list of schedules as an ES module."""
    rows = [
        {
            "name": entry.name,
            "title": entry.title,
            "idea": entry.idea,
            "copies": entry.copies > 1,
        }
        for entry in SCHEDULES.values()
    ]
    text = json.dumps(rows, separators=(",", ":"), ensure_ascii=False)
    head = "// Made from steptime.pipeline.schedules; change that, not this."
    return f"{head}\nexport const SCHEDULES = {text};\n"


def timeline() -> dict[str, Any]:
    """Return the figure's first picture: orders, times and what they amount to."""
    size = (RANKS, MICRO_BATCHES)
    orders = build.build_orders(NAME, *size, 1)
    times = durations.slot_times(orders, *size, 1, 1, 1)
    result = execute.execute(orders, *size, times)
    return {
        "orders": orders,
        "result": result,
        "place": idle_causes.positions(orders, *size),
        "peak": [held.peak_in_flight(order, *size) for order in orders],
        **measure.bubble(orders, result),
    }


def boxes(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Return each action as one record, GPU by GPU.

    Args:
        line: From `timeline`.
    """
    found = []
    for rank, order in enumerate(line["orders"]):
        for i, code in enumerate(order):
            source = idle_causes.producer(code, RANKS, MICRO_BATCHES, line["place"])
            needs = "nothing"
            if source >= 0:
                needs = f"{_name(source)}, GPU {line['place']['rank'][source]}"
            found.append(
                {
                    "rank": rank,
                    "letter": codes.KINDS[codes.kind_of(code, RANKS, MICRO_BATCHES)],
                    "micro_batch": code % MICRO_BATCHES,
                    "stage": codes.stage_of(code, RANKS, MICRO_BATCHES),
                    "start": line["result"]["starts"][rank][i],
                    "end": line["result"]["ends"][rank][i],
                    "needs": needs,
                }
            )
    return found


def _name(code: int) -> str:
    letter = codes.KINDS[codes.kind_of(code, RANKS, MICRO_BATCHES)]
    return f"{letter}{code % MICRO_BATCHES + 1}"


def fallback_html() -> str:
    """Return the static picture, its verdict and its table as an HTML fragment."""
    line = timeline()
    title = SCHEDULES[NAME].title
    idle = f"{100 * line['bubble_fraction']:.1f} %"
    verdict = (
        f"{title}, {RANKS} GPUs, {MICRO_BATCHES} micro-batches: idle {idle} of GPU time, "
        f"step {line['makespan']} units, at most {max(line['peak'])} micro-batches held on one GPU."
    )
    return (
        f'<div class="st-sched st-static"><p class="verdict"><span>Idle: '
        f'<b data-out="idle">{idle}</b> of GPU time</span> '
        f'<span>step <b data-out="step">{line["makespan"]} units</b></span> '
        f'<span>peak <b data-out="peak">{max(line["peak"])} micro-batches</b></span></p>\n'
        f"{picture(line, verdict)}\n"
        "<p>F is a forward, B a backward; hatched is idle. With JavaScript this figure plays, "
        f"and shows all {len(SCHEDULES)} schedules.</p>\n"
        f"{table(line, title)}</div>"
    )


def picture(line: dict[str, Any], verdict: str) -> str:
    """Return the first picture as SVG.

    Args:
        line: From `timeline`.
        verdict: Its name for those who hear it.
    """
    width = HEADS + UNIT * line["makespan"] + 30
    parts = [
        f'<svg class="boxes" role="img" aria-label="{escape(verdict)}" width="100%" '
        f'viewBox="0 0 {width} {RANKS * PITCH + 16}">'
        '<defs><pattern id="st-hatch" width="6" height="6" '
        'patternUnits="userSpaceOnUse"><path class="hatch" d="M-1 1 1-1M0 6 6 0M5 7 7 5"/>'
        "</pattern></defs>"
    ]
    for rank in range(RANKS):
        parts.append(
            f'<g transform="translate({HEADS} {rank * PITCH})"><text x=-6 y=15 class=end>'
            f'GPU {rank}</text><rect class=idle style="fill:url(#st-hatch)" '
            f"width={UNIT * line['makespan']} />"
            f'<text x="{UNIT * line["makespan"] + 6}" y=15>{line["peak"][rank]}</text>'
        )
        parts += [_box(box) for box in boxes(line) if box["rank"] == rank]
        parts.append("</g>")
    note = "time in units; right: most held"
    parts.append(f'<text x="{HEADS}" y="{RANKS * PITCH + 8}" class="first">{note}</text>')
    return "".join(parts) + "</svg>"


def _box(box: dict[str, Any]) -> str:
    kind = codes.KINDS.index(box["letter"])
    x, wide = UNIT * box["start"], UNIT * (box["end"] - box["start"])
    # Numbers need no quotes in HTML, and the style sheet has the height: 64 boxes add up.
    return (
        f'<rect class=k{kind} data-gpu="{box["rank"]}" data-op="{box["letter"]}" x={x} '
        f"width={wide} /><text class=t{kind} x={x + wide // 2} y=15>"
        f"{box['letter']}{box['micro_batch'] + 1}</text>"
    )


def table(line: dict[str, Any], title: str) -> str:
    """Return every action as an HTML table.

    Args:
        line: From `timeline`.
        title: The schedule's name.
    """
    heads = ("GPU", "Action", "Micro-batch", "Stage", "Start", "End", "Needs")
    # HTML closes rows and cells by itself; 64 rows of end tags are not worth their bytes.
    rows = [
        f"<tr><th scope=row>{box['rank']}<td>{box['letter']}<td>{box['micro_batch'] + 1}"
        f"<td>{box['stage']}<td>{box['start']}<td>{box['end']}<td>{box['needs']}"
        for box in boxes(line)
    ]
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return (
        f"<details><summary>Table of every action</summary><table><caption>{title}, {RANKS} GPUs, "
        f"{MICRO_BATCHES} micro-batches: what each GPU does when, in units of time</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></details>"
    )
