"""§17d: the large runs that readers know."""

from __future__ import annotations

from dataclasses import dataclass

from steptime.evidence.headline import Headline, headlines

DEEPSEEK = "deepseek-v3"


@dataclass(frozen=True, slots=True)
class LargeRuns:
    """Every large run, measured and predicted.

    Attributes:
        all: In the order of ``data/headline_runs.toml``.
    """

    all: tuple[Headline, ...]

    @property
    def num_inside(self) -> int:
        """Return how many lie inside their interval."""
        return sum(run.inside for run in self.all)

    @property
    def num_fitted(self) -> int:
        """Return how many played a part in a fitted constant."""
        return sum(run.fitted_to for run in self.all)

    @property
    def num_open(self) -> int:
        """Return how many leave something open, and so have several answers."""
        return sum(len(run.answers) > 1 for run in self.all)

    @property
    def most_answers(self) -> int:
        """Return the most answers that a run has."""
        return max(len(run.answers) for run in self.all)

    @property
    def worst(self) -> Headline:
        """Return the run whose nearest answer is farthest off."""
        return max(self.all, key=lambda run: abs(run.error))

    @property
    def deepseek(self) -> Headline:
        """Return DeepSeek-V3's run."""
        return next(run for run in self.all if run.name == DEEPSEEK)


def large_runs() -> LargeRuns:
    """Return every large run."""
    return LargeRuns(headlines())
