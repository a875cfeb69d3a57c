"""Which attention kernels software had on a generation of devices, all of it taken together.

Where nobody names software or its month, none of its kernels can be told: each counts by the
families and months that had it, every family and every month of one alike, over the months of the
compared runs on the generation. The time of a step is linear in the share that stores scores and
in the inverse of a rate, so that it comes out as long as steps are on the mean. Run as a module it
prints the lines of ``data/generations.toml``; a test compares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from steptime.answer.reach import dates_seen, reaches
from steptime.inputs.generation import ANY, STORED, generations
from steptime.inputs.stack import (
    KERNEL,
    USUAL_FAMILY,
    USUAL_SHARDED,
    families,
    family_stack,
    stacks,
)

NOT_MEANT = (USUAL_FAMILY, USUAL_SHARDED, "mindspeed", "neuron")
"""What stands for software that nobody named, and families for devices of their own."""
CELL = "dense models in 16 bits"
"""Experts and products in fewer bits are run in few families, whose kernels are known."""


def months_between(first: str, last: str) -> tuple[str, ...]:
    """Return every month from the first to the last one.

    Args:
        first: As ``2023-06``.
        last: No earlier.
    """
    start, end = (12 * int(one[:4]) + int(one[5:]) - 1 for one in (first, last))
    return tuple(f"{month // 12}-{month % 12 + 1:02d}" for month in range(start, end + 1))


def families_meant() -> tuple[str, ...]:
    """Return the families of software that anybody may run on any device."""
    plain = dict.fromkeys(one.family for one in stacks().values() if not one.of)
    return tuple(name for name in families() if name in plain and name not in NOT_MEANT)


def kernel_shares(generation: str, months: Sequence[str], names: Iterable[str]) -> dict[str, float]:
    """Return the share of software that had each kernel, for dense models in 16 bits.

    Args:
        generation: Of the devices.
        months: In which it was current; a family counts from its first month on.
        names: Of the families.
    """
    conditions = ("dense", "bf16", "16 bits", generation)
    had = []
    for name in names:
        there = [month for month in months if family_stack(name, month).since <= month]
        had.append(
            [
                str(family_stack(name, month).values(conditions, month)[KERNEL].value)
                for month in there
            ]
        )
    known = [words for words in had if words]
    shares: dict[str, float] = {}
    for words in known:
        for word in words:
            shares[word] = shares.get(word, 0.0) + 1.0 / (len(words) * len(known))
    return shares


def together(generation: str, shares: dict[str, float]) -> tuple[float, float]:
    """Return the share that stores no scores, and the rate of the kernels that store none.

    Args:
        generation: Has the rate of each kernel.
        shares: Of the software, by kernel; one at least stores none.
    """
    rates = generations()[generation].kernels
    flash = {word: share for word, share in shares.items() if word != STORED}
    total = math.fsum(flash.values())
    time = math.fsum(share / rates[word].flop_per_s for word, share in flash.items())
    return total, total / time


def taken_on(generation: str) -> tuple[float, float]:
    """Return `together` for all families over the months of the compared runs.

    Args:
        generation: Of the devices; some were compared.
    """
    months = months_between(*dates_seen(generation))
    return together(generation, kernel_shares(generation, months, families_meant()))


def line_of(generation: str) -> str:
    """Return the line of ``data/generations.toml``.

    Args:
        generation: Of the devices.
    """
    flash, rate = taken_on(generation)
    first, last = dates_seen(generation)
    source = f"computed: kernels of the families of stacks.toml, {first} to {last}"
    return (
        f'{ANY} = {{ value = {rate / 1e12:.1f}, flash = {flash:.3f}, kind = "inferred", '
        f'source = "{source} (steptime.evidence.kernels_taken)" }}'
    )


if __name__ == "__main__":
    for _name, _reach in reaches().items():
        if CELL in _reach.cells:
            print(_name, line_of(_name))
