"""Generations of devices: ``data/generations.toml``, one table each."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import check_choice

STORED = "stored"
"""The one attention kernel that writes its scores to memory."""
ANY = "any"
"""All kernels together that software had on a generation: what is taken where nobody says one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRate:
    """How fast an attention kernel runs on a generation.

    Attributes:
        flop_per_s: Under a causal mask, forward and backward together.
        flash: 1 where it stores no scores, 0 where it does; of several kernels taken together,
            the share that stores none.
        kind: printed, inferred or read off runs.
        source: Key in ``references.bib`` and place, or from what it was inferred.
    """

    flop_per_s: float
    flash: float
    kind: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Share of the measured matrix rate that a step reaches, in products of so many bits.

    Attributes:
        value: The share.
        low: Smallest plausible share.
        high: Largest plausible share.
        fitted: Whether it was fitted to published runs in these bits.
        source: Where the range comes from.
    """

    value: float
    low: float
    high: float
    fitted: bool
    source: str

    @property
    def doubt(self) -> float:
        """Return half of the plausible range, in the logarithm."""
        return math.log(self.high / self.low) / 2.0


USUAL_16_BITS = "bf16"
"""What devices multiply in 16 bits where their table says nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """What all devices of one generation share.

    Attributes:
        name: Key in ``data/generations.toml``.
        usual_watt: Power of the part whose rates were measured; 0 where parts are not compared.
        usual_matmul_flop_per_s: Best measured rate of that part's products; 0 likewise.
        block_formats: Whether it multiplies formats that are scaled in blocks.
        sixteen_bits: The 16-bit format that it multiplies, the newer one where it has both.
        usual_date: Median month of the sources that ran on it: what software is taken for.
        compute_capability: Major number that CUDA reports; 0 where there is none.
        written_for: Formats of launch files whose frameworks start on it; None for all.
        efficiency: Share of the measured matrix rate that a step reaches, by the bits of its
            products; bits without one take the nearest.
        kernels: Rate of each attention kernel.
    """

    name: str
    usual_watt: float
    usual_matmul_flop_per_s: float
    block_formats: bool
    sixteen_bits: str
    usual_date: str
    compute_capability: int
    written_for: tuple[str, ...] | None
    efficiency: dict[int, Share]
    kernels: dict[str, KernelRate]


def _from_entry(name: str, entry: dict[str, Any]) -> Generation:
    return Generation(
        name=name,
        usual_watt=float(entry["usual_watt"]),
        usual_matmul_flop_per_s=float(entry["usual_matmul_tflop_per_s"]) * 1e12,
        block_formats=bool(entry["block_formats"]),
        sixteen_bits=str(entry.get("sixteen_bits", USUAL_16_BITS)),
        usual_date=str(entry["usual_date"]),
        compute_capability=int(entry.get("compute_capability", 0)),
        written_for=tuple(entry["written_for"]) if "written_for" in entry else None,
        efficiency={
            int(bits): Share(
                value=float(share["value"]),
                low=float(share["range"][0]),
                high=float(share["range"][1]),
                fitted=bool(share["fitted"]),
                source=str(share["source"]),
            )
            for bits, share in entry["efficiency"].items()
        },
        kernels={
            kernel: KernelRate(
                flop_per_s=float(rate["value"]) * 1e12,
                flash=float(rate.get("flash", kernel != STORED)),
                kind=rate["kind"],
                source=rate["source"],
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


def nearest_bits(known: Iterable[int], bits: int) -> int:
    """Return the bits whose share is taken: these, or else the nearest, the wider of two.

    Args:
        known: Bits that have a share.
        bits: Of the products.
    """
    return min(known, key=lambda one: (abs(math.log2(one / bits)), -one))
