"""The accuracy chart as it stands in the page without JavaScript: verdict, picture, table."""

from __future__ import annotations

import math
import re
import statistics
from html import escape
from typing import Any

MODEL = "roofline"
WIDTH, TOP, MAIN, GAP, ERRORS, LEFT, RIGHT = 440.0, 22.0, 300.0, 34.0, 120.0, 44.0, 10.0
SECONDS = (0.1, 5000.0)
MOST_ERROR = 0.7
TICKS = (1, 10, 100, 1000)
ERROR_TICKS = (-0.5, 0.0, 0.5)
BAND = 0.1


def summary(runs: list[dict[str, Any]], model: str = MODEL) -> tuple[int, float, float]:
    """Return how many runs a model predicts, and its mean and median size of error.

    Args:
        runs: As `steptime.book.study.accuracy` hands them over.
        model: One of its ``MODELS``.
    """
    sizes = [abs(run["errors"][model]) for run in runs if run["errors"][model] is not None]
    return len(sizes), statistics.fmean(sizes), statistics.median(sizes)


def accelerator_name(name: str) -> str:
    """Return an accelerator's name as it is printed: ``A100 80 GB``.

    Args:
        name: Its key, such as ``a100-80gb``.
    """
    words = name.upper().replace("-", " ")
    return re.sub(r"(\d)(GB|W)(?=\s|$)", r"\1 \2", words)


def fragment(points: dict[str, Any]) -> str:
    """Return the static picture, its verdict and its table as an HTML fragment.

    Args:
        points: The runs.
    """
    runs = points["runs"]
    rows, mean, median = summary(runs)
    said = (
        f"{rows} published runs, each predicted by the roofline model while its source was left "
        f"out: mean error {100 * mean:.1f} %, median {100 * median:.1f} %."
    )
    return (
        '<div class="st-acc st-static"><p class="verdict">'
        f'<span><b data-out="rows">{rows}</b> runs</span> '
        f'<span>mean error <b data-out="mean">{100 * mean:.1f} %</b></span> '
        f'<span>median <b data-out="median">{100 * median:.1f} %</b></span></p>\n'
        f"{picture(points, said)}\n"
        '<p class="legend">'
        + " ".join(
            f'<span><svg class="key" viewBox="-6 -6 12 12" width="12" height="12" '
            f'aria-hidden="true">{mark(kind)}</svg> {escape(name)}</span>'
            for kind, name in enumerate(points["kinds"])
        )
        + "</p>\n<p>Shaded: within 10 %. With JavaScript, each run tells its source and where its "
        "time went, and runs can be chosen by accelerator, kind and source.</p>\n"
        f"{table(points)}</div>"
    )


def mark(kind: int) -> str:
    """Return the mark of a run about the origin: a circle, a square or a triangle.

    Args:
        kind: Place of its kind in the list of kinds.
    """
    shapes = (
        "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
        "M-2.7-2.7h5.4v5.4h-5.4z",
        "M0-3.6l3.5 6h-7z",
    )
    return f'<path class="k{kind}" d="{shapes[kind]}"/>'


def _marks(runs: list[dict[str, Any]], kind: int) -> str:
    """Return all runs of a kind, twice: by predicted step time, and by error."""
    mine = [run for run in runs if run["kind"] == kind]
    spots = []
    for run in mine:
        error, published = run["errors"][MODEL], run["published_s"]
        x = _x(published)
        spots.append(f"{x:.1f} {_y(published * math.exp(error)):.1f}")
        spots.append(f"{x:.1f} {_error_y(error):.1f}")
    name = f"st-acc-{kind}"
    every = " ".join(f'marker-{place}="url(#{name})"' for place in ("start", "mid", "end"))
    return (
        f'<marker id="{name}" markerUnits="userSpaceOnUse" overflow="visible">{mark(kind)}'
        f'</marker><polyline data-kind="{kind}" fill="none" {every} points="{",".join(spots)}"/>'
    )


def _x(seconds: float) -> float:
    low, high = map(math.log, SECONDS)
    wide = WIDTH - LEFT - RIGHT
    return LEFT + wide * (math.log(seconds) - low) / (high - low)


def _y(seconds: float) -> float:
    low, high = map(math.log, SECONDS)
    return TOP + MAIN * (high - math.log(seconds)) / (high - low)


def _error_y(error: float) -> float:
    held = min(MOST_ERROR, max(-MOST_ERROR, error))
    return TOP + MAIN + GAP + ERRORS * (MOST_ERROR - held) / (2 * MOST_ERROR)


def _band() -> str:
    """Return the band within ten percent, above and below, and the lines of equality."""
    low, high = SECONDS
    right = WIDTH - RIGHT
    band = math.exp(BAND)
    corners = (
        (low, low * band),
        (high / band, high),
        (high, high),
        (high, high / band),
        (low * band, low),
        (low, low),
    )
    path = "L".join(f"{_x(x):.1f} {_y(y):.1f}" for x, y in corners)
    return (
        f'<path class="band" d="M{path}zM{LEFT:g} {_error_y(BAND):.1f}H{right:g}'
        f'V{_error_y(-BAND):.1f}H{LEFT:g}z"/>'
        f'<path class="equal" d="M{_x(low):.1f} {_y(low):.1f}L{_x(high):.1f} {_y(high):.1f}'
        f'M{LEFT:g} {_error_y(0):.1f}H{right:g}"/>'
    )


def _ticks(bottom: float) -> str:
    """Return grid lines and what they stand for."""
    right, parts = WIDTH - RIGHT, []
    for tick in TICKS:
        x, y = _x(tick), _y(tick)
        parts.append(
            f'<path class="grid" d="M{x:.1f} {TOP:g}V{TOP + MAIN:g}M{x:.1f} '
            f'{TOP + MAIN + GAP:g}V{bottom:g}M{LEFT:g} {y:.1f}H{right:g}"/>'
            f'<text class="end" x="{LEFT - 5:g}" y="{y + 4:.1f}">{tick:g} s</text>'
            f'<text class="mid" x="{x:.1f}" y="{bottom + 15:g}">{tick:g} s</text>'
        )
    for error in ERROR_TICKS:
        y, said = _error_y(error) + 4, error_text(error).replace(".0", "")
        parts.append(f'<text class="end" x="{LEFT - 5:g}" y="{y:.1f}">{said}</text>')
    return "".join(parts)


def picture(points: dict[str, Any], said: str) -> str:
    """Return the picture: predicted over published above, the error below.

    Args:
        points: The runs.
        said: Its name for those who hear it.
    """
    bottom = TOP + MAIN + GAP + ERRORS
    marks = "".join(_marks(points["runs"], kind) for kind in range(len(points["kinds"])))
    return (
        f'<svg class="plot" role="img" aria-label="{escape(said)}" width="100%" '
        f'viewBox="0 0 {WIDTH:g} {bottom + 36:g}">'
        f'<text x="0" y="12">predicted step time</text>'
        f'<text x="0" y="{TOP + MAIN + GAP - 8:g}">error, ln(predicted / published)</text>'
        f"{_band()}{_ticks(bottom)}{marks}"
        f'<text class="end" x="{WIDTH - RIGHT:g}" y="{bottom + 31:g}">published step time</text>'
        "</svg>"
    )


def table(points: dict[str, Any]) -> str:
    """Return every run as an HTML table.

    Args:
        points: The runs.
    """
    heads = ("Run", "GPUs", "Layout", "Source", "Published", "Predicted", "Error")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    rows = []
    for run in points["runs"]:
        error, published = run["errors"][MODEL], run["published_s"]
        predicted = published * math.exp(error)
        rows.append(
            f'<tr><th scope="row">{escape(run["model"])}</th>'
            f"<td>{run['gpus']:,} × {accelerator_name(run['accelerator'])}</td>"
            f"<td>{escape(run['layout'])}</td>"
            f"<td>{escape(points['sources'][run['source']]['name'])}, {escape(run['place'])}</td>"
            f"<td>{seconds_text(published)}</td><td>{seconds_text(predicted)}</td>"
            f"<td>{error_text(error)}</td></tr>"
        )
    return (
        f'<details class="rows"><summary>Table of all {len(rows)} runs</summary>'
        '<div class="wide" tabindex="0" role="region" aria-label="Table of runs"><table><caption>'
        "Published and predicted step time; the roofline model, each source left out</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></details>"
    )


def seconds_text(seconds: float) -> str:
    """Return a step time to three digits.

    Args:
        seconds: The time.
    """
    decimals = max(0, 2 - math.floor(math.log10(float(f"{seconds:.2e}"))))
    return f"{seconds:.{decimals}f} s"


def error_text(error: float) -> str:
    """Return an error with its sign, such as ``−4.4 %``.

    Args:
        error: ln(predicted / published).
    """
    size = f"{abs(100 * error):.1f}"
    return f"{'' if size == '0.0' else '−' if error < 0 else '+'}{size} %"
