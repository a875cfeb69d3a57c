"""The role ``{value}`name```: a number from a notebook or a worked example, on a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxRole

from steptime.book.results.notebooks import OUTPUT, all_notebooks
from steptime.book.results.page import glued_values, read_executed
from steptime.book.site.provenance import Origin, example_origin, notebook_origin

if TYPE_CHECKING:
    from sphinx.application import Sphinx


LONGEST = 20
"""Letters of a value that stays on one line."""


def all_values() -> dict[str, str]:
    """Return every value that the executed notebooks recorded, and the examples', by name."""
    return {name: value for name, (value, _) in values_with_origins().items()}


def values_with_origins() -> dict[str, tuple[str, Origin]]:
    """Return every value with what made it, by name."""
    # Imported here: the examples need every room, a reader of values may not.
    from steptime.book.study.examples import MAKERS

    found = {}
    for maker in MAKERS:
        origin = example_origin(maker)
        found.update({name: (value, origin) for name, value in maker().items()})
    for notebook in all_notebooks():
        if (OUTPUT / f"{notebook.name}.ipynb").is_file():
            origin = notebook_origin(notebook)
            values = glued_values(read_executed(notebook))
            found.update({name: (value, origin) for name, value in values.items()})
    return found


class value_link(nodes.General, nodes.Inline, nodes.TextElement):
    """A number that leads to what made it."""


def visit_html(self: Any, node: value_link) -> None:
    """Open the link; what it tells of the number is shown by the pages' script."""
    up = "../" * self.builder.get_target_uri(self.builder.current_docname).count("/")
    told = escape("\n".join(node["told"]))
    self.body.append(
        f'<a class="{" ".join(["st-from", *node["classes"]])}" '
        f'href="{up}{node["page"]}.html" data-from="{told}">'
    )


def depart_html(self: Any, node: value_link) -> None:
    """Close the link."""
    self.body.append("</a>")


def plain(self: Any, node: value_link) -> None:
    """Leave the number as it is where there is no web page."""


class ValueRole(SphinxRole):
    """Put the text that was glued under this name into the sentence."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the text; a name that no notebook glued is a warning."""
        values: dict[str, str] = self.config.steptime_values
        # A page that shows a value is out of date once the value changes.
        self.env.metadata[self.env.docname].setdefault("steptime_values", {})
        if self.text not in values:
            message = self.inliner.reporter.warning(
                f"neither a notebook nor an example has a value named {self.text!r}",
                line=self.lineno,
            )
            return [nodes.literal(self.rawtext, self.text)], [message]
        self.env.metadata[self.env.docname]["steptime_values"][self.text] = values[self.text]
        value = values[self.text]
        # A number stays with its unit; a sentence may break.
        classes = ["st-value"] if len(value) <= LONGEST else []
        page, told = self.config.steptime_origins[self.text]
        if page == self.env.docname:
            return [nodes.inline(self.rawtext, value, classes=classes)], []
        return [value_link(self.rawtext, value, page=page, told=told, classes=classes)], []


def outdated(app: Sphinx, env: Any, *_: Any) -> list[str]:
    """Return the pages that show a value which has changed since they were read."""
    values = app.config.steptime_values
    return [
        name
        for name, metadata in env.metadata.items()
        if any(values.get(k) != v for k, v in metadata.get("steptime_values", {}).items())
    ]


def load(app: Sphinx, config: Any) -> None:
    """Read the values once, before any page is."""
    found = values_with_origins()
    config.steptime_values = {name: value for name, (value, _) in found.items()}
    config.steptime_origins = {name: (one.page, one.lines()) for name, (_, one) in found.items()}


def setup(app: Sphinx) -> None:
    """Register the role and what keeps its pages up to date."""
    # Not "env": one changed value must not have every page read again.
    app.add_config_value("steptime_values", {}, "", types=[dict])
    app.add_config_value("steptime_origins", {}, "", types=[dict])
    app.add_node(
        value_link, html=(visit_html, depart_html), text=(plain, plain), latex=(plain, plain)
    )
    app.add_role("value", ValueRole())
    app.connect("config-inited", load)
    app.connect("env-get-outdated", outdated)
