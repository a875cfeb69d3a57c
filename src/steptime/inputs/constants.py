"""The constants of the roofline model, with the range each may lie in and a source for it."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from steptime.inputs.datafiles import data_table, read_toml
from steptime.inputs.errors import ConfigError, check_choice, check_number


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineConstants:
    """Constants of the roofline model, shared by all runs.

    ``data/roofline_constants.toml`` says what each one is, which were fitted and which are
    kept at a published or counted value.

    Attributes:
        ampere_efficiency: Share of the measured matrix rate that a step reaches, A100.
        hopper_efficiency: The same of H100 and its kin.
        blackwell_efficiency: The same of B200 and its kin.
        hbm_efficiency: Share of the memory bandwidth.
        link_efficiency: Share of NVLink's bandwidth.
        network_efficiency: Share of the network's bandwidth.
        contention: Share of what hides behind other work that shows all the same.
        launch_s: Time to launch a kernel and drain it, on the device.
        host_launch_s: Time of the host to launch a kernel of plain PyTorch.
        hop_s: Time to pass one domain.
    """

    ampere_efficiency: float
    hopper_efficiency: float
    blackwell_efficiency: float
    hbm_efficiency: float
    link_efficiency: float
    network_efficiency: float
    contention: float
    launch_s: float
    host_launch_s: float
    hop_s: float

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = check_number(entry.name, getattr(self, entry.name), above=-1e-300)
            object.__setattr__(self, entry.name, value)


CONSTANT_NAMES = tuple(entry.name for entry in fields(RooflineConstants))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantEntry:
    """What ``data/roofline_constants.toml`` says of one constant.

    Attributes:
        name: Field of `RooflineConstants`.
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


@functools.cache
def constant_entries() -> tuple[ConstantEntry, ...]:
    """Return every constant with its range and source."""
    table: dict[str, Any] = data_table("roofline_constants.toml")
    return tuple(
        ConstantEntry(
            name=name,
            value=float(entry["value"]),
            low=float(entry["range"][0]),
            high=float(entry["range"][1]),
            fitted=bool(entry["fitted"]),
            source=str(entry["source"]),
        )
        for name, entry in table.items()
    )


def fitted_names() -> tuple[str, ...]:
    """Return the names of the constants that are fitted."""
    return tuple(entry.name for entry in constant_entries() if entry.fitted)


ENVIRONMENT = "STEPTIME_CONSTANTS"
_IN_USE: ContextVar[RooflineConstants | None] = ContextVar("constants_in_use", default=None)


@functools.cache
def published_constants() -> RooflineConstants:
    """Return the constants of ``data/roofline_constants.toml``."""
    return RooflineConstants(**{entry.name: entry.value for entry in constant_entries()})


def roofline_constants() -> RooflineConstants:
    """Return the constants in use: those of `using_constants`, of the user's file, or published.

    ``steptime --constants FILE`` names the file to the command and to all its processes, by
    the environment variable ``STEPTIME_CONSTANTS``.

    Raises:
        ConfigError: If the file cannot be used.
    """
    given = _IN_USE.get()
    if given is not None:
        return given
    path = os.environ.get(ENVIRONMENT, "")
    return _constants_at(path, _state(path)) if path else published_constants()


@contextlib.contextmanager
def using_constants(constants: RooflineConstants) -> Iterator[None]:
    """Have these constants in use, whatever the environment says.

    A worker on another machine has neither the asker's environment nor the asker's files.

    Args:
        constants: Their values.
    """
    token = _IN_USE.set(constants)
    try:
        yield
    finally:
        _IN_USE.reset(token)


@functools.lru_cache(maxsize=8)
def _constants_at(path: str, state: tuple[int, ...]) -> RooflineConstants:
    return read_constants(Path(path))


def _state(path: str) -> tuple[int, ...]:
    """Return what changes when a file is written again, so that no old content is kept."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size


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
    values = {}
    for name, value in table.items():
        check_choice(f"constant in {path.name}", name, CONSTANT_NAMES)
        values[name] = check_number(name, value, above=-1e-300)
    return replace(published_constants(), **values)
