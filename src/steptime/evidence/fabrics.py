"""What share of the network's rate each source would want for itself, by the fabric that it names.

The model has one share for all fabrics, libraries and groups. A source's own is the one at which
its runs over several servers are right on the mean, all else as it is. How much that says depends
on how much of their step waits for the network: where a tenth more of it moves a step by half a
per cent, an error of half a per cent anywhere else moves the share by a tenth.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from steptime.evidence.adding import step_of
from steptime.evidence.pooling import FEWEST_RUNS
from steptime.evidence.residuals import EXPERTS
from steptime.evidence.samples import Sample, Table, main_samples, scored, table
from steptime.evidence.text_table import by_phrase, text_rows
from steptime.inputs.constants import RooflineConstants, published_constants
from steptime.inputs.datafiles import data_path

SHARE = "network_efficiency"
LOWEST, HIGHEST = 0.1, 1.0
"""Between which a share is looked for: a tenth of the adapters, and all of them."""
NEAR = 1e-6
"""How near a share is found, in its logarithm: less than a constant's digits."""
TELLING = 0.08
"""Change of a step, for a change of the share, from which a source is heard: there a mean error
of two per cent that the network has no part in moves the share by a quarter."""
NOT_NAMED = "not named"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The share of the network's rate that one source's runs on one fabric would want.

    Attributes:
        source: The part of the ids before the last dash.
        fabric: As its network's text names it, or ``NOT_NAMED``.
        runs: Dense runs over more than one NVLink domain.
        most_devices: Of one run.
        share: At which they are right on the mean; ``LOWEST`` or ``HIGHEST`` where none is.
        moves: Relative change of their step for a relative change of the share.
    """

    source: str
    fabric: str
    runs: int
    most_devices: int
    share: float
    moves: float

    @property
    def tells(self) -> bool:
        """Return whether their step waits enough for the network to tell its share."""
        return self.moves >= TELLING and LOWEST < self.share < HIGHEST


def _mean_error(runs: Table, constants: RooflineConstants, share: float) -> float:
    import numpy as np

    step_s = step_of(runs.parts(constants.changed({SHARE: share})))
    return float(np.mean(np.log(step_s / runs.step_time_s)))


def wanted_share(runs: Table, constants: RooflineConstants) -> float:
    """Return the share at which runs are right on the mean; the nearer end where none is.

    Args:
        runs: Of one source; a larger share never makes a step longer.
        constants: All others.
    """
    from scipy.optimize import brentq

    def error(share: float) -> float:
        return _mean_error(runs, constants, share)

    if error(LOWEST) <= 0.0:
        return LOWEST
    if error(HIGHEST) >= 0.0:
        return HIGHEST
    ends = math.log(LOWEST), math.log(HIGHEST)
    return math.exp(brentq(lambda place: error(math.exp(place)), *ends, xtol=NEAR))


def moves(runs: Table, constants: RooflineConstants) -> float:
    """Return the relative change of a step for a relative change of the share, on the mean.

    Args:
        runs: Of one source.
        constants: About which it is taken, a tenth to both sides.
    """
    share, apart = constants.values()[SHARE], 1.1
    slower, faster = (_mean_error(runs, constants, one) for one in (share / apart, share * apart))
    return (slower - faster) / (2.0 * math.log(apart))


def _fabrics(samples: Sequence[Sample]) -> dict[str, str]:
    """Return the fabric of each run by its id; a figure's is that of its source's table."""
    named = by_phrase("networks.csv", "fabric")
    cells = {row["id"]: row["network"] for _, row in text_rows(data_path("published_runs.csv"))}
    found = {one.id: named.get(cells.get(one.id, ""), "") for one in samples}
    of_source = {one.origin: found[one.id] for one in samples if found[one.id]}
    return {
        one.id: found[one.id] or ("" if one.id in cells else of_source.get(one.origin, ""))
        for one in samples
    }


def over_servers(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Return the dense scored runs that take more than one NVLink domain.

    Args:
        samples: Published runs; experts exchange tokens at a share of their own.
    """
    return tuple(
        one
        for one in samples
        if scored(one)
        and one.kind != EXPERTS
        and one.inputs.run.layout.num_devices > one.inputs.run.accelerator.nvlink_domain
    )


def wanted_of(samples: Sequence[Sample], constants: RooflineConstants) -> tuple[Wanted, ...]:
    """Return what each source wants on each fabric, of sources with enough runs.

    Args:
        samples: From `over_servers`.
        constants: The published ones.
    """
    fabrics = _fabrics(samples)
    groups: dict[tuple[str, str], list[Sample]] = {}
    for one in samples:
        fabric = fabrics[one.id] or NOT_NAMED
        groups.setdefault((fabric, one.origin), []).append(one)
    found = []
    for (fabric, source), several in sorted(groups.items()):
        if len(several) < FEWEST_RUNS:
            continue
        runs = table(several)
        wanted = Wanted(
            source=source,
            fabric=fabric,
            runs=len(several),
            most_devices=max(one.inputs.run.layout.num_devices for one in several),
            share=wanted_share(runs, constants),
            moves=moves(runs, constants),
        )
        found.append(wanted)
    return tuple(found)


@functools.cache
def published_shares() -> tuple[Wanted, ...]:
    """Return what each source of ``data/published_runs.csv`` wants."""
    return wanted_of(over_servers(main_samples()), published_constants())


def that_tell(found: Sequence[Wanted]) -> tuple[Wanted, ...]:
    """Return the sources whose step waits enough for the network to tell its share.

    Args:
        found: From `wanted_of`.
    """
    return tuple(one for one in found if one.tells)


def span(found: Sequence[Wanted]) -> tuple[float, float, float]:
    """Return the least, the median and the largest share of the sources that can tell theirs.

    Args:
        found: From `wanted_of`.
    """
    shares = [one.share for one in that_tell(found)]
    return min(shares), median(shares), max(shares)


if __name__ == "__main__":
    print(*published_shares(), sep="\n")
    print(span(published_shares()))
