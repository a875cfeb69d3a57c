"""Author and year, in the text and in the list, sorted by them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pybtex.plugin import register_plugin
from pybtex.style.formatting.plain import Style as PlainStyle
from pybtex.style.labels import BaseLabelStyle

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def author_year(entry: Any) -> str:
    """Return an entry's short name, such as ``Korthikanti et al., 2022``.

    Args:
        entry: A pybtex entry.
    """
    people = entry.persons.get("author") or entry.persons.get("editor") or []
    names = [" ".join(person.prelast_names + person.last_names) for person in people]
    names = [name.replace("{", "").replace("}", "") for name in names]
    if not names:
        first = entry.fields.get("organization") or entry.fields.get("title", entry.key)
        first = first.replace("{", "").replace("}", "")
    elif len(names) == 1:
        first = names[0]
    elif len(names) == 2 and names[1] != "others":
        first = f"{names[0]} and {names[1]}"
    else:
        first = f"{names[0]} et al."
    return f"{first}, {entry.fields.get('year', 'n.d.')}"


class AuthorYearLabels(BaseLabelStyle):  # type: ignore[misc]
    """Labels that say who and when, told apart by a letter where two are the same."""

    def format_labels(self, sorted_entries: Iterable[Any]) -> Iterable[str]:
        """Yield one label an entry."""
        entries = list(sorted_entries)
        plain = [author_year(entry) for entry in entries]
        seen: dict[str, int] = {}
        for label in plain:
            if plain.count(label) == 1:
                yield label
            else:
                seen[label] = seen.get(label, 0) + 1
                yield f"{label}{chr(96 + seen[label])}"


class AuthorYearStyle(PlainStyle):  # type: ignore[misc]
    """The plain style with labels of author and year."""

    default_label_style = AuthorYearLabels


def setup(app: Sphinx) -> None:
    """Make the style known as ``author_year_list``."""
    register_plugin("pybtex.style.formatting", "author_year_list", AuthorYearStyle)
