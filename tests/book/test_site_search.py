"""What the site's search knows: sections, the part of the book they stand in, and other words."""

from __future__ import annotations

import pytest

from steptime.book.site import search_index
from steptime.book.site.search_index import index, parts_of, sections, words

PAGE = """<nav><h2>Not this</h2></nav><article class="bd-article">
<section id="title"><h1>Pipelines<a class="headerlink" href="#title">#</a></h1>
<p>Cut into <b>stages</b>.
<table><tr><td>12 345<td>6</table><img src=x><svg><text>drawn</text></svg>
<section id="idle"><h2>Idle time</h2><p>A bubble<script>let x = "no";</script> grows.</p></section>
</section></article><footer><h2>Nor this</h2></footer>"""


def test_a_page_is_read_section_by_section_without_tables_and_drawings() -> None:
    first, second = sections(PAGE)
    assert (first.anchor, first.heading, "".join(first.text).split()) == (
        "title",
        "Pipelines",
        ["Cut", "into", "stages."],
    )
    assert (second.anchor, second.heading) == ("idle", "Idle time")
    assert "".join(second.text).split() == ["A", "bubble", "grows."]


def test_each_page_has_its_part_of_the_book() -> None:
    order = ["The model", "Use it", "Start", "Check it", "Look it up"]
    pages = [
        "book/pipeline",
        "book/index",
        "build/notebooks/12_bubble",
        "build/pages/python-inputs",
    ]
    assert list(parts_of(pages, order).values()) == [0, 2, 3, 4]
    with pytest.raises(ValueError, match=r"parts lacks Look it up"):
        parts_of(pages, order[:-1])


def test_a_place_that_is_gone_is_named() -> None:
    with pytest.raises(ValueError, match=r"#context-parallelism is in no page"):
        words({"book/sequence-context": {"renamed"}})


def test_the_reference_is_found_by_its_first_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "words", lambda known: [])
    long = f'<article><section id="a"><h1>A</h1><p>{"word " * 200}</p></section></article>'
    chapter, reference = index({"book/pipeline": long, "build/pages/python": long})["pages"]
    assert len(chapter[2][0][2]) == 999
    assert len(reference[2][0][2]) == 300
    # A page's own heading needs no anchor.
    assert chapter[2][0][0] == ""
