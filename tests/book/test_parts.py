"""Pages of the reference, cut into one a module: every name is found where it was."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steptime.book.site.parts import cut, standing
from steptime.book.site.polish import drop_gone

WHOLE = """<html><head><title>steptime.room &#8212; steptime</title>
<link rel="next" title="x" href="x.html" /></head><body>
<div id="jb-print-docs-body" class="onlyprint"><p>steptime.room</p><nav aria-label="Page">
<ul class="pst-show_toc_level nav section-nav flex-column"><li>old</li></ul></nav></div>
<article class="bd-article"><section id="room"><h1>steptime.room</h1><p>About the room.</p>
<section id="one"><h2>steptime.room.one<a class="headerlink" href="#one">#</a></h2><p>First.</p>
<section id="add"><h3><code>add</code><a class="headerlink" href="#add">#</a></h3>
<p>See <a href="#take">take</a>, <a href="#add">itself</a>.</p></section></section>
<section id="two"><h2>steptime.room.two<a class="headerlink" href="#two">#</a></h2><p>Second.</p>
<section id="take"><h3><code>take</code><a class="headerlink" href="#take">#</a></h3></section>
<p id="formula-two"><strong>What is taken.</strong></p></section>
</section></article><footer><div class="prev-next-area"><div>old</div></div>
                </footer></body></html>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a site of one page of the reference and one that leads into it."""
    pages = tmp_path / "build" / "pages"
    pages.mkdir(parents=True)
    (pages / "python-room.html").write_text(WHOLE, encoding="utf-8")
    (pages / "python-room-gone.html").write_text("of an earlier build", encoding="utf-8")
    link = '<a href="build/pages/python-room.html#take">take</a> <a href="#here">here</a>'
    (tmp_path / "book.html").write_text(link, encoding="utf-8")
    cut(tmp_path)
    return tmp_path


def test_a_page_becomes_a_list_and_a_page_a_module(folder: Path) -> None:
    pages = folder / "build" / "pages"
    assert sorted(one.name for one in pages.iterdir()) == [
        "python-room-one.html",
        "python-room-two.html",
        "python-room.html",
    ]
    listed = (pages / "python-room.html").read_text(encoding="utf-8")
    # Every old place is still one of the page, and leads on.
    for place in ("one", "two", "add", "take", "formula-two"):
        assert listed.count(f'id="{place}"') == 1
    assert 'href="python-room-two.html#take"' in listed
    assert "See" not in listed
    two = (pages / "python-room-two.html").read_text(encoding="utf-8")
    assert "<title>steptime.room.two &#8212; steptime</title>" in two
    assert re.findall(r"<h(\d)>", two) == ["1", "2"]
    assert 'href="python-room-one.html" title="previous page"' in two
    assert "old" not in two


def test_links_lead_to_the_part_that_has_their_end(folder: Path) -> None:
    pages = folder / "build" / "pages"
    book = (folder / "book.html").read_text(encoding="utf-8")
    assert 'href="build/pages/python-room-two.html#take"' in book
    assert 'href="#here"' in book
    one = (pages / "python-room-one.html").read_text(encoding="utf-8")
    assert '<a href="python-room-two.html#take">take</a>, <a href="#add">itself</a>' in one


def test_what_was_cut_is_not_cut_again(folder: Path) -> None:
    before = {one: one.read_text(encoding="utf-8") for one in folder.rglob("*.html")}
    cut(folder)
    assert {one: one.read_text(encoding="utf-8") for one in folder.rglob("*.html")} == before


def test_a_page_whose_source_is_gone_goes_and_a_page_cut_before_stays(folder: Path) -> None:
    parts = {f"build/pages/python-room-{name}.html" for name in ("one", "two")}
    assert standing(folder) == parts
    themed, own = '<main id="main-content"></main>', "<p>a widget</p>"
    for place in (*parts, "genindex.html", "book.html", "build/pages/python-room-more.html"):
        (folder / place).write_text(themed, encoding="utf-8")
    (folder / "widget.html").write_text(own, encoding="utf-8")
    drop_gone(folder, {"book", "build/pages/python-room"})
    left = {one.relative_to(folder).as_posix() for one in folder.rglob("*.html")}
    assert left == parts | {"book.html", "widget.html", "build/pages/python-room.html"}
