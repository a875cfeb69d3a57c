"""Write the figures in frames: tensor, context and expert parallelism, as data that moves."""

from __future__ import annotations

from pathlib import Path

from steptime.book.alone_page import AlonePage
from steptime.book.frames import Film, film_data, fragment
from steptime.book.frames_films import exchange_film, ring_film, tensor_film
from steptime.book.idea_page import data_module, write_idea


def _page(name: str, title: str, about: str) -> AlonePage:
    return AlonePage(name=name, element=name, title=title, heading=title, about=about)


def films() -> list[tuple[AlonePage, Film]]:
    """Return every figure in frames with its page."""
    return [
        (
            _page("columns", "By columns, then by rows", "A product shared by four GPUs."),
            tensor_film(),
        ),
        (_page("ring", "Keys and values round a ring", "Attention over four GPUs."), ring_film()),
        (
            _page("exchange", "Tokens to their experts", "Two all-to-alls over four GPUs."),
            exchange_film(),
        ),
    ]


def write_frames(out: Path) -> None:
    """Write all files of the figures.

    Args:
        out: The folder that becomes part of the site's root.
    """
    for page, film in films():
        data = data_module("steptime.book.frames_films", film_data(film))
        write_idea(out, page, fragment(film), {"data.js": data})
