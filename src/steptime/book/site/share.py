"""What a page says of itself: to search engines, to chats that show a link, and when it is lost."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape, unescape

from steptime.book.site.card import HEIGHT_PX, NAME, WIDTH_PX
from steptime.book.site.policy import META

LONGEST = 200
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_ARTICLE = re.compile(r'<article class="bd-article">(.*?)</article>', re.DOTALL)
_WIDGET = re.compile(
    r'<div id="[^"]*" class="st-widget".*?<script defer src="[^"]*/index\.js"', re.DOTALL
)
_PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
_MARK = '<meta property="og:title"'

LOST = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{policy}
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<title>Page not found · {title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1.1rem/1.6 system-ui, sans-serif; background: #fff; color: #1f2328; }}
a {{ color: #0a5cc2; }}
@media (prefers-color-scheme: dark) {{
  body {{ background: #14181f; color: #e6e9ee; }}
  a {{ color: #6fa8ff; }}
}}
main {{ max-width: 36rem; margin: 15vh auto; padding: 0 1rem; }}
</style>
</head>
<body>
<main>
<h1>Nothing is here</h1>
<p>The page was renamed or never was.
<a href="{home}">Start at the front page</a>, where every page can be reached and searched.</p>
</main>
{script}</body>
</html>
"""


_HOME = """
  // The book may lie in a folder of its host: its front page is above its own folders.
  const own = /\\/(?:FOLDERS)\\/.*/;
  document.querySelector("a").href = location.pathname.replace(own, "/").replace(/[^/]*$/, "");
"""


def lost(title: str, base: str, folders: Iterable[str]) -> str:
    """Return the page for an address without one.

    It may be shown at any depth, so it can load no file: where the site's address is not known,
    its one script is allowed by its digest.

    Args:
        title: Of the book.
        base: Where the site is published, with a slash at its end; empty if unknown.
        folders: The site's own, at its root.
    """
    if base:
        return LOST.format(title=title, policy=META, home=escape(base), script="")
    home = _HOME.replace("FOLDERS", "|".join(folders))
    digest = b64encode(sha256(home.encode()).digest()).decode()
    policy = META.replace("script-src 'self'", f"script-src 'sha256-{digest}'")
    script = f"<script>{home}</script>\n"
    return LOST.format(title=title, policy=policy, home="/", script=script)


def _text(markup: str) -> str:
    """Return markup as plain text on one line."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<math.*?</math>|<[^>]+>", "", markup))).strip()


def description(html: str) -> str:
    """Return a page's first paragraph, cut at a sentence or a word.

    Args:
        html: The whole page.
    """
    article = _ARTICLE.search(html)
    if article is None:
        return ""
    body = _WIDGET.sub("", article[1])
    # A formula taken out leaves a hole: such a paragraph describes nothing.
    found = [_text(one) for one in _PARAGRAPH.findall(body) if "<math" not in one]
    text = next((one for one in found if len(one) > 40), "")
    if len(text) <= LONGEST:
        return text
    cut = text[: LONGEST - 1]
    end = cut.rfind(". ")
    return cut[: end + 1] if end > LONGEST // 2 else cut[: cut.rfind(" ")] + "…"


def shared(html: str, up: str, address: str = "", base: str = "") -> str:
    """Return a page with what a link to it shows: title, description and picture.

    Args:
        html: The whole page.
        up: The way from the page to the site's root, such as ``../``.
        address: The page's path below the root.
        base: Where the site is published, with a slash at its end; empty if unknown.
    """
    title = _TITLE.search(html)
    if title is None or _MARK in html:
        return html
    name = _text(title[1]).rpartition(" — ")
    heading = name[0] or name[2]
    about = escape(description(html))
    lines = [
        f'{_MARK} content="{escape(heading)}">',
        '<meta property="og:type" content="article">',
        '<meta property="og:site_name" content="steptime">',
        f'<meta property="og:image" content="{base or up}{NAME}">',
        f'<meta property="og:image:width" content="{WIDTH_PX}">',
        f'<meta property="og:image:height" content="{HEIGHT_PX}">',
        '<meta name="twitter:card" content="summary_large_image">',
    ]
    if about:
        lines.append(f'<meta name="description" content="{about}">')
        lines.append(f'<meta property="og:description" content="{about}">')
    if base:
        lines.append(f'<meta property="og:url" content="{base}{address}">')
        # The theme writes one too, but not on a page that was cut from another.
        if 'rel="canonical"' not in html:
            lines.append(f'<link rel="canonical" href="{base}{address}">')
    return html.replace("</title>", "</title>\n" + "\n".join(lines), 1)
