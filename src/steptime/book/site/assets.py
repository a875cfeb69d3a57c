"""One style sheet and one script for every page, in place of the theme's nineteen files.

The theme, its parts and ours bring nine sheets, of which a page uses a tenth, and eleven scripts
for a button, two side bars and a dialog. The sheets become one of what some page can meet
(`stylesheet`); the scripts are replaced by ``book/web/page``.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path

from steptime.book.explorer_bundle import one_script
from steptime.book.minify import small_style
from steptime.book.site.search_index import INDEX, write_index
from steptime.book.site.stylesheet import Known, read_only, rules, text_of, used

WEB = Path(__file__).resolve().parents[4] / "book" / "web"
SHEET, SCRIPT, FIRST = "site.css", "site.js", "theme-first.js"
KEPT = frozenset({SHEET, SCRIPT, FIRST, INDEX, "favicon.svg"})
DROPPED = "dropped-selectors.json"
_SHEETS = re.compile(
    r'\s*<link (?:rel="stylesheet" type="text/css" )?href="[^"]*?_static/([^"?]+\.css)[^"]*"'
    r'(?: rel="stylesheet")? ?/>'
)
_SCRIPTS = re.compile(
    r'\s*<script(?![^>]*theme-first)[^>]*\bsrc="[^"]*_static/[^"]*"[^>]*></script>'
    r'|\s*<link rel="preload" as="script"[^>]*>'
)
_IMPORT = re.compile(r'@import "([^"]+)";')
_BY_MARKUP = re.compile(r'\s(?:class|id)=(?:"([^"]*)"|([\w-]+))')


def page_script() -> str:
    """Return the script that every page loads."""
    found = {
        path.relative_to(WEB).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted([*WEB.glob("page/*.js"), *WEB.glob("shared/*.js")])
    }
    return one_script("page/index.js", found)


def _sheet_text(path: Path) -> str:
    """Return a style sheet with what it imports before it."""
    text = path.read_text(encoding="utf-8").removeprefix('@charset "UTF-8";')
    return _IMPORT.sub(lambda match: _sheet_text(path.parent / match[1]), text)


def known_names(pages: list[str], scripts: str) -> Known:
    """Return the classes, ids and elements that stand in pages or that a script may make.

    Args:
        pages: Text of each.
        scripts: Text of all of them.
    """
    names = set(re.findall(r"[\w-]+", scripts))
    tags = set(names)
    for page in pages:
        for quoted, bare in _BY_MARKUP.findall(page):
            names.update((quoted or bare).split())
        tags.update(tag.lower() for tag in re.findall(r"<([a-zA-Z][\w-]*)", page))
    return Known(names=names, tags=tags)


def sheet(sources: list[str], known: Known, elsewhere: str) -> str:
    """Return one style sheet of what the pages use.

    Args:
        sources: Text of each sheet, in the order in which a page loads them.
        known: From `known_names`.
        elsewhere: Other text that may read the sheets' variables.
    """
    kept = tuple(rule for source in sources for rule in used(rules(source), known))
    return small_style(text_of(read_only(kept, elsewhere))) + "\n"


def linked(html: str, up: str, digest: str) -> str:
    """Return a page that loads the one sheet and the one script.

    Args:
        html: The page, with the theme's links or with ours of an earlier build.
        up: The way from the page to the site's root.
        digest: What changes when either does.
    """
    html = _SCRIPTS.sub("", _SHEETS.sub("", html))
    links = (
        f'\n<link rel="stylesheet" type="text/css" href="{up}_static/{SHEET}?v={digest}" />'
        f'\n<script defer src="{up}_static/{SCRIPT}?v={digest}"></script>'
    )
    first = re.search(r"<script src=\"[^\"]*theme-first\.js\"></script>", html)
    return html if first is None else html[: first.end()] + links + html[first.end() :]


def sheet_order(pages: list[str]) -> list[str]:
    """Return the theme's sheets in the order in which pages load them.

    Args:
        pages: Text of each; one that an earlier build finished names none.
    """
    names = (name for page in pages for name in _SHEETS.findall(page) if name != SHEET)
    return list(dict.fromkeys(names))


def write_assets(folder: Path, pages: dict[Path, str]) -> None:
    """Write the sheet and the script, lead each page to them, and drop the files they replace.

    Args:
        folder: Of the site.
        pages: Text by path, as it stands in the files.
    """
    static = folder / "_static"
    order = sheet_order(list(pages.values()))
    if not order:
        return  # nothing was written anew
    figures = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*/index.js"))]
    script = page_script()
    known = known_names(list(pages.values()), "\n".join([script, *figures]))
    styles = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*/style.css"))]
    said = [one for page in pages.values() for one in re.findall(r'style="[^"]*"', page)]
    sources = [_sheet_text(static / name) for name in order]
    made = sheet(sources, known, "\n".join([*styles, script, *figures, *said]))
    (static / SHEET).write_text(made, encoding="utf-8")
    (static / SCRIPT).write_text(script, encoding="utf-8")
    digest = sha256((made + script).encode()).hexdigest()[:8]
    for path, text in pages.items():
        up = "../" * path.relative_to(folder).as_posix().count("/")
        if (after := linked(text, up, digest)) != text:
            path.write_text(after, encoding="utf-8")
    write_index(folder, pages)
    # For the test that no page misses a rule: beside the site, not in it.
    (folder.parent / DROPPED).write_text(json.dumps(sorted(set(known.dropped))), encoding="utf-8")
    for path in sorted(static.rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif path.relative_to(static).parts[0] not in KEPT:
            path.unlink()
