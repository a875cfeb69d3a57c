r"""Draw formulas as MathML at build time: no script, no font, no other host.

The converter leaves unknown commands in its output as they are, so each formula is
checked, and one that it cannot do is a warning, which fails the build.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# The converter knows tables but not these names for them.
_ALIGNED = re.compile(
    r"\\begin\{(aligned|align\*?|split|gathered|gather\*?)\}(.*?)\\end\{\1\}", re.DOTALL
)
# Words set letter by letter would also be read out letter by letter.
_WORD = re.compile(r"\\(?:mathrm|operatorname\*?)\{([A-Za-z][A-Za-z /\-]+)\}")
# A browser takes text for space, and puts none round a sign between two texts; names it knows. The
# words of a choice are text.
_NAME = re.compile(r"<mtext( [^>]*)?>(?!if\b|otherwise\b)([^<\s]{2,})</mtext>")
_LABEL = re.compile(r"\\label\{[^}]*\}|\\nonumber")
_UNKNOWN = re.compile(r"<m[io][^>]*>\\([A-Za-z]+)|<m[io]>(&)</m[io]>")


class FormulaError(ValueError):
    """LaTeX that cannot be turned into MathML."""


def _as_array(hit: re.Match[str]) -> str:
    """Return an alignment as the table that the converter knows."""
    columns = max(row.count("&") for row in hit[2].split(r"\\")) + 1
    kinds = "c" if hit[1].startswith("gather") else ("rl" * columns)[:columns]
    return rf"\begin{{array}}{{{kinds}}}{hit[2]}\end{{array}}"


def to_mathml(latex: str, display: bool = False) -> str:
    """Return a formula as one ``<math>`` element, its LaTeX as the text alternative.

    Args:
        latex: The formula, without dollar signs.
        display: Whether it stands on a line of its own.

    Raises:
        FormulaError: If it has a command that the converter does not know.
    """
    from latex2mathml.converter import convert

    text = _ALIGNED.sub(_as_array, _LABEL.sub("", latex).strip())
    text = _WORD.sub(r"\\text{\1}", text)
    try:
        markup = convert(text, display="block" if display else "inline")
    except Exception as problem:  # the converter has a dozen kinds, none with a base of its own
        raise FormulaError(f"{type(problem).__name__} in {latex!r}") from problem
    if hit := _UNKNOWN.search(markup):
        raise FormulaError(f"unknown {hit[1] or hit[2]!r} in {latex!r}")
    # Browsers no longer know this attribute for words.
    markup = markup.replace('<mtext mathvariant="monospace">', '<mtext class="st-code">')
    markup = _NAME.sub(r"<mi\1>\2</mi>", markup)
    markup = markup.replace("<mtable", '<mtable displaystyle="true"')
    spoken = escape(re.sub(r"\s+", " ", latex.strip()))
    opening = f'<math alttext="{spoken}"' + (' display="block"' if display else "") + ">"
    return re.sub(r"^<math[^>]*>", lambda _: opening, markup)


def _checked(translator: Any, node: nodes.Node, display: bool) -> str:
    """Return the MathML, or warn with the page and line and return the LaTeX."""
    from sphinx.util import logging

    try:
        return to_mathml(node.astext(), display)
    except FormulaError as problem:
        logging.getLogger(__name__).warning("formula: %s", problem, location=node)
        return f"<code>{escape(node.astext())}</code>"


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    self.body.append(_checked(self, node, display=False) + "</span>")
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number if it has one."""
    from sphinx.util.math import get_node_equation_number

    self.body.append(self.starttag(node, "div", CLASS="math st-scroll notranslate nohighlight"))
    self.body.append(_checked(self, node, display=True))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the renderer under the name that _config.yml asks for."""
    app.add_html_math_renderer("steptime_mathml", (visit_inline, None), (visit_block, None))
