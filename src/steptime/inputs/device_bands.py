"""Numbers of an accelerator's own file that lie too far from all known devices: wrong units."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError

BANDS, SHARE = "device_bands.toml", "matmul_share"
TIMED = "timings"
"""A key of files that `steptime measure` wrote: how slow the device is was timed."""
KINDS = ("tflop_per_s", "fp8_tflop_per_s", "fp4_tflop_per_s")
TWICE = (
    "{matmul} {rate:g} is half of {peak} {most:g} or less, and products of all measured devices "
    "reach more of their dense peak: if the data sheet's rate is the one with sparsity, give half "
    "of it"
)


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


@functools.cache
def _known(key: str) -> tuple[float, float]:
    """Return the smallest and the largest value that a known device has."""
    entries = data_table("accelerators.toml").values()
    values = [value for one in entries if (value := _number(one.get(key))) > 0.0]
    return min(values), max(values)


@functools.cache
def known_shares(kind: str) -> tuple[float, ...]:
    """Return what products of each measured device reach of the data sheet's dense rate.

    Args:
        kind: One of ``KINDS``.
    """
    found = []
    for one in data_table("accelerators.toml").values():
        rate, peak = _number(one.get(f"matmul_{kind}")), _number(one.get(f"peak_{kind}"))
        if rate > 0.0 and peak > 0.0 and not one.get("matmul_inferred", False):
            found.append(rate / peak)
    return tuple(found)


def _refusal(key: str, name: str, value: float, band: Any, least: float, most: float) -> str:
    """Return why a number is out of its band, in which unit it would not be, and the way out."""
    fits = [
        f"{value:g} {unit} would be {value * factor:g}"
        for unit, factor in band["others"].items()
        if least <= value * factor <= most
    ]
    hint = f"; {fits[0]}" if fits else ""
    low, high = least * band["slower"], most / band["faster"]
    return (
        f"accelerator {key!r}: {name} {value:g} is likely in a wrong unit: it is in "
        f"{band['unit']}, and known devices have {low:,.4g} to {high:,.4g}{hint}; a device that "
        "is so far from all others can be timed: steptime measure"
    )


def check_bands(key: str, entry: Mapping[str, Any]) -> None:
    """Refuse numbers that are likely in another unit than their key says.

    Args:
        key: Name of the accelerator.
        entry: Its table.

    Raises:
        ConfigError: With the value, its unit, what known devices have, and the way out.
    """
    for name, band in data_table(BANDS).items():
        value = _number(entry.get(name))
        if name in ("source", SHARE) or value <= 0.0:
            continue
        low, high = _known(name)
        least, most = low / band["slower"], high * band["faster"]
        if value > most or (value < least and TIMED not in entry):
            raise ConfigError(_refusal(key, name, value, band, least, most))


def check_products(key: str, entry: Mapping[str, Any]) -> None:
    """Refuse a measured rate of products that is next to nothing of its peak.

    Args:
        key: Name of the accelerator.
        entry: Its table, which does not contradict itself.

    Raises:
        ConfigError: With the value, its unit and the way out.
    """
    band = data_table(BANDS)[SHARE]
    for kind in KINDS:
        name = f"matmul_{kind}"
        value, peak = _number(entry.get(name)), _number(entry.get(f"peak_{kind}"))
        # What nobody measured in 4 bits is held to what is known in 8.
        shares = known_shares(kind) or known_shares(KINDS[1])
        least = peak * min(shares) / band["slower"]
        if 0.0 < value < least and TIMED not in entry:
            raise ConfigError(_refusal(key, name, value, band, least, peak))


def sparse_caution(entry: Mapping[str, Any]) -> str:
    """Return a sentence if a peak looks like one with sparsity, twice the dense one; else nothing.

    It is told by the measured rate of products alone: half of the peak would still hold it, which
    is so of no known device.

    Args:
        entry: Table of an accelerator.
    """
    for kind in KINDS:
        rate, peak = _number(entry.get(f"matmul_{kind}")), _number(entry.get(f"peak_{kind}"))
        if 0.0 < rate <= peak / 2.0:
            return TWICE.format(matmul=f"matmul_{kind}", rate=rate, peak=f"peak_{kind}", most=peak)
    return ""
