"""The constants of the roofline model, with the range each may lie in and a source for it."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from steptime.formulas.records import Constants
from steptime.inputs.datafiles import data_table, read_toml
from steptime.inputs.errors import ConfigError, check_choice, check_number
from steptime.inputs.generation import generations, nearest_bits
from steptime.inputs.precision import precisions

Cell = tuple[str, int]
"""A generation of devices, and the bits of the products: what has a share of its own."""

WIDE = 16
"""Bits of the share that a constant names without its bits."""

SHARED = tuple(entry.name for entry in fields(Constants) if entry.name != "efficiency")


def _over(name: str) -> float:
    """Return what a constant must be over: a share divides, so it is not 0; a time may be."""
    return 0.0 if name.endswith("efficiency") else -1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineConstants:
    """Constants of the roofline model, shared by all runs.

    ``data/roofline_constants.toml`` says what each one is, and ``data/generations.toml`` has the
    shares of each generation; both say which were fitted.

    Attributes:
        efficiency: Share of the measured matrix rate that a step reaches, by generation and bits.
        hbm_efficiency: As in `Constants`, like all below.
        link_efficiency: Likewise.
        network_efficiency: Likewise.
        contention: Likewise.
        launch_s: Likewise.
        host_launch_s: Likewise.
        hop_s: Likewise.
    """

    efficiency: Mapping[Cell, float] = field(hash=False)
    hbm_efficiency: float
    link_efficiency: float
    network_efficiency: float
    contention: float
    launch_s: float
    host_launch_s: float
    hop_s: float

    def __post_init__(self) -> None:
        shares = {
            cell: check_number(share_name(*cell), value) for cell, value in self.efficiency.items()
        }
        object.__setattr__(self, "efficiency", shares)
        for name in SHARED:
            object.__setattr__(
                self, name, check_number(name, getattr(self, name), above=_over(name))
            )

    def values(self) -> dict[str, float]:
        """Return every constant by its name, such as ``hopper_efficiency``."""
        shares = {share_name(*cell): value for cell, value in self.efficiency.items()}
        return shares | {name: getattr(self, name) for name in SHARED}

    def changed(self, values: Mapping[str, float]) -> RooflineConstants:
        """Return the constants with some of them changed.

        Args:
            values: By the names that `values` gives.
        """
        cells = share_cells()
        shares = {cells[name]: value for name, value in values.items() if name in cells}
        others: dict[str, Any] = {k: v for k, v in values.items() if k not in cells}
        return replace(self, efficiency=dict(self.efficiency) | shares, **others)

    def bits_taken(self, generation: str, bits: int) -> int:
        """Return the bits whose share stands for products of so many bits.

        Args:
            generation: A key of ``data/generations.toml``.
            bits: Of the products.
        """
        return nearest_bits((own for name, own in self.efficiency if name == generation), bits)

    def of(self, generation: str, bits: int = WIDE) -> Constants:
        """Return the constants for a device of one generation and products of so many bits.

        Args:
            generation: A key of ``data/generations.toml``.
            bits: Of the layers' products.
        """
        shared = {name: getattr(self, name) for name in SHARED}
        share = self.efficiency[generation, self.bits_taken(generation, bits)]
        return Constants(efficiency=share, **shared)

    def of_each(self, cells: Sequence[Cell]) -> Constants:
        """Return the constants for many runs at once: the share is an array of an entry each.

        Args:
            cells: Generation and bits of each run.
        """
        import numpy as np

        share = {cell: self.of(*cell).efficiency for cell in set(cells)}
        return replace(self.of(*cells[0]), efficiency=np.array([share[cell] for cell in cells]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantEntry:
    """What the data says of one constant.

    Attributes:
        name: As `RooflineConstants.values` calls it.
        value: Its value.
        low: Smallest plausible value.
        high: Largest plausible value.
        fitted: Whether it was fitted to published runs, or kept.
        source: Where the range comes from.
    """

    name: str
    value: float
    low: float
    high: float
    fitted: bool
    source: str


def share_name(generation: str, bits: int = WIDE) -> str:
    """Return the name of a share: ``hopper_efficiency``, ``hopper_8_bit_efficiency``.

    Args:
        generation: A key of ``data/generations.toml``.
        bits: Of the products.
    """
    return f"{generation}_efficiency" if bits == WIDE else f"{generation}_{bits}_bit_efficiency"


@functools.cache
def share_cells() -> dict[str, Cell]:
    """Return the cell of every name that a share may have."""
    widths = sorted({one.bits for one in precisions().values()}, reverse=True)
    return {share_name(name, bits): (name, bits) for name in generations() for bits in widths}


@functools.cache
def constant_entries() -> tuple[ConstantEntry, ...]:
    """Return every constant with its range and source."""
    shares = [
        ConstantEntry(
            name=share_name(one.name, bits),
            value=share.value,
            low=share.low,
            high=share.high,
            fitted=share.fitted,
            source=share.source,
        )
        for one in generations().values()
        for bits, share in one.efficiency.items()
    ]
    table: dict[str, Any] = data_table("roofline_constants.toml")
    others = [
        ConstantEntry(
            name=name,
            value=float(entry["value"]),
            low=float(entry["range"][0]),
            high=float(entry["range"][1]),
            fitted=bool(entry["fitted"]),
            source=str(entry["source"]),
        )
        for name, entry in table.items()
    ]
    return (*shares, *others)


def fitted_names() -> tuple[str, ...]:
    """Return the names of the constants that are fitted."""
    return tuple(entry.name for entry in constant_entries() if entry.fitted)


def constants_from(values: Mapping[str, float]) -> RooflineConstants:
    """Return constants from a value of each.

    Args:
        values: By the names of `constant_entries`.
    """
    cells = share_cells()
    shares = {cells[name]: value for name, value in values.items() if name in cells}
    return RooflineConstants(efficiency=shares, **{name: values[name] for name in SHARED})


@functools.cache
def published_constants() -> RooflineConstants:
    """Return the constants of ``data/``."""
    return constants_from({entry.name: entry.value for entry in constant_entries()})


MOST_SHARE = 1.5
"""Of a rate in a user's own constants: a good device may beat the one that was measured."""


LEAST_SHARE = 1e-6
"""Of a rate likewise: what is divided by less has no end."""


def check_constants(value: object) -> None:
    """Refuse what is no set of constants.

    Args:
        value: As it came in; None for the published ones.

    Raises:
        ConfigError: If it is something else, such as the name of a file.
    """
    if value is not None and not isinstance(value, RooflineConstants):
        raise ConfigError(
            "constants must be a .toml file, as validate(fit=FILE) writes, or the constants that "
            f"it holds, got {value!r:.60}"
        )


def constants_named(value: object) -> RooflineConstants | None:
    """Return the constants that somebody names: a file's, or those that are given; None for none.

    Args:
        value: As it came in.

    Raises:
        ConfigError: If it is neither, or the file cannot be read.
    """
    if isinstance(value, (str, Path)) and Path(value).suffix == ".toml":
        return read_constants(Path(value))
    check_constants(value)
    return value if isinstance(value, RooflineConstants) else None


def check_constant(name: str, value: object) -> float:
    """Return the value of a constant that a user's file may hold.

    Args:
        name: As `RooflineConstants.values` calls it.
        value: As it came in.

    Raises:
        ConfigError: If it is no usable number.
    """
    # Shares of what was measured, with some room for a better device; the others are times.
    most = MOST_SHARE if name.endswith(("efficiency", "contention")) else 1e30
    return check_number(name, value, above=_over(name) or LEAST_SHARE, most=most)


def read_constants(path: Path) -> RooflineConstants:
    """Return the constants of a user's file; those it does not name stay as they are.

    A generation's share without bits is of all its products but those whose bits are named.

    Args:
        path: A TOML file with a table ``[constants]``, as ``steptime validate --fit`` writes.

    Raises:
        ConfigError: If a name is unknown or a value no usable number.
    """
    table = read_toml(path).get("constants")
    if not isinstance(table, dict) or not table:
        raise ConfigError(f"{path.name}: no table [constants]")
    known = [*share_cells(), *SHARED]
    values = {}
    for name, value in table.items():
        check_choice(f"constant in {path.name}", name, known)
        values[name] = check_constant(name, value)
    return published_constants().changed(_of_all_bits(values) | values)


def _of_all_bits(values: Mapping[str, float]) -> dict[str, float]:
    """Return the shares of all bits that a published share has, where one is named without bits."""
    return {
        share_name(*cell): values[share_name(cell[0])]
        for cell in published_constants().efficiency
        if share_name(cell[0]) in values
    }
