"""What an answer takes for granted: one record for each thing that nobody stated."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """One thing that was not given, and what was taken for it.

    Attributes:
        what: Its name, as a field or an option calls it.
        value: What was taken, as it would be written.
        why: Where that comes from; empty where the value says it all.
        how: How to state it, such as ``--stack NAME``; empty where there is no way yet.
    """

    what: str
    value: str
    why: str = ""
    how: str = ""

    def __str__(self) -> str:
        """Return it as a sentence of an answer."""
        return f"{self.what} {self.value}" + (f" ({self.why})" if self.why else "")
