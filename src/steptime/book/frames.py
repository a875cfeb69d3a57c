"""A figure in frames: tiles that appear, move and go, each frame with a sentence.

Python places every tile in every frame; the page's script only goes from one to the next.
Before any script the first frame stands there, and the sentences stand below it as a list.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

WIDTH, LANES = 340, 4
LANE = WIDTH / LANES


@dataclass(frozen=True, slots=True)
class Tile:
    """A rectangle with a word in it.

    Attributes:
        word: What it says.
        kind: Its class, which has its colour.
        wide: Pixels.
        high: Pixels.
    """

    word: str
    kind: str
    wide: float = 34.0
    high: float = 24.0


@dataclass(frozen=True, slots=True)
class Frame:
    """A moment.

    Attributes:
        says: What to see in it.
        places: Left upper corner of each tile that is there, by its name.
    """

    says: str
    places: dict[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Film:
    """A figure in frames.

    Attributes:
        label: What it shows, for those who hear it.
        high: Pixels of the whole.
        tiles: By name.
        frames: In order.
        key: What its signs mean, below it.
    """

    label: str
    high: float
    tiles: dict[str, Tile] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)
    key: str = ""


def middle(lane: int, wide: float = 34.0) -> float:
    """Return where a tile stands that is in the middle of a GPU's lane.

    Args:
        lane: The GPU.
        wide: Of the tile, in pixels.
    """
    return LANE * lane + (LANE - wide) / 2


def _entry(film: Film, name: str) -> tuple[float, float]:
    """Return where a tile is when it is there first: it appears there, and does not fly in."""
    return next(frame.places[name] for frame in film.frames if name in frame.places)


def _tile(name: str, tile: Tile, place: tuple[float, float], there: bool) -> str:
    x, y = place
    gone = "" if there else ' class="gone"'
    return (
        f'<g data-tile="{name}"{gone} style="transform:translate({x:g}px,{y:g}px)">'
        f'<rect class="{tile.kind}" width="{tile.wide:g}" height="{tile.high:g}" rx="3"/>'
        f'<text class="mid {tile.kind}" x="{tile.wide / 2:g}" y="{tile.high / 2 + 4.5:g}">'
        f"{escape(tile.word)}</text></g>"
    )


def picture(film: Film) -> str:
    """Return the first frame as SVG; tiles of later ones are there, unseen.

    Args:
        film: The figure.
    """
    lanes = "".join(
        f'<rect class="lane" x="{LANE * lane + 2:g}" y="18" width="{LANE - 4:g}" '
        f'height="{film.high - 20:g}" rx="6"/>'
        f'<text class="mid" x="{LANE * (lane + 0.5):g}" y="12">GPU {lane}</text>'
        for lane in range(LANES)
    )
    first = film.frames[0].places
    tiles = "".join(
        _tile(name, tile, _entry(film, name), name in first) for name, tile in film.tiles.items()
    )
    return (
        f'<svg role="img" aria-label="{escape(film.label)}" viewBox="0 0 {WIDTH} {film.high:g}">'
        f"{lanes}{tiles}</svg>"
    )


def fragment(film: Film) -> str:
    """Return the figure as it stands before the script.

    Args:
        film: The figure.
    """
    key = film.key and f'<p class="key">{escape(film.key)}</p>'
    told = "".join(f"<li>{escape(frame.says)}</li>" for frame in film.frames)
    return (
        f'<div class="st-idea frames">{picture(film)}{key}<ol class="all">{told}</ol>'
        f'<p class="told" aria-live="polite">1 of {len(film.frames)}: '
        f"{escape(film.frames[0].says)}</p>"
        '<p class="keys-row"><button type="button" class="primary" data-play>▶ Play</button>'
        '<button type="button" data-back aria-label="Step back">◂ Back</button>'
        '<button type="button" data-next aria-label="Step on">Step ▸</button></p></div>'
    )


def film_data(film: Film) -> dict[str, Any]:
    """Return what the script needs: each frame's sentence and where its tiles are.

    Args:
        film: The figure.
    """
    return {
        "frames": [
            {"says": frame.says, "places": {k: list(v) for k, v in frame.places.items()}}
            for frame in film.frames
        ]
    }
