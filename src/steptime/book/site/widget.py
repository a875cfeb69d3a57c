"""The directive ``{widget} NAME``: an interactive figure, and what stands there without it.

All of it lies in ``build/web``, written by Python before the pages are. The script is
``NAME/index.js`` (one plain script that mounts itself on ``#NAME``), its style
``NAME/style.css``. The stand-in for readers, printers and search engines without
JavaScript is ``NAME.html``: an HTML fragment, put inside the element that the script takes
over. Only pages with the directive load them.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from steptime.book.site.provenance import figure_origin, link_below

if TYPE_CHECKING:
    from sphinx.application import Sphinx

WEB = Path("build", "web")
WRITERS = Path("build", "figures.json")
"""The function that writes each figure, by the figure's name."""


class widget(nodes.General, nodes.Element):
    """A place for an interactive figure."""


class Widget(SphinxDirective):
    """Embed the interactive figure of that name."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        "id": directives.unchanged,
        "label": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Return the element; a script or a stand-in that is missing is an error."""
        name = self.arguments[0]
        root = Path(self.env.srcdir)
        script = root / WEB / name / "index.js"
        fallback = root / WEB / f"{name}.html"
        for path in (script, fallback):
            if not path.is_file():
                raise self.error(f"widget {name}: no {path.relative_to(root)}")
            self.env.note_dependency(str(path))
        node = widget(
            name=name,
            target=self.options.get("id", name),
            label=self.options.get("label", ""),
            fallback=fallback.read_text(encoding="utf-8"),
            style=(root / WEB / name / "style.css").is_file(),
        )
        self.set_source_info(node)
        origin = figure_origin(name, root / WRITERS)
        if origin is None:
            return [node]
        below = link_below(origin, self.env.docname, "Where this figure comes from")
        return [node, nodes.raw("", below, format="html")]


def visit_html(self: Any, node: widget) -> None:
    """Write the element, its style and its script, by paths from this page."""
    up = "../" * self.builder.get_target_uri(self.builder.current_docname).count("/")
    base = f"{up}{node['name']}"
    if node["style"]:
        self.body.append(f'<link rel="stylesheet" href="{base}/style.css">\n')
    label = f' aria-label="{escape(node["label"])}"' if node["label"] else ""
    kind = f' role="region"{label}' if label else ""
    self.body.append(
        f'<div id="{escape(node["target"])}" class="st-widget"{kind}>\n{node["fallback"]}\n</div>\n'
        f'<script defer src="{base}/index.js"></script>\n'
    )
    raise nodes.SkipNode


def skip(self: Any, node: widget) -> None:
    """Leave it out where there is no web page."""
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the directive and its node."""
    app.add_node(widget, html=(visit_html, None), latex=(skip, None), text=(skip, None))
    app.add_directive("widget", Widget)
