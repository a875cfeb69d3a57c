"""§21: what answers moved since the last release."""

from __future__ import annotations

from dataclasses import dataclass

from steptime.evidence.answers import Asked, asked, causes


@dataclass(frozen=True, slots=True)
class Moves:
    """The fixed questions, then and now.

    Attributes:
        all: In the order of ``data/answers.toml``.
        causes: A sentence for each cause that moved one of them.
    """

    all: tuple[Asked, ...]
    causes: dict[str, str]

    @property
    def release(self) -> str:
        """Return the release they are compared with."""
        return self.all[0].release

    @property
    def num_moved(self) -> int:
        """Return how many moved."""
        return sum(one.moved for one in self.all)

    @property
    def num_slower(self) -> int:
        """Return how many moved to a longer step."""
        return sum(one.moved and one.change > 0.0 for one in self.all)

    @property
    def farthest(self) -> Asked:
        """Return the question whose step moved most."""
        return max(self.all, key=lambda one: abs(one.change))


def moves() -> Moves:
    """Return the fixed questions with both answers, and the causes that they name."""
    found = asked()
    named = {cause for one in found for cause in one.causes}
    return Moves(found, {name: text for name, text in causes().items() if name in named})
