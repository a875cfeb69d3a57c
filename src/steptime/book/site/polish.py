"""Mend what the theme leaves undone, in the finished HTML of each page.

The theme writes scripts into pages, for a live-code runner that this book does not use, and
some of its buttons have no name. Each mend below says what it is for; what pages load is
`assets`. They work on the text of the page,
so a build that goes round ours, such as ``jupyter-book build .``, gets them too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steptime.book.site.assets import write_assets
from steptime.book.site.drawings import lighter
from steptime.book.site.parts import cut, standing
from steptime.book.site.policy import META, strict, write_beside
from steptime.book.site.share import lost, shared

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_FIGURE_SHEET = re.compile(r'<link rel="stylesheet" href="[^"]*/style\.css">\n?')
THEME_FIRST = '<script src="{up}_static/theme-first.js"></script>'

REMOVED = (
    # Live code is not offered: its runner would come from another host.
    r"\s*<script>const THEBE_JS_URL = .*?</script>",
    r'\s*<script type="text/x-thebe-config">.*?</script>',
    r"\s*<script>kernelName = .*?</script>",
    # Folding is done by <details>.
    r"\s*<script>let toggle(?:Hint|Open)\w+ = .*?</script>",
    r"\s*<script>var togglebuttonSelector = .*?</script>",
    # The index of all words: the search page has one of its own, loaded when asked.
    r'\s*<script[^>]*src="[^"]*searchindex\.js[^"]*"></script>',
    # No advertisements.
    r'<div id="ethical-ad-placement".*?</div>',
    r'\s*<meta name="docsearch:[^>]*/>',
    # Said once is enough.
    r'<meta name="viewport" content="width=device-width, initial-scale=1"\s*/>',
)
SEARCH = "search"
"""Name of the page that the theme has and no source makes."""
START = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{meta}
<title>{title}</title>
<meta http-equiv="refresh" content="0; url={target}">
<link rel="canonical" href="{target}">
<link rel="icon" href="_static/favicon.svg">
<meta property="og:title" content="{title}">
<meta property="og:image" content="{base}card.png">
<meta property="og:description" content="{about}">
<meta name="description" content="{about}">
</head>
<body><main><h1>{title}</h1><p><a href="{target}">Read the book</a></p></main></body>
</html>
"""
ABOUT = "How long one training step of a large language model takes, and where the time goes."
REPLACED = (
    # The standard has withdrawn this role.
    (r'(<div class="citation" id="[^"]*") role="doc-biblioentry">', r"\1>"),
    (r'<div role="list" class="citation-list">', '<div class="citation-list">'),
    # A button needs a name; a tooltip is none for a screen reader.
    (r'(<button class="sidebar-toggle [^"]*") title="([^"]*)"', r'\1 title="\2" aria-label="\2"'),
    # One with words in it is called by them.
    (r'(<button class="btn search-button-field[^>]*?) aria-label="Search"', r"\1"),
    # All that a page shows belongs to a landmark.
    (
        r'<div id="pst-primary-sidebar" class="([^"]*)">',
        r'<div id="pst-primary-sidebar" class="\1" role="complementary" aria-label="Book">',
    ),
    # An icon says nothing that its button does not.
    (r'<(i|span) class="((?:theme-switch )?fa-[^"]*)"', r'<\1 class="\2" aria-hidden="true"'),
    # The chevron's summary has no text of its own.
    (
        r"<summary><span class=\"toctree-toggle\" role=\"presentation\">",
        '<summary aria-label="Show the pages below"><span class="toctree-toggle">',
    ),
    # An option stays whole, a long one in running text alone (the style sheet says so); a name in
    # code breaks where its words do (`_breaking`).
    (r'<span class="pre">(-\w)</span>', r'<span class="pre st-short">\1</span>'),
    (r'<span class="pre">(--\w[\w-]{0,24})</span>', r'<span class="pre st-option">\1</span>'),
    # A heading inside the navigation would stand before the page's own.
    (r'<p aria-level="2" class="caption" role="heading">', '<p class="caption">'),
    # A head says which cells it is the head of.
    (r'<th class="head([^"]*)">', r'<th class="head\1" scope="col">'),
    # The print-only title doubles the page's first heading.
    (r'(<div id="jb-print-docs-body" class="onlyprint")>', r'\1 aria-hidden="true">'),
    (r'(<div id="jb-print-docs-body"[^>]*>\s*)<h1>(.*?)</h1>', r"\1<p>\2</p>"),
    (
        r'<div class="pst-scrollable-table-container">',
        '<div class="pst-scrollable-table-container st-scroll">',
    ),
)


def sheets_first(html: str) -> str:
    """Return a page whose figures' styles stand in its head: else what follows them jumps.

    Args:
        html: The whole page.
    """
    found = dict.fromkeys(one.rstrip("\n") for one in _FIGURE_SHEET.findall(html))
    lines = "".join(f"{one}\n" for one in found)
    return _FIGURE_SHEET.sub("", html).replace("</head>", f"{lines}</head>", 1)


_NAME = re.compile(r'<span class="pre">([^<]*[_/.][^<]*)</span>')


def _breaking(hit: re.Match[str]) -> str:
    """Return a name in code that may be broken between its words, not within one."""
    name = re.sub(r"([_/]|[.](?=[a-z]))(?=..)", r"\1<wbr>", hit[1])
    return f'<span class="pre">{name}</span>'


def polished(html: str, up: str = "") -> str:
    """Return a page with every mend made; doing it twice changes nothing more.

    Args:
        html: The page as the theme wrote it.
        up: The way from the page to the site's root, such as ``../``.
    """
    for pattern in REMOVED:
        html = re.sub(pattern, "", html, flags=re.DOTALL)
    first = THEME_FIRST.format(up=up)
    html = re.sub(r'<script data-cfasync="false">.*?</script>', first, html, flags=re.DOTALL)
    html = strict(html)
    for pattern, text in REPLACED:
        html = re.sub(pattern, text, html, flags=re.DOTALL)
    html = _NAME.sub(_breaking, html)
    html = sheets_first(lighter(html))
    if "bd-sidebar-secondary" not in html:
        html = html.replace('<div class="bd-content">', '<div class="bd-content st-whole">')
    return re.sub(r'( aria-hidden="true"| aria-label="[^"]*"| st-scroll)\1+', r"\1", html)


def themed(html: str) -> bool:
    """Return whether the theme made a page: not one of our own, such as a widget alone."""
    return 'id="pst-header"' in html or 'id="main-content"' in html


def drop_gone(folder: Path, sources: set[str]) -> None:
    """Take away pages of an earlier build whose source is gone.

    Args:
        folder: Of the site, its pages cut.
        sources: Names of what the theme makes pages of, from the site's root.
    """
    known = {f"{name}.html" for name in sources} | standing(folder)
    for path in sorted(folder.rglob("*.html")):
        if path.relative_to(folder).as_posix() in known:
            continue
        if themed(path.read_text(encoding="utf-8")):
            path.unlink()


def polish_site(app: Sphinx, failure: Exception | None) -> None:
    """Mend every page once the build is done, and drop files that nothing loads now.

    Args:
        app: The finished build.
        failure: What ended it early, if anything.
    """
    if failure is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    cut(folder)
    drop_gone(folder, {*app.env.found_docs, SEARCH})
    pages: dict[Path, str] = {}
    for path in sorted(folder.rglob("*.html")):
        if path.parts[len(folder.parts)] == "_static":
            continue
        before = path.read_text(encoding="utf-8")
        if not themed(before):
            continue
        address = path.relative_to(folder).as_posix()
        up = "../" * address.count("/")
        after = shared(polished(before, up=up), up, address, app.config.html_baseurl)
        pages[path] = after
        if after != before:
            path.write_text(after, encoding="utf-8")
    title, base = app.config.html_title, app.config.html_baseurl
    start = START.format(meta=META, title=title, target="book/index.html", base=base, about=ABOUT)
    (folder / "index.html").write_text(start, encoding="utf-8")
    own = sorted(one.name for one in folder.iterdir() if one.is_dir())
    (folder / "404.html").write_text(lost(title, base, own), encoding="utf-8")
    write_beside(folder, base)
    write_assets(folder, pages)


def without_index(app: Sphinx) -> None:
    """Let Sphinx index nothing: the site's search is ours (`search_index`).

    Args:
        app: The build that starts.
    """
    from sphinx.builders.html import StandaloneHTMLBuilder

    if isinstance(app.builder, StandaloneHTMLBuilder):
        app.builder.search = False


def search_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the page of the search, which Sphinx writes only with its own index.

    Args:
        app: The running build.
    """
    yield SEARCH, {}, "search.html"


def setup(app: Sphinx) -> None:
    """Register what comes before the build and after it."""
    app.connect("builder-inited", without_index)
    app.connect("html-collect-pages", search_page)
    # After the theme's own last step, which writes the colours of code.
    app.connect("build-finished", polish_site, priority=900)
