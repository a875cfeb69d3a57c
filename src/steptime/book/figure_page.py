"""Write a figure that runs in the browser: its scripts, its style, and a page of its own.

Each figure has a folder of its name in ``book/web``, and shares what is in ``book/web/shared``.
What is written there by hand goes out smaller, beside what Python makes for the figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from steptime.book.alone_page import AlonePage, alone_html
from steptime.book.explorer_bundle import one_script
from steptime.book.minify import small_style

WEB = Path(__file__).resolve().parents[3] / "book" / "web"

_ALONE_STYLE = """:root { color-scheme: light dark; }
html.dark { color-scheme: dark; }
@media (prefers-color-scheme: dark) { body { background: #14181f; } }
body { max-width: 688px; margin: 0 auto; padding: 8px 16px 48px; }
body { font-family: system-ui, sans-serif; }
"""


def style_text(name: str, sheet: str = "style.css") -> str:
    """Return the style of a figure, with what it imports put in its place.

    Args:
        name: Of its folder.
        sheet: A file there.
    """
    folder = WEB / name
    lines = (folder / sheet).read_text(encoding="utf-8").splitlines()
    return "\n".join(
        (folder / line.split('"')[1]).read_text(encoding="utf-8")
        if line.startswith("@import")
        else line
        for line in lines
    )


def write_figure(out: Path, page: AlonePage, stand_in: str, modules: Mapping[str, str]) -> None:
    """Write all files of a figure.

    Args:
        out: The folder that becomes part of the site's root.
        page: The figure.
        stand_in: What is there without JavaScript, in print and for search.
        modules: Generated scripts of its folder, by file name.
    """
    made = {
        f"{page.name}.html": stand_in,
        f"{page.name}/index.html": alone_html(page, stand_in),
        f"{page.name}/style.css": small_style(style_text(page.name)),
        "alone.css": small_style(_ALONE_STYLE),
    }
    every = {
        path.relative_to(WEB).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted([*WEB.glob(f"{page.name}/*.js"), *WEB.glob("shared/*.js")])
    }
    every |= {f"{page.name}/{name}": text for name, text in modules.items()}
    made[f"{page.name}/index.js"] = one_script(f"{page.name}/index.js", every)
    for name, text in made.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
