"""Nothing fits: the nearest that would, and what stops it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from steptime.inputs.ability import ability_of
from steptime.planning.cuts import divisors
from steptime.planning.question import Question
from steptime.planning.result import Candidate, SearchResult, answered
from steptime.planning.search import search

MOST_DOUBLINGS = 7
MOST_DEVICES = 131_072
MOST_BATCH = 10**6
MICRO_BATCHES_A_STAGE = (1, 2, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """Why no layout fits, and what would.

    Attributes:
        reason: One sentence: what stops the leanest layout, or all of them.
        leanest: The layout of the least memory, None if no layout is valid at all.
        more_devices: The fewest devices, by doubling, on which something fits.
        found: The fastest layout there.
        batch: Nearest batch that can be cut, where only the batch was in the way.
    """

    reason: str
    leanest: Candidate | None
    more_devices: int | None
    found: Candidate | None
    batch: int | None


def nearest(result: SearchResult) -> Nearest:
    """Return the nearest question with an answer, for a search that found none.

    Args:
        result: A search with nothing in ``best``.
    """
    question, lean = result.question, result.leanest
    batch = None
    if lean is None:
        nothing = _nothing(question) if question.pinned else "no sizes"
        top = next(iter(result.dropped), nothing)
        reason = f"no layout can be cut: {top}"
        batch = _nearest_batch(question)
    else:
        parts = answered(question, lean).memory.fullest.parts_bytes
        part, size = max(parts.items(), key=lambda item: item[1])
        reason = (
            f"the leanest layout needs {lean.memory_bytes / 1e9:.1f} GB of "
            f"{question.memory_limit_bytes / 1e9:.1f} GB, {size / 1e9:.1f} GB of it {part}"
        )
    devices, found = _more_devices(question)
    return Nearest(reason=reason, leanest=lean, more_devices=devices, found=found, batch=batch)


def _nothing(question: Question) -> str:
    """Return which sizes leave nothing to try together, and the way out."""
    most = ability_of(question.said).most()
    asked = [
        f"{name}={', '.join(map(str, sizes))}"
        for name, sizes in question.pinned
        # What the software runs at most was asked for by nobody.
        if sizes != tuple(range(1, most.get(name, 0) + 1))
    ]
    told = f"nothing can be tried with {' and '.join(asked)}"
    if question.sizes("vpp") and question.sizes("pp") == (1,):
        return f"{told}: one stage makes no chunks; use vpp=1 or more stages"
    return f"{told}; leave one of them open" if len(asked) > 1 else f"{told}; leave it open"


def _more_devices(question: Question) -> tuple[int | None, Candidate | None]:
    """Return the fewest devices, by doubling, on which a layout fits, and the fastest there."""
    devices = question.num_devices
    for _ in range(MOST_DOUBLINGS):
        devices *= 2
        if devices > MOST_DEVICES:
            break
        asked = replace(question, num_devices=devices)
        more = search(asked, keep=1, prune=True)
        # Where nothing is as sure as was asked, a search still names what is likeliest to fit.
        if more.num_fitting:
            return devices, more.best[0]
    return None, None


def _nearest_batch(question: Question) -> int | None:
    """Return the next larger batch that can be cut: one that some number of ranks divides.

    Some schedules want several micro-batches a stage.
    """
    asked, sizes = question.global_batch_size, question.micro_batch_sizes or (1,)
    rounds = [count * micro for count in MICRO_BATCHES_A_STAGE for micro in sizes]
    steps = {each * ranks for each in rounds for ranks in divisors(question.num_devices)}
    for batch in sorted({(asked // step + 1) * step for step in steps}):
        if batch > MOST_BATCH:
            break
        tried = search(replace(question, global_batch_size=batch), keep=1)
        if tried.best or tried.leanest:
            return batch
    return None
