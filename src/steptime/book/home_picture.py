"""The picture of the front page: a pipeline, stopped at the moment that explains its bubble."""

from __future__ import annotations

from html import escape
from typing import Any

from steptime.book.idea_page import hatch
from steptime.book.schedule_page import RANKS, boxes, timeline

WIDE, NARROW = (19, 56, "GPU ", 72), (9, 18, "", 36)
"""Pixels of a unit of time, pixels before the first, what stands before a GPU's number, and
pixels of a box across."""
TOP, GAP, FOOT = 30, 8, 34
SMALLEST = 14
"""Pixels that a number needs."""

Moment = dict[str, Any]


def gaps(line: dict[str, Any]) -> list[tuple[int, float, float]]:
    """Return rank, start and end of each stretch in which a GPU waits, in order of time.

    Args:
        line: From `steptime.book.schedule_page.timeline`.
    """
    found = []
    for rank in range(RANKS):
        at = 0.0
        for start, end in zip(
            line["result"]["starts"][rank], line["result"]["ends"][rank], strict=True
        ):
            if start > at:
                found.append((rank, at, float(start)))
            at = float(end)
        if at < line["makespan"]:
            found.append((rank, at, float(line["makespan"])))
    return sorted(found, key=lambda gap: (gap[1], gap[0]))


def phases(line: dict[str, Any]) -> tuple[float, float]:
    """Return when the last GPU has stopped waiting for its first gradient, and the next wait.

    Between them no GPU waits: before it the pipeline fills, after it it drains.

    Args:
        line: From `steptime.book.schedule_page.timeline`.
    """
    waits = gaps(line)
    full = max(end for _, start, end in waits if end < line["makespan"] / 2)
    drains = min(start for _, start, _ in waits if start >= full)
    return full, drains


def moments(line: dict[str, Any]) -> list[Moment]:
    """Return what to see when: from, to, the wait that is outlined, and a sentence.

    Args:
        line: From `steptime.book.schedule_page.timeline`.
    """
    waits, last = gaps(line), RANKS - 1
    full, drains = phases(line)
    first = next(gap for gap in waits if gap[0] == last)
    turn = next(gap for gap in waits if gap[0] == 0)
    trickle = next(gap for gap in waits if gap[0] == 0 and gap[1] >= drains)
    done = next(gap for gap in reversed(waits) if gap[0] == last)
    told = [
        (first[1], first[2], first, f"GPU {last} waits: nothing has reached it yet"),
        (first[2], turn[1], None, "The first micro-batch has arrived"),
        (turn[1], full, turn, "GPU 0 waits for its first gradient"),
        (full, drains, None, f"The pipeline is full: all {RANKS} GPUs work"),
        (drains, done[1], trickle, "GPU 0 waits for each gradient"),
        (done[1], float(line["makespan"]), done, f"GPU {last} is done: the line drains"),
    ]
    return [
        {"from": start, "to": end, "wait": wait and list(wait), "says": says}
        for start, end, wait, says in told
    ]


def stop_at(told: list[Moment]) -> float:
    """Return the time at which the picture stands still: half a unit before the first wait ends.

    Args:
        told: From `moments`.
    """
    return float(told[0]["to"]) - 0.5


def _bracket(x: float, end: float, words: str) -> str:
    middle = (x + end) / 2
    return (
        f'<path class="span" d="M{x + 1:g} 24v-5H{end - 1:g}v5"/>'
        f'<text class="mid" x="{middle:g}" y="13">{words}</text>'
    )


def _box(box: dict[str, Any], unit: int, left: int, high: int) -> str:
    x, wide = left + unit * box["start"], unit * (box["end"] - box["start"])
    y = TOP + (high + GAP) * box["rank"]
    kind = "f" if box["letter"] == "F" else "b"
    shape = f"<rect class={kind} data-op={box['letter']} x={x} y={y} width={wide} height={high} />"
    if wide < SMALLEST:
        return shape
    number = box["micro_batch"] + 1
    return f"{shape}<text class={kind} x={x + wide / 2:g} y={y + high / 2 + 5:g}>{number}</text>"


def picture(line: dict[str, Any], size: tuple[int, int, str, int], kind: str, name: str) -> str:
    """Return the picture as it stands still, with what the script moves.

    Args:
        line: From `steptime.book.schedule_page.timeline`.
        size: `WIDE` or `NARROW`.
        kind: Its class.
        name: What it is called for those who hear it.
    """
    unit, left, word, high = size
    pitch = high + GAP
    span, told = line["makespan"], moments(line)
    full, drains = phases(line)
    at = stop_at(told)
    x, bottom = left + unit * at, TOP + pitch * RANKS - GAP
    rows = "".join(
        f'<text x="0" y="{y + high / 2 + 5:g}">{word}{rank}</text><rect class="idle" x="{left}" '
        f'y="{y}" width="{unit * span}" height="{high}" fill="url(#{kind}-hatch)"/>'
        for rank, y in enumerate(range(TOP, TOP + pitch * RANKS, pitch))
    )
    rank, start, _ = told[0]["wait"]
    # On a phone the words go to the left, where they have room before any script measures them.
    middle, words = ("all work", 0) if kind == "narrow" else (f"all {RANKS} GPUs work", x - 3)
    return (
        f'<svg class="{kind}" role="img" aria-label="{escape(name)}" data-unit="{unit}" '
        f'data-left="{left}" viewBox="0 0 {left + unit * span + 2} {bottom + FOOT}">'
        f"{hatch(f'{kind}-hatch')}"
        f"{_bracket(left, left + unit * full, 'fills')}"
        f"{_bracket(left + unit * full, left + unit * drains, middle)}"
        f"{_bracket(left + unit * drains, left + unit * span, 'drains')}{rows}"
        + "".join(_box(box, unit, left, high) for box in boxes(line))
        + f'<rect class="veil" x="{x:g}" y="{TOP - 1}" width="{left + unit * span + 2 - x:g}" '
        f'height="{bottom - TOP + 2}"/>'
        f'<rect class="wait" x="{left + unit * start:g}" y="{TOP + pitch * rank}" '
        f'width="{x - left - unit * start:g}" height="{high}"/>'
        f'<path class="head" d="M0 {TOP - 4}V{bottom + 10}" transform="translate({x:g} 0)"/>'
        f'<text class="says" x="{words:g}" y="{bottom + 27}">{told[0]["says"]}</text></svg>'
    )


def pictures() -> str:
    """Return the picture for a wide page and for a phone."""
    line = timeline()
    name = (
        f"{RANKS} GPUs as rows, time to the right. The pipeline fills, all GPUs work, it drains. "
        f"Stopped while it fills: {moments(line)[0]['says']}."
    )
    return picture(line, WIDE, "wide", name) + picture(line, NARROW, "narrow", name)


def picture_data() -> dict[str, Any]:
    """Return what the script needs to move the picture."""
    line = timeline()
    told = moments(line)
    return {"span": line["makespan"], "stop": stop_at(told), "moments": told}
