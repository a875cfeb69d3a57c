"""What software keeps in memory where nobody names any: the mean of what families keep.

As attention kernels (`steptime.evidence.kernels_taken`), each fact counts by the families and
months that had it, every family and every month of one alike, over the months of all compared
runs: families whose usual is to keep weights whole for `usual`, those that share them out for
`usual-sharded`. A peak is linear in these facts, so it comes out as high as peaks are on the
mean. Run as a module it prints the lines of ``data/stacks.toml``; a test compares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from steptime.answer.reach import reaches
from steptime.evidence.kernels_taken import families_meant, months_between
from steptime.inputs.software_taken import KEPT_BY_DEFAULT
from steptime.inputs.stack import USUAL_FAMILY, USUAL_SHARDED, family_stack

WIDE = ("dense", "bf16", "16 bits")
NARROW = ("dense", "fp8", "8 bits and below")
"""What is true of the steps that are meant: in 8 bits for what 8-bit training alone keeps."""
KEPT_NARROW = ("fp8_copy_bytes", "fp8_input_bytes", "fp8_output_bytes", "fp8_activation_bytes")
BUILT_ON = ("megatron", "nemo")
OF_THEIRS = ("experts", "8 bits and below")
"""What runs in Megatron-Core and what is built on it, where weights stay whole: experts over ranks
(nvidia2026moe), and products in 8 bits, by the layers of transformerengine2026."""


def months_compared() -> tuple[str, ...]:
    """Return every month from the first compared run to the last one."""
    ends = [one.dates for one in reaches().values()]
    return months_between(min(first for first, _ in ends), max(last for _, last in ends))


def families_of(sharded: bool) -> tuple[str, ...]:
    """Return the families of software whose usual is to share weights out, or to keep them whole.

    Args:
        sharded: Which of them.
    """
    return tuple(
        name for name in families_meant() if (family_stack(name).zero_stages[0] == 3) == sharded
    )


def kept(name: str, family: str, months: Sequence[str]) -> float | None:
    """Return the mean of one fact over the months in which a family was there; None without any.

    Args:
        name: Of `KEPT_BY_DEFAULT`.
        family: Of software.
        months: All that count.
    """
    conditions = NARROW if name in KEPT_NARROW else WIDE
    found = []
    for month in months:
        stack = family_stack(family, month)
        if stack.since <= month:
            line = stack.values(conditions, month).get(name)
            found.append(KEPT_BY_DEFAULT[name] if line is None else float(line.value))
    return math.fsum(found) / len(found) if found else None


def facts_taken(families: Sequence[str]) -> dict[str, float]:
    """Return each fact of the memory alone that is no default, to four digits.

    Args:
        families: Of software, each of which counts alike.
    """
    months = months_compared()
    taken = {}
    for name, default in KEPT_BY_DEFAULT.items():
        each = [kept(name, family, months) for family in families]
        known = [value for value in each if value is not None]
        mean = float(f"{math.fsum(known) / len(known):.4g}")
        if mean != default:
            taken[name] = mean
    return taken


def lines_of(sharded: bool) -> dict[str, list[str]]:
    """Return the lines of ``data/stacks.toml`` for each fact: for all steps, then for `BUILT_ON`.

    Args:
        sharded: Whether weights are shared out.
    """
    usual = facts_taken(families_of(sharded))
    found = {name: [_line(usual[name], families_of(sharded))] for name in usual}
    if sharded:
        return found
    own = facts_taken(BUILT_ON)
    for name, value in usual.items():
        other = own.get(name, KEPT_BY_DEFAULT[name])
        if other != value:
            found[name] += [_line(other, BUILT_ON, when) for when in OF_THEIRS]
    return found


def _line(value: float, families: Sequence[str], when: str = "") -> str:
    months = months_compared()
    source = f"computed: mean of {', '.join(families)}, {months[0]} to {months[-1]}"
    limit = f'when = "{when}", ' if when else ""
    rest = f'kind = "inferred", source = "{source} (steptime.evidence.memory_taken)"'
    return f"{{ value = {value}, {limit}{rest} }}"


if __name__ == "__main__":
    for _stack, _sharded in ((USUAL_FAMILY, False), (USUAL_SHARDED, True)):
        print(f"[{_stack}.facts]")
        for _name, _lines in lines_of(_sharded).items():
            print(f"{_name} = [", *(f"    {_one}," for _one in _lines), "]", sep="\n")
