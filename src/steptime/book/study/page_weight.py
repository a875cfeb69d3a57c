"""How much the explorer sends before an answer: the first one, and any other."""

from __future__ import annotations

import functools
from pathlib import Path
from tempfile import TemporaryDirectory

from steptime.book.tables.markdown import fixed

FIRST = ("index.js", "style.css")
"""What draws the answer that was made with the page."""
MORE = ("app.js",)
"""What makes any other answer, that of an address with a layout too."""


@functools.cache
def page_weight_values() -> dict[str, str]:
    """Return the script and style of both in kB (1,000 bytes), as they are read."""
    # Imported here: it needs every room of the book.
    from steptime.book.explorer_page import write_explorer

    with TemporaryDirectory() as folder:
        sizes = {path.name: path.stat().st_size for path in write_explorer(Path(folder))}
    first, more = (sum(sizes[name] for name in names) / 1e3 for names in (FIRST, MORE))
    return {
        "ex_page_first": f"{fixed(first, 0)} kB",
        "ex_page_more": f"{fixed(more, 0)} kB",
    }
