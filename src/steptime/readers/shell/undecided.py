"""What a branch of which nobody knows whether it is taken does to variables: they may be either."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from steptime.readers.shell.marks import is_known, output_of, readable

_NUMBER = re.compile(r"-?\d{1,12}(?:\.\d{1,6})?|(?i:true|false)")
_WORD = re.compile(r"[A-Za-z0-9][\w.+-]{0,40}")
"""A word that is no flag and no path: texts of flags are noted and left as they were."""


def changed(
    now: Mapping[str, str], former: Mapping[str, str], given: Collection[str]
) -> dict[str, str]:
    """Return the texts that a branch has set to something else than they were.

    Args:
        now: Every text behind the branch.
        former: Every text before it.
        given: Names that the user sets, which stay.
    """
    return {
        name: value
        for name, value in now.items()
        if value is not former.get(name) and value != former.get(name) and name not in given
    }


def settle(texts: dict[str, str], others: Mapping[str, str]) -> None:
    """Leave open which of two values a text has, where a branch may have set it.

    Args:
        texts: Every text as it is without the branch; those of two values become unknown.
        others: What the branch sets.
    """
    for name, other in others.items():
        own = texts.get(name)
        if own is None:
            both = _NUMBER.fullmatch(other) is not None
        else:
            both = own != other and all(not is_known(one) or _is_word(one) for one in (own, other))
        if both:
            texts[name] = output_of(readable(f"{own or 'nothing'} or {other}"))


def _is_word(text: str) -> bool:
    return _WORD.fullmatch(text) is not None
