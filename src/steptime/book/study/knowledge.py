"""§17c: what each kind of knowledge of the software buys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steptime.evidence.ladder import LadderLine, Rung, weighed
from steptime.evidence.ladder_left_out import ladder_left_out


@dataclass(frozen=True, slots=True)
class KnowledgeStudy:
    """Errors of left-out runs by what is known of their software.

    Attributes:
        lines: Of each kind of run, one a source.
        least_runs: Sources of fewer runs are left out of the means.
    """

    lines: Mapping[str, tuple[LadderLine, ...]]
    least_runs: int

    def alike(self, kind: str) -> dict[str, Rung]:
        """Return each rung over the sources of a kind, each weighing the same.

        Args:
            kind: Of the runs.
        """
        return weighed(self.lines[kind], self.least_runs)

    def counts(self, kind: str) -> tuple[int, int]:
        """Return the sources and the runs that the means of a kind are made from.

        Args:
            kind: Of the runs.
        """
        kept = [line.runs for line in self.lines[kind] if line.runs >= self.least_runs]
        return len(kept), sum(kept)

    def worst(self, kind: str, rung: str) -> LadderLine:
        """Return the source with the largest mean error on a rung.

        Args:
            kind: Of the runs.
            rung: A name of `steptime.evidence.ladder.RUNGS`.
        """
        return max(self.lines[kind], key=lambda line: line.rungs[rung].mean_size)


def knowledge_study(least_runs: int) -> KnowledgeStudy:
    """Return what each rung makes of every published run, left out of the fit.

    Args:
        least_runs: Sources of fewer runs are left out of the means.
    """
    return KnowledgeStudy(ladder_left_out(), least_runs)
