"""The page that a figure has of its own, beside its place in the book."""

from __future__ import annotations

from dataclasses import dataclass

from steptime.book.site.policy import META

_HTML = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{policy}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<meta name="description" content="{about}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css">
{shared}</head>
<body{kind}>
<main>
<h1>{heading}</h1>
{intro}<div id="{element}">
{stand_in}
</div>
</main>
<script src="index.js"></script>
</body>
</html>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlonePage:
    """What a figure's own page is called.

    Attributes:
        name: Its folder, and the fragment that stands in for it elsewhere.
        element: The element that its script fills.
        title: Of the window.
        heading: Over the figure; the title if empty.
        about: One sentence for search engines.
        kind: A class of the page whose style is its own; the style of all figures if empty.
        intro: A paragraph under the heading, as HTML.
    """

    name: str
    element: str
    title: str
    about: str
    heading: str = ""
    kind: str = ""
    intro: str = ""


def alone_html(page: AlonePage, stand_in: str) -> str:
    """Return the page.

    Args:
        page: What it is called.
        stand_in: What is there without JavaScript, in print and for search.
    """
    return _HTML.format(
        policy=META,
        title=page.title,
        about=page.about,
        shared="" if page.kind else '<link rel="stylesheet" href="../alone.css">\n',
        kind=page.kind and f' class="{page.kind}"',
        heading=page.heading or page.title,
        intro=page.intro and f"{page.intro}\n",
        element=page.element,
        stand_in=stand_in,
    )
