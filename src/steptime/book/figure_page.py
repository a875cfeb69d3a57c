"""Write a figure that runs in the browser: its scripts, its style, and a page of its own.

Each figure has a folder of its name in ``book/web``, and shares what is in ``book/web/shared``.
What is written there by hand goes out smaller, beside what Python makes for the figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from steptime.book.explorer_bundle import one_script
from steptime.book.minify import small_style
from steptime.book.site.policy import META

WEB = Path(__file__).resolve().parents[3] / "book" / "web"

_ALONE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{policy}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<meta name="description" content="{about}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css">
<link rel="stylesheet" href="../alone.css">
</head>
<body>
<main>
<h1>{heading}</h1>
<div id="{element}">
{stand_in}
</div>
</main>
<script src="index.js"></script>
</body>
</html>
"""


_ALONE_STYLE = """:root { color-scheme: light dark; }
html.dark { color-scheme: dark; }
@media (prefers-color-scheme: dark) { body { background: #14181f; } }
body { max-width: 688px; margin: 0 auto; padding: 8px 16px 48px; }
body { font-family: system-ui, sans-serif; }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigurePage:
    """What a figure's own page is called.

    Attributes:
        name: Its folder, and the fragment that stands in for it elsewhere.
        element: The element that its script fills.
        title: Of the window.
        heading: Over the figure.
        about: One sentence for search engines.
    """

    name: str
    element: str
    title: str
    heading: str
    about: str


def write_figure(out: Path, page: FigurePage, stand_in: str, modules: Mapping[str, str]) -> None:
    """Write all files of a figure.

    Args:
        out: The folder that becomes part of the site's root.
        page: The figure.
        stand_in: What is there without JavaScript, in print and for search.
        modules: Generated scripts of its folder, by file name.
    """
    style = (WEB / page.name / "style.css").read_text(encoding="utf-8")
    made = {
        f"{page.name}.html": stand_in,
        f"{page.name}/index.html": _ALONE.format(
            policy=META,
            title=page.title,
            about=page.about,
            heading=page.heading,
            element=page.element,
            stand_in=stand_in,
        ),
        f"{page.name}/style.css": small_style(style),
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
