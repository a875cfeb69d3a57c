"""Turn a matplotlib figure into SVG that lives in the page and follows its theme.

An ``<img>`` keeps its own colours when the reader switches to dark. An inline SVG
does not have to: black becomes ``currentColor`` and each known series colour
becomes the CSS variable that carries it.
"""

from __future__ import annotations

import hashlib
import io
import re
from html import escape
from typing import TYPE_CHECKING

from steptime.book.figures.colours import CSS_NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HEX = re.compile(r"#[0-9a-fA-F]{6}\b")
_ID = re.compile(r' id="([^"]+)"')
_REFERENCE = re.compile(r"(?:url\(#|href=\"#)([^)\"]+)")
_PROLOGUE = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>", re.DOTALL)
_OPENING = re.compile(r"<svg[^>]*?viewBox=\"([^\"]+)\"[^>]*>", re.DOTALL)
_FONT = re.compile(r"font: ([\d.]+px) [^;\"]+")
_FAMILY = re.compile(r" font-family: [^;\"]+;")
_STYLE = re.compile(r"\s*<defs>\s*<style[^>]*>.*?</style>\s*</defs>", re.DOTALL)
_STILL = re.compile(r' transform="rotate\(-0 [^)]*\)"')
_GEOMETRY = re.compile(r' (?:d|x|y)="[^"]*"')
_LONG = re.compile(r"-?\d+\.\d{3,}")


def themed_colour(colour: str) -> str:
    """Return the CSS that draws ``colour`` on a light page and its partner on a dark one.

    Args:
        colour: ``#rrggbb`` as matplotlib writes it.

    Returns:
        ``currentColor`` for black, ``var(--st-…, #rrggbb)`` for a known series colour,
        and the colour itself for any other.
    """
    if colour.lower() == "#000000":
        return "currentColor"
    name = CSS_NAMES.get(colour.upper())
    return f"var({name}, {colour.upper()})" if name else colour


def _own_ids(svg: str, prefix: str) -> str:
    """Return ``svg`` with only the ids that it uses, each beginning with ``prefix``.

    Two figures on one page would otherwise share ids such as ``axes_1``.
    """
    used = sorted(set(_REFERENCE.findall(svg)))
    new = {old: f"{prefix}-{place}" for place, old in enumerate(used)}
    svg = _ID.sub(lambda hit: f' id="{new[hit[1]]}"' if hit[1] in new else "", svg)
    svg = re.sub(r"url\(#([^)]+)\)", lambda hit: f"url(#{new[hit[1]]})", svg)
    return re.sub(r'href="#([^"]+)"', lambda hit: f'href="#{new[hit[1]]}"', svg)


def _plain(svg: str) -> str:
    """Return ``svg`` without what an inline picture must not or need not carry.

    Its style sheet would reach the whole page, its font is the page's own, and its
    sixth decimals are a millionth of a point.
    """
    svg = _STYLE.sub("", _PROLOGUE.sub("", svg), count=1)
    svg = _FAMILY.sub("", _FONT.sub(r"font-size: \1", svg))
    svg = _STILL.sub("", svg).replace("xlink:href", "href")
    svg = _HEX.sub(lambda hit: themed_colour(hit[0]), svg)
    return _GEOMETRY.sub(lambda hit: _LONG.sub(lambda n: f"{float(n[0]):.2f}", hit[0]), svg)


def inline_svg(figure: Figure, alt: str) -> str:
    """Return ``figure`` as one ``<svg role="img">`` element for use inside a page.

    The same figure gives the same bytes each time: no date, no random id, text left
    as text in the page's own font.

    Args:
        figure: What was drawn, with ``book/figures.mplstyle`` in force.
        alt: What a reader who cannot see it must know: what is drawn, and what it shows.

    Returns:
        The element, ending in a line break.
    """
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "steptime", "svg.fonttype": "none"}):
        figure.savefig(
            buffer,
            format="svg",
            transparent=True,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    svg = _plain(buffer.getvalue())
    svg = _own_ids(svg, "f" + hashlib.sha256((alt + svg).encode()).hexdigest()[:8])
    view = _OPENING.search(svg)
    if view is None:
        raise ValueError("matplotlib wrote no viewBox")
    opening = (
        f'<svg class="st-figure" role="img" aria-label="{escape(alt)}" '
        f'viewBox="{view[1]}" stroke-linejoin="round">'
    )
    # One blank line would end the HTML block where Markdown carries it.
    body = svg[view.end() :]
    return re.sub(r"\n\s*\n", "\n", opening + body).rstrip() + "\n"
