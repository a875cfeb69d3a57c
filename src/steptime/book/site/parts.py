"""Cut a page of the reference into one page a module, once Sphinx has written it.

A page with every function of a room was up to two hundred screens high. The page stays, as the list
of its modules; each module has a page of its own beside it. What was found at an address of the
whole page is still found there: each name keeps its place in the list, and leads on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

CUT = ("build/pages/formulas-*.html", "build/pages/python-*.html")
"""The pages that are cut, from the site's root."""
LIST, PART = '<div class="st-modules">', '<p class="st-part">'
_ARTICLE = re.compile(r'(<article class="bd-article">)(.*?)(?=</article>)', re.S)
_EDGE = re.compile(r"<section\b[^>]*>|</section>")
_HEADING = re.compile(r"<h2>(.*?)<a class=\"headerlink\"", re.S)
_ID = re.compile(r'\bid="([^"]+)"')
_NAMED = re.compile(
    r'<section id="([^"]+)">\s*<h3>(.*?)<a class="headerlink"'
    r'|<p id="([^"]+)"><strong>(.*?)</strong></p>',
    re.S,
)
_CONTENTS = re.compile(
    r'<ul class="pst-show_toc_level nav section-nav flex-column">.*?(?=</nav>)', re.S
)
_PRINTED = re.compile(r'(<div id="jb-print-docs-body"[^>]*>\s*)<p>.*?</p>', re.S)
_BESIDE = re.compile(r'(<div class="prev-next-area">).*?</div>(?=\s*</footer>)', re.S)
_ALSO = re.compile(r'\s*<link rel="(?:next|prev|canonical)"[^>]*>')
_LINK = re.compile(r'href="(?:((?:[^"#]*/)?)([\w.-]+\.html))?#([^"]+)"')
_META = re.compile(r'\s*<meta (?:property="og:|name="(?:twitter:card|description)")[^>]*>')


@dataclass(frozen=True, slots=True)
class Part:
    """A module of a page.

    Attributes:
        file: Name of the page that it gets.
        name: Its heading, as text.
        markup: Its section.
    """

    file: str
    name: str
    markup: str

    @property
    def ids(self) -> list[str]:
        """Return every place in it that a link may lead to."""
        return _ID.findall(self.markup)

    @property
    def named(self) -> list[tuple[str, str]]:
        """Return the place and the name of each thing in it."""
        return [(hit[1] or hit[3], hit[2] or hit[4]) for hit in _NAMED.finditer(self.markup)]


def _sections(markup: str) -> list[tuple[int, int]]:
    """Return where each section of the second level begins and ends."""
    found, depth, began = [], 0, 0
    for edge in _EDGE.finditer(markup):
        if edge[0] == "</section>":
            if depth == 2:
                found.append((began, edge.end()))
            depth -= 1
        else:
            depth += 1
            if depth == 2:
                began = edge.start()
    return found


def parts_of(html: str, stem: str) -> list[Part]:
    """Return the modules of a page; none where there is nothing to cut.

    Args:
        html: The whole page.
        stem: Its file's name without the ending.
    """
    article = _ARTICLE.search(html)
    if article is None or LIST in html or PART in html:
        return []
    room = stem.partition("-")[2]
    found = []
    for first, last in _sections(article[2]):
        markup = article[2][first:last]
        heading = _HEADING.search(markup)
        if heading is None:
            return []
        name = re.sub(r"<[^>]+>", "", heading[1])
        words = name.removeprefix("steptime.").removeprefix(room).strip(".").replace(".", "-")
        found.append(Part(f"{stem}-{words or 'itself'}.html", name, markup))
    return found


def _contents(entries: list[tuple[str, str]]) -> str:
    rows = "".join(
        '<li class="toc-h2 nav-item toc-entry"><a class="reference internal nav-link" '
        f'href="#{place}">{name}</a></li>\n'
        for place, name in entries
    )
    return f'<ul class="pst-show_toc_level nav section-nav flex-column">\n{rows}</ul>\n'


def list_page(html: str, parts: list[Part]) -> str:
    """Return the page as the list of its modules, each name where it was.

    Args:
        html: The whole page.
        parts: From `parts_of`.
    """

    def row(part: Part) -> str:
        place = part.ids[0]
        about = re.search(r"</h2>\s*(<p>.*?</p>)", part.markup, re.S)
        names = "\n".join(
            f'<li><a id="{at}" href="{part.file}#{at}">{name}</a></li>' for at, name in part.named
        )
        return (
            f'<section id="{place}">\n<h2><a href="{part.file}">{part.name}</a></h2>\n'
            f'{about[1] if about else ""}\n<ul class="simple">{names}</ul>\n</section>\n'
        )

    def listed(article: re.Match[str]) -> str:
        first = _sections(article[2])[0][0]
        rows = "".join(map(row, parts))
        return f"{article[1]}{article[2][:first]}{LIST}\n{rows}</div>\n</section>\n"

    # The room stands over the list: beside the page there is no room for it in each line.
    contents = _contents([(one.ids[0], one.name.split(".", 2)[-1]) for one in parts])
    return _CONTENTS.sub(lambda _: contents, _ARTICLE.sub(listed, html))


def _way(part: Part | None, kind: str, turn: str) -> str:
    if part is None:
        return ""
    icon = f'<i class="fa-solid fa-angle-{turn}" aria-hidden="true"></i>'
    words = (
        f'<div class="prev-next-info"><p class="prev-next-subtitle">{kind}</p>'
        f'<p class="prev-next-title">{part.name}</p></div>'
    )
    inner = icon + words if turn == "left" else words + icon
    return f'<a class="{turn}-{kind[:4]}" href="{part.file}" title="{kind} page">{inner}</a>'


def part_page(html: str, stem: str, parts: list[Part], at: int) -> str:
    """Return a module's page.

    Args:
        html: The whole page that it is cut from.
        stem: That page's name without the ending.
        parts: From `parts_of`.
        at: Which of them.
    """
    part = parts[at]
    body = re.sub(r"(</?h)([23])\b", lambda tag: f"{tag[1]}{int(tag[2]) - 1}", part.markup)
    title = re.search(r"<title>(.*?)( &#8212;.*?)</title>", html, re.S)
    whole = title[1] if title else "the list"
    up = f'{PART}One module of <a href="{stem}.html">{whole}</a>.</p>'
    body = re.sub(r"(</h1>)", lambda end: f"{end[1]}\n{up}", body, count=1)
    before, after = (
        (parts[at - 1] if at else None),
        (parts[at + 1] if at + 1 < len(parts) else None),
    )
    ways = f"{_way(before, 'previous', 'left')}{_way(after, 'next', 'right')}"
    html = _ARTICLE.sub(lambda hit: f"{hit[1]}\n{body}\n", html)
    html = _META.sub("", _ALSO.sub("", html))
    html = _CONTENTS.sub(lambda _: _contents(part.named), html)
    html = _PRINTED.sub(lambda hit: f"{hit[1]}<p>{part.name}</p>", html)
    html = _BESIDE.sub(lambda hit: f"{hit[1]}{ways}</div>", html)
    ending = title[2] if title else ""
    return re.sub(r"<title>.*?</title>", f"<title>{part.name}{ending}</title>", html, flags=re.S)


def _moved(html: str, own: str, where: dict[str, dict[str, str]], whole: str | None) -> str:
    """Return a page whose links lead to the pages that what they name is on now.

    Args:
        html: The page.
        own: Its file's name.
        where: The part that has each place, by place, of each page that was cut.
        whole: The page that this one was cut from, None for any other.
    """

    def led(link: re.Match[str]) -> str:
        way, file, place = link.groups()
        # Within the list every name has its place; within a part it may be in another one.
        part = where.get(file or whole or "", {}).get(place)
        if part is None:
            return link[0]
        return f'href="#{place}"' if part == own else f'href="{way or ""}{part}#{place}"'

    return _LINK.sub(led, html)


def cut(folder: Path) -> None:
    """Cut every page of the reference, and lead all links to where their ends are now.

    Args:
        folder: Of the site.
    """
    where: dict[str, dict[str, str]] = {}
    wholes: dict[str, str] = {}
    for path in sorted(one for pattern in CUT for one in folder.glob(pattern)):
        if not path.is_file():
            continue  # a part of an earlier build, taken away with its whole
        html = path.read_text(encoding="utf-8")
        parts = parts_of(html, path.stem)
        if not parts:
            continue
        for stale in path.parent.glob(f"{path.stem}-*.html"):
            stale.unlink()
        for at, part in enumerate(parts):
            page = part_page(html, path.stem, parts, at)
            (path.parent / part.file).write_text(page, encoding="utf-8")
            wholes[part.file] = path.name
        where[path.name] = {one: part.file for part in parts for one in part.ids}
        path.write_text(list_page(html, parts), encoding="utf-8")
    for path in sorted(folder.rglob("*.html")) if where else ():
        html = path.read_text(encoding="utf-8")
        moved = _moved(html, path.name, where, wholes.get(path.name))
        if moved != html:
            path.write_text(moved, encoding="utf-8")


def standing(folder: Path) -> set[str]:
    """Return the addresses of the modules' pages that a list leads to, from the site's root.

    Args:
        folder: Of the site, its pages cut.
    """
    found = set()
    for path in (one for pattern in CUT for one in folder.glob(pattern)):
        html = path.read_text(encoding="utf-8")
        if LIST in html:
            files = re.findall(r'<h2><a href="([\w.-]+\.html)"', html)
            found |= {(path.parent / file).relative_to(folder).as_posix() for file in files}
    return found
