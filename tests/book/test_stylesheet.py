"""One sheet of what pages use: a rule goes only if something that it asks for is nowhere."""

from __future__ import annotations

import pytest

from steptime.book.site.assets import known_names, linked, sheet, sheet_order
from steptime.book.site.stylesheet import Known, is_known, rules, text_of, used

KNOWN = Known(names={"a", "b", "c-d", "e/f"}, tags={"p", "html", "div"})


@pytest.mark.parametrize(
    ("selector", "stays"),
    [
        ("p.a > .b", True),
        ("p.a > .x", False),
        ("#x", False),
        ("html[data-theme=dark] .c-d:hover", True),
        ("p:not(.x)::before", True),
        ("div:is(.x, .y):has(> .z) p", True),
        ("table.a", False),
        (r".e\/f", True),
        ("[href$='.pdf']", True),
        ("*", True),
    ],
)
def test_a_selector_stays_if_all_that_it_asks_for_is_known(selector: str, stays: bool) -> None:
    assert is_known(selector, KNOWN) is stays


def test_groups_lists_strings_and_notices_are_followed() -> None:
    css = (
        '/*! A licence; {kept} */ /* gone */ .x,.a{content:"};{";color:red}'
        "@media print{.x{color:red}}@media (width>992px){.a{b:c}.x{d:e}}"
        "@keyframes m{from{top:0}to{top:1px}}.b{background:url(data:image/png;base64,a=)}"
    )
    known = Known(names={"a", "b"}, tags=set())
    assert text_of(used(rules(css), known)).splitlines() == [
        "/*! A licence; {kept} */",
        '.a{content:"};{";color:red}',
        "@media (width>62em){.a{b:c}}",
        "@keyframes m{from{top:0}to{top:1px}}",
        ".b{background:url(data:image/png;base64,a=)}",
    ]
    assert known.dropped == [".x", ".x", ".x"]


def test_variables_that_nothing_reads_go_and_no_file_is_asked_for() -> None:
    css = (
        ":root{--one:var(--two);--two:1px;--three:var(--four);--four:2px;--five:3px}"
        "@font-face{font-family:F;src:url(f.woff2)}.a{background:url(x.png);width:var(--one)}"
        "@keyframes turn{to{top:0}}@keyframes jump{to{top:0}}.b{animation:turn 1s}"
    )
    made = sheet([css], KNOWN, ".page{width:var(--five)}")
    assert "--two" in made
    assert "--five" in made
    assert "turn" in made
    assert not [one for one in ("--three", "--four", "url(", "@font-face", "jump") if one in made]


def test_classes_of_pages_and_words_of_scripts_are_known() -> None:
    known = known_names(['<p class="a b"><i id=c>', "<MATH>"], 'h("mark", { class: "st-where" })')
    assert {"a", "b", "c", "st-where"} <= known.names
    assert {"p", "i", "math", "mark"} <= known.tags


PAGE = """<head><script src="../_static/theme-first.js"></script>
<link href="../_static/styles/theme.css?digest=1" rel="stylesheet" />
<link rel="stylesheet" type="text/css" href="../_static/ours.css?v=2" />
<link rel="preload" as="script" href="../_static/scripts/bootstrap.js?digest=1" />
<script defer src="../_static/doctools.js?v=3"></script>
<link rel="icon" href="../_static/favicon.svg"/></head>
<link rel="stylesheet" href="../schedule/style.css">
<script defer src="../schedule/index.js"></script>
"""


def test_a_page_loads_one_sheet_one_script_and_what_its_figure_brings() -> None:
    assert sheet_order([PAGE]) == ["styles/theme.css", "ours.css"]
    page = linked(PAGE, "../", "abc")
    assert page.count("_static/") == 4
    assert '"../_static/site.css?v=abc"' in page
    assert '<script defer src="../_static/site.js?v=abc"' in page
    assert "../schedule/style.css" in page
    assert "../schedule/index.js" in page
    assert linked(page, "../", "abc") == page
    assert sheet_order([page]) == []
