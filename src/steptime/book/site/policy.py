"""What a page may load: its own host's files, no script inside the page, nothing evaluated.

Host of the site and search engines read the rest: a map of all pages where the address is known.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

_DIRECTIVES = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
)
POLICY = "; ".join(_DIRECTIVES)
META = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
THEME_FIRST = """(() => {
  let mode = "auto";
  // A private window may refuse to remember.
  try { mode = localStorage.getItem("mode") || "auto"; } catch (refused) { }
  const night = matchMedia("(prefers-color-scheme: dark)").matches;
  const dark = mode === "dark" || (mode === "auto" && night);
  document.documentElement.dataset.mode = mode;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
"""
"""Runs before anything is painted; so it may not wait as the other scripts do."""
_INLINE = re.compile(
    r"\s*<script>(?:DOCUMENTATION_OPTIONS\.[^<]*|\s*// Activate the search field[^<]*)</script>"
)
_CHARSET = re.compile(r'<meta charset="utf-8" ?/?>')
_WAITS = re.compile(r"<script (?![^>]*\bdefer\b)([^>]*\bsrc=(?!\"[^\"]*theme-first\.js)[^>]*)>")


def strict(html: str) -> str:
    """Return a page under the policy; no script stands in it, and all but one wait.

    Args:
        html: The whole page.
    """
    html = _WAITS.sub(r"<script defer \1>", _INLINE.sub("", html))
    if META in html:
        return html
    return _CHARSET.sub(lambda match: f"{match[0]}\n{META}", html, count=1)


def write_beside(folder: Path, base: str) -> None:
    """Write what stands beside the pages: scripts taken out of them, and files for machines.

    Args:
        folder: Of the site.
        base: Where the site is published, with a slash at its end; empty if unknown.
    """
    static = folder / "_static"
    (static / "theme-first.js").write_text(THEME_FIRST, encoding="utf-8")
    (folder / ".nojekyll").touch()
    robots = "User-agent: *\nAllow: /\n"
    if base:
        robots += f"Sitemap: {base}sitemap.xml\n"
        (folder / "sitemap.xml").write_text(sitemap(folder, base), encoding="utf-8")
    (folder / "robots.txt").write_text(robots, encoding="utf-8")


def sitemap(folder: Path, base: str) -> str:
    """Return the map of all pages of the book.

    Args:
        folder: Of the site.
        base: As in `write_beside`.
    """
    pages = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.html"))]
    left_out = ("404.html", "search.html", "index.html")
    known = [one for one in pages if one not in left_out and not one.startswith("_static")]
    rows = "".join(f"<url><loc>{escape(base + one)}</loc></url>\n" for one in known)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f'{head}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>\n'
