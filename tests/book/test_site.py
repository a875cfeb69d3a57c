"""The site's own parts: formulas, reference pages, labels, and the theme's mends."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from steptime.book.site import command_pages, docstrings, python_pages
from steptime.book.site.drawings import lighter
from steptime.book.site.mathml import FormulaError, to_mathml
from steptime.book.site.policy import write_beside
from steptime.book.site.polish import polished
from steptime.book.site.share import lost, shared

ROOT = Path(__file__).resolve().parents[2]

# Formulas


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{p-1}{m+p-1}",
        r"T = \max\left(T_\text{compute}, T_{\text{memory}}\right)",
        r"\begin{aligned} a &= b + c \\ d &= e \end{aligned}",
        r"\begin{cases} 1 & x > 0 \\ 0 & \text{otherwise} \end{cases}",
        r"\left\lceil \tfrac{l}{p} \right\rceil \cdot 10^{9}",
        r"a < b \le c \times \hat{y}",
    ],
)
@pytest.mark.parametrize("display", [False, True])
def test_formula_is_well_formed_and_keeps_its_latex(latex: str, display: bool) -> None:
    # A parser for XML, since a stray & or < would pass a browser unseen.
    element = ET.fromstring(to_mathml(latex, display))
    assert element.tag == "math"
    assert element.get("alttext") == re.sub(r"\s+", " ", latex)
    assert (element.get("display") == "block") is display
    assert "\\" not in "".join(element.itertext())


def test_words_in_a_formula_stay_words() -> None:
    assert "<mi>FLOP/s</mi>" in to_mathml(r"10^9\,\mathrm{FLOP/s}")


def test_alignment_becomes_a_table_of_as_many_columns() -> None:
    element = ET.fromstring(to_mathml(r"\begin{aligned} a &= b \\ c &= d \end{aligned}", True))
    assert [len(row) for row in element.iter("mtr")] == [2, 2]


@pytest.mark.parametrize("latex", [r"\frac{a}{", r"\nosuchcommand{x}", r"a & b"])
def test_formula_that_cannot_be_drawn_is_refused(latex: str) -> None:
    with pytest.raises(FormulaError):
        to_mathml(latex)


def test_every_formula_of_the_pages_can_be_drawn() -> None:
    found = 0
    for path in (ROOT / "book").glob("*.md"):
        text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for block, inline in re.findall(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+)\$", text, re.DOTALL):
            to_mathml(block or inline, bool(block))
            found += 1
    assert found > 20


# The Python reference

SOURCE = '''"""What the module does."""

def step_s(parts: dict[str, float], *, scale: float = 1.0) -> float:
    """Return the sum.

    One line, with ``code`` and $ signs.

    Args:
        parts: Seconds of each part,
            over two lines.
        scale: A factor.

    Returns:
        Seconds.

    Raises:
        ConfigError: If it is empty.

    References:
        narayanan2021, Sec. 2.2; derived here.
    """
    return 0.0


class Shape:
    """A shape."""

    def size(self) -> int:
        """Return its size."""
        return 1

    def _hidden(self) -> None: ...


def _hidden() -> None: ...
'''


@pytest.fixture
def package(tmp_path: Path) -> Path:
    room = tmp_path / "steptime" / "formulas"
    room.mkdir(parents=True)
    (room / "__init__.py").write_text('"""Pure arithmetic."""\n', encoding="utf-8")
    (room / "step.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path / "steptime"


def test_reference_page_says_all_that_the_docstring_does(package: Path) -> None:
    text = python_pages.room_page("formulas", package, frozenset({"narayanan2021"}))
    assert "# steptime.formulas\n\nPure arithmetic." in text
    assert "## steptime.formulas.step\n\nWhat the module does." in text
    assert "step_s(parts: dict[str, float], *, scale: float=1.0) -> float" in text
    assert "- `parts`: Seconds of each part, over two lines." in text
    assert r"with `code` and \$ signs" in text
    assert "- `ConfigError`: If it is empty." in text
    assert "Source: {cite:t}`narayanan2021`, Sec. 2.2; derived here." in text
    assert "Shape.size() -> int" in text
    assert "_hidden" not in text


def test_long_signatures_stand_on_lines_of_their_own(package: Path) -> None:
    (package / "formulas" / "step.py").write_text(
        "def f(first: dict[str, tuple[float, float]], second: list[float]) -> dict[str, float]:\n"
        '    """Return it."""\n    return {}\n',
        encoding="utf-8",
    )
    (member,) = docstrings.public_members(package / "formulas" / "step.py")
    assert member.signature.splitlines() == [
        "f(",
        "    first: dict[str, tuple[float, float]],",
        "    second: list[float],",
        ") -> dict[str, float]",
    ]


def test_a_record_shows_its_fields(package: Path) -> None:
    (package / "formulas" / "step.py").write_text(
        'class Parts(TypedDict):\n    """A step."""\n\n    bubble: float\n\n\n'
        'class Job(Protocol):\n    """A record."""\n\n    @property\n'
        '    def tp(self) -> float:\n        """Size, t."""\n',
        encoding="utf-8",
    )
    parts, job = docstrings.public_members(package / "formulas" / "step.py")
    assert parts.signature == "Parts(bubble: float)"
    assert job.signature == "Job"
    assert job.members == ()
    assert job.doc.sections == {"Attributes": ["tp: Size, t."]}


def test_every_room_has_a_page_and_the_index_leads_to_it() -> None:
    pages = python_pages.pages(ROOT / "src" / "steptime", ROOT / "data" / "references.bib")
    for room in python_pages.ROOMS:
        assert f"(python-{room}.md)" in pages["python.md"]
        assert pages[f"python-{room}.md"].count("\n### `") >= 3


# The command line's page


def test_command_page_lists_commands_options_and_examples() -> None:
    app = typer.Typer()

    @app.command("predict", epilog="Examples:\n\n- `steptime predict --tp 8\n  --json`")
    def predict(tp: int = typer.Option(1, "--tp", "-t", help="Size | of a group.")) -> None:
        """Predict the time of one step."""

    @app.command("list")
    def other(name: str = typer.Argument(..., help="Which.")) -> None:
        """List them."""

    text = command_pages.page(get_command(app))
    assert "## `steptime predict`" in text
    assert "Predict the time of one step." in text
    assert "| `--tp`, `-t` | Size \\| of a group. Default: `1`. |" in text
    assert "- `steptime predict --tp 8 --json`" in text
    assert "| `NAME` | Which. Required. |" in text


# The theme's mends

PAGE = """<html><head>
<script data-cfasync="false">
document.documentElement.dataset.mode = "";
</script>
<script defer src="../_static/scripts/fontawesome.js?digest=1"></script>
<script>const THEBE_JS_URL = "https://elsewhere.example/thebe.js"; const x = 1</script>
<script src="../searchindex.js"></script>
</head><body>
<button class="sidebar-toggle primary-toggle btn" title="Toggle sidebar">
<span class="fa-solid fa-bars"></span></button>
<div id="pst-primary-sidebar" class="bd-sidebar">
<p aria-level="2" class="caption" role="heading">Start</p></div>
<summary><span class="toctree-toggle" role="presentation"></span></summary>
<div class="pst-scrollable-table-container"><table></table></div>
</body></html>"""


def test_page_is_mended() -> None:
    page = polished(PAGE)
    assert "elsewhere.example" not in page
    assert "searchindex" not in page
    assert 'aria-label="Toggle sidebar"' in page
    assert 'aria-label="Book"' in page
    assert 'role="heading"' not in page
    assert page.index("theme-first.js") < page.index("</head>")
    assert not re.search(r"<script(?![^>]*src=)", page)


def test_every_head_of_a_table_says_what_it_is_the_head_of() -> None:
    page = polished('<th class="head text-right"><p>GPUs</p></th><th class="head">run</th>')
    assert page.count('scope="col"') == 2


def test_points_that_look_alike_say_it_once_and_keep_their_order() -> None:
    def point(x: int, style: str) -> str:
        return f'<use href="#m" x="{x}" y="1.5" style="{style}"/>\n  '

    red, blue = "fill: red; stroke-opacity: 0.6", "fill: blue"
    figure = '<svg class="st-figure"><g>\n' + point(1, red) + point(2, red) + point(3, blue)
    page = lighter(f'{figure}<path d="M 0 0 \nL 1 1 \n"/><text>a  b</text></g></svg>')
    assert page == (
        f'<svg class="st-figure"><g><g style="{red}"><use href="#m" x="1" y="1.5"/>'
        f'<use href="#m" x="2" y="1.5"/></g><g style="{blue}"><use href="#m" x="3" y="1.5"/></g>'
        '<path d="M 0 0 L 1 1 "/><text>a  b</text></g></svg>'
    )
    assert lighter(page) == page
    # Opacity of a group is another thing than of each point.
    faint = '<svg class="st-figure">' + 2 * point(1, "opacity: 0.5").strip() + "</svg>"
    assert lighter(faint) == faint


def test_mending_twice_changes_nothing_more() -> None:
    assert polished(polished(PAGE)) == polished(PAGE)


# What search engines, chats and lost readers get


def test_where_the_address_is_known_links_are_whole(tmp_path: Path) -> None:
    base = "https://book.example/steptime/"
    page = "<head><title>Pipelines — steptime</title></head>"
    made = shared(page, "../", "book/pipeline.html", base)
    assert f'"og:image" content="{base}card.png"' in made
    assert f'"og:url" content="{base}book/pipeline.html"' in made
    assert '"og:image" content="../card.png"' in shared(page, "../", "book/pipeline.html")
    (tmp_path / "_static").mkdir()
    (tmp_path / "book").mkdir()
    for name in ("404.html", "search.html", "book/pipeline.html"):
        (tmp_path / name).touch()
    write_beside(tmp_path, base)
    tree = ET.parse(tmp_path / "sitemap.xml")
    assert [one.text for one in tree.iter() if one.tag.endswith("loc")] == [
        f"{base}book/pipeline.html"
    ]
    assert f"Sitemap: {base}sitemap.xml" in (tmp_path / "robots.txt").read_text(encoding="utf-8")
    assert (tmp_path / ".nojekyll").is_file()
    # Shown at any depth, so that no path from the page leads home.
    assert f'href="{base}"' in lost("steptime", base, ["book"])
    assert "<script" not in lost("steptime", base, ["book"])
