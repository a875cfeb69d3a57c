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
from steptime.inputs.generation import generations

_EFFICIENCY = "_efficiency"


SHARED = tuple(entry.name for entry in fields(Constants) if entry.name != "efficiency")


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineConstants:
    """Constants of the roofline model, shared by all runs.

    ``data/roofline_constants.toml`` says what each one is, and ``data/generations.toml`` has the
    share of each generation; both say which were fitted.

    Attributes:
        efficiency: Share of the measured matrix rate that a step reaches, by generation.
        hbm_efficiency: As in `Constants`, like all below.
        link_efficiency: Likewise.
        network_efficiency: Likewise.
        contention: Likewise.
        launch_s: Likewise.
        host_launch_s: Likewise.
        hop_s: Likewise.
    """

    efficiency: Mapping[str, float] = field(hash=False)
    hbm_efficiency: float
    link_efficiency: float
    network_efficiency: float
    contention: float
    launch_s: float
    host_launch_s: float
    hop_s: float

    def __post_init__(self) -> None:
        shares = {
            name: check_number(name + _EFFICIENCY, value, above=-1e-300)
            for name, value in self.efficiency.items()
        }
        object.__setattr__(self, "efficiency", shares)
        for name in SHARED:
            object.__setattr__(self, name, check_number(name, getattr(self, name), above=-1e-300))

    def values(self) -> dict[str, float]:
        """Return every constant by its name, such as ``hopper_efficiency``."""
        shares = {name + _EFFICIENCY: value for name, value in self.efficiency.items()}
        return shares | {name: getattr(self, name) for name in SHARED}

    def changed(self, values: Mapping[str, float]) -> RooflineConstants:
        """Return the constants with some of them changed.

        Args:
            values: By the names that `values` gives.
        """
        shares = dict(self.efficiency)
        others: dict[str, Any] = {}
        for name, value in values.items():
            generation = name.removesuffix(_EFFICIENCY)
            if generation in shares and name != generation:
                shares[generation] = value
            else:
                others[name] = value
        return replace(self, efficiency=shares, **others)

    def of(self, generation: str) -> Constants:
        """Return the constants for a device of one generation.

        Args:
            generation: A key of ``data/generations.toml``.
        """
        shared = {name: getattr(self, name) for name in SHARED}
        return Constants(efficiency=self.efficiency[generation], **shared)

    def of_each(self, generations: Sequence[str]) -> Constants:
        """Return the constants for many runs at once: the share is an array of an entry each.

        Args:
            generations: Of the runs' devices.
        """
        import numpy as np

        shares = np.array([self.efficiency[name] for name in generations])
        return replace(self.of(generations[0]), efficiency=shares)


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


def share_name(generation: str) -> str:
    """Return the name of a generation's constant, such as ``hopper_efficiency``.

    Args:
        generation: A key of ``data/generations.toml``.
    """
    return generation + _EFFICIENCY


@functools.cache
def constant_entries() -> tuple[ConstantEntry, ...]:
    """Return every constant with its range and source."""
    shares = [
        ConstantEntry(
            name=one.name + _EFFICIENCY,
            value=one.efficiency,
            low=one.low,
            high=one.high,
            fitted=one.fitted,
            source=one.source,
        )
        for one in generations().values()
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
    shares = {name: values[name + _EFFICIENCY] for name in generations()}
    return RooflineConstants(efficiency=shares, **{name: values[name] for name in SHARED})


@functools.cache
def published_constants() -> RooflineConstants:
    """Return the constants of ``data/``."""
    return constants_from({entry.name: entry.value for entry in constant_entries()})


def read_constants(path: Path) -> RooflineConstants:
    """Return the constants of a user's file; those it does not name stay as they are.

    Args:
        path: A TOML file with a table ``[constants]``, as ``steptime validate --fit`` writes.

    Raises:
        ConfigError: If a name is unknown or a value no usable number.
    """
    table = read_toml(path).get("constants")
    if not isinstance(table, dict) or not table:
        raise ConfigError(f"{path.name}: no table [constants]")
    known = [entry.name for entry in constant_entries()]
    values = {}
    for name, value in table.items():
        check_choice(f"constant in {path.name}", name, known)
        values[name] = check_number(name, value, above=-1e-300)
    return published_constants().changed(values)
