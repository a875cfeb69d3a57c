"""Generations of devices: ``data/generations.toml``, one table each."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import check_choice

STORED = "stored"
"""The one attention kernel that writes its scores to memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRate:
    """How fast an attention kernel runs on a generation.

    Attributes:
        flop_per_s: Under a causal mask, forward and backward together.
        kind: printed, inferred or read off runs.
        source: Key in ``references.bib`` and place, or from what it was inferred.
    """

    flop_per_s: float
    kind: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """What all devices of one generation share.

    Attributes:
        name: Key in ``data/generations.toml``.
        usual_watt: Power of the part whose rates were measured; 0 where parts are not compared.
        block_formats: Whether it multiplies formats that are scaled in blocks.
        usual_date: Median month of the sources that ran on it: what software is taken for.
        compute_capability: Major number that CUDA reports; 0 where there is none.
        efficiency: Share of the measured matrix rate that a step reaches.
        low: Smallest plausible share.
        high: Largest plausible share.
        fitted: Whether the share was fitted to published runs.
        fitted_to: Kind of the runs that it is fitted to.
        source: Where the range comes from.
        kernels: Rate of each attention kernel.
    """

    name: str
    usual_watt: float
    block_formats: bool
    usual_date: str
    compute_capability: int
    efficiency: float
    low: float
    high: float
    fitted: bool
    fitted_to: str
    source: str
    kernels: dict[str, KernelRate]


def _from_entry(name: str, entry: dict[str, Any]) -> Generation:
    share = entry["efficiency"]
    return Generation(
        name=name,
        usual_watt=float(entry["usual_watt"]),
        block_formats=bool(entry["block_formats"]),
        usual_date=str(entry["usual_date"]),
        compute_capability=int(entry.get("compute_capability", 0)),
        efficiency=float(share["value"]),
        low=float(share["range"][0]),
        high=float(share["range"][1]),
        fitted=bool(share["fitted"]),
        fitted_to=str(entry["fitted_to"]),
        source=str(share["source"]),
        kernels={
            kernel: KernelRate(
                flop_per_s=float(rate["value"]) * 1e12, kind=rate["kind"], source=rate["source"]
            )
            for kernel, rate in entry["kernels"].items()
        },
    )


@functools.cache
def generations() -> dict[str, Generation]:
    """Return every generation that the roofline model knows, oldest first."""
    return {key: _from_entry(key, entry) for key, entry in data_table("generations.toml").items()}


def kernel_named(generation: Generation, kernel: str) -> KernelRate:
    """Return the rate of an attention kernel on a generation.

    Args:
        generation: Of the device.
        kernel: Its name.

    Raises:
        ConfigError: If no such kernel is known there.
    """
    return generation.kernels[check_choice("attention kernel", kernel, generation.kernels)]
