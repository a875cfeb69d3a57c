"""Author and year, in the text and in the list, sorted by them; each entry with its link."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import sphinxcontrib.bibtex.plugin
from pybtex.plugin import register_plugin
from pybtex.richtext import Text
from pybtex.style.formatting.plain import Style as PlainStyle
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.sorting import BaseSortingStyle
from pybtex.style.template import href, sentence
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle
from sphinxcontrib.bibtex.style.referencing.basic_author_year import (
    BasicAuthorYearParentheticalReferenceStyle,
    BasicAuthorYearTextualReferenceStyle,
)
from sphinxcontrib.bibtex.style.template import entry_label, node, reference

from steptime.book.references import references, url_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx


_ARXIV = re.compile(r"arXiv:\d+\.\d+(?:; )?")


def _place(address: str) -> str:
    """Return an address as people type it."""
    return address.removeprefix("https://").removeprefix("www.").rstrip("/")


class AuthorYearLabels(BaseLabelStyle):  # type: ignore[misc]
    """Labels that say who and when, told apart by a letter where two are the same."""

    def format_labels(self, sorted_entries: Iterable[Any]) -> Iterable[str]:
        """Yield one label an entry."""
        names = references()
        for entry in sorted_entries:
            yield names[entry.key].name


class ByLabel(BaseSortingStyle):  # type: ignore[misc]
    """The order of the labels, so that a reader finds an entry by its name."""

    def sorting_key(self, entry: Any) -> str:
        """Return what the entry is sorted by."""
        return references()[entry.key].name.lower()


class AuthorYearStyle(PlainStyle):  # type: ignore[misc]
    """The plain style with labels of author and year, and a link at the end."""

    default_label_style = AuthorYearLabels
    default_sorting_style = ByLabel

    def format_entry(self, label: str, entry: Any, bib_data: Any = None) -> Any:
        """Return the entry; what its label or its link says already is not said again."""
        shown = copy.deepcopy(entry)
        shown.fields["shown"] = url_of(dict(entry.fields))
        authors = [str(one).strip("{}") for one in entry.persons.get("author", [])]
        if entry.type == "misc" and authors == [label.rpartition(", ")[0]]:
            del shown.persons["author"]
        for name in ("howpublished", "note"):
            text = _ARXIV.sub("", entry.fields.get(name, ""))
            if text and _place(text) != _place(shown.fields["shown"]):
                shown.fields[name] = text
            else:
                shown.fields.pop(name, None)
        return super().format_entry(label, shown, bib_data)

    def format_web_refs(self, e: Any) -> Any:
        """Return where to read the entry, as a link that shows its own address."""
        url = e.fields["shown"]
        text = url.removeprefix("https://").replace("arxiv.org/abs/", "arXiv:")
        return sentence[href(url)[text]] if url else Text()


@node  # type: ignore[untyped-decorator]
def people(children: Any, data: Any) -> Any:
    """Return the label's names, without its year."""
    return Text(data["formatted_entry"].label.rpartition(", ")[0])


@node  # type: ignore[untyped-decorator]
def year(children: Any, data: Any) -> Any:
    """Return the label's year, with its letter."""
    return Text(data["formatted_entry"].label.rpartition(", ")[2])


class Parenthetical(BasicAuthorYearParentheticalReferenceStyle):
    """[Qi et al., 2024b]: just what the list has."""

    def inner(self, role_name: str) -> Any:
        """Return one of the works in the bracket."""
        return reference[entry_label]


class Textual(BasicAuthorYearTextualReferenceStyle):
    """Qi et al. (2024b), as part of a sentence."""

    def inner(self, role_name: str) -> Any:
        """Return one of the works."""
        return reference[people, " (", year, ")"]


class Names(AuthorYearReferenceStyle):
    """Citations by the names of the list."""

    def __post_init__(self) -> None:
        """Put our two forms in the place of the package's."""
        super().__post_init__()  # type: ignore[no-untyped-call]
        for style in (Parenthetical(), Textual()):
            self.role_style.update(dict.fromkeys(style.role_names(), style))


def setup(app: Sphinx) -> None:
    """Make both styles known under the names that _config.yml asks for."""
    register_plugin("pybtex.style.formatting", "author_year_list", AuthorYearStyle)
    sphinxcontrib.bibtex.plugin.register_plugin(
        "sphinxcontrib.bibtex.style.referencing", "author_year_names", Names
    )
