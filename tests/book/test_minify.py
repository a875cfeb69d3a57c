"""Scripts that are sent smaller do the same."""

from __future__ import annotations

import pytest

from steptime.book.brackets import without_needless
from steptime.book.mangle import smallest_script
from steptime.book.minify import small_script, small_style, tokens
from steptime.book.node import call_in_node


def test_minifying_keeps_text_and_operators() -> None:
    code = 'var a = "x  =  y";\n  // gone\n  b = a - -1;\n  return b + +c;'
    assert small_script(code) == 'var a="x  =  y";b=a- -1;return b+ +c;'


@pytest.mark.parametrize(
    ("code", "left"),
    [
        ("x=((a*b)*c)+d;", "x=a*b*c+d;"),
        ("x=(a*(b*c))-(d-e);", "x=a*(b*c)-(d-e);"),
        ("x=(a-b)+(c/d);", "x=a-b+c/d;"),
        ("x=-(a+b)*(-c);", "x=-(a+b)*(-c);"),
        ("x=f((a+b)*c,(d));", "x=f((a+b)*c,d);"),
        ("x=(a<b)?((c)):(d>=e);", "x=a<b?c:d>=e;"),
        ("x=(a?b:c)*d;", "x=(a?b:c)*d;"),
    ],
)
def test_needless_brackets_go_and_the_order_of_operations_stays(code: str, left: str) -> None:
    assert "".join(without_needless(tokens(code))) == left


def test_minifying_keeps_templates_and_regular_expressions() -> None:
    code = "const a = `x  ${ b }`;\nconst c = d / e / f;\nreturn [/a  [/]b/g, c];"
    assert small_script(code) == "const a=`x  ${ b }`;const c=d/e/f;return[/a  [/]b/g,c];"


def test_minifying_drops_trailing_commas() -> None:
    assert small_script("f(a, [b, ], { c, });") == "f(a,[b],{c});"


def test_minifying_refuses_a_template_in_a_template() -> None:
    with pytest.raises(ValueError, match="line 2: a template literal inside another"):
        small_script('let a;\na = `${b ? `x  ${c}` : ""}`;')


MANGLED = """
const limit = 4;
let counter = 0;
export function total(values, options) {
  const { factor, offset } = options;
  let running = offset;
  for (const value of values) running += value * factor;
  counter += 1;
  const holder = { running, counter, limit: running };
  const shown = `${running} after ${counter} of ${limit}`;
  const nested = (inner, other = 2) => inner.limit * other + holder.running;
  return [running, shown, nested(holder), [...values, running], holder.limit];
}
"""


def test_shortened_names_change_nothing() -> None:
    small = smallest_script(MANGLED)
    assert len(small) < len(small_script(MANGLED)) - 60
    for name in ("total", "factor", "offset", "running", "counter", "limit"):
        assert name in small
    for name in ("values", "holder", "shown", "nested", "inner"):
        assert name not in small
    calls = [("total", [[1, 2, 3.5], {"factor": 3, "offset": 0.25}]) for _ in range(2)]
    assert call_in_node(small, calls) == call_in_node(small_script(MANGLED), calls)


def test_small_styles_keep_what_needs_a_space() -> None:
    code = "/* gone */ .a .b > c:not(.d) { margin: 0 -1px; width: calc(1px + 2px); }\n"
    assert small_style(code) == ".a .b>c:not(.d){margin:0 -1px;width:calc(1px + 2px)}"
