"""Where the data files are: beside the package when installed, else in the repository."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

from steptime.inputs.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parent.parent


def data_path(name: str) -> Path:
    """Return the path of a data file.

    Args:
        name: Path below ``data/``.

    Raises:
        ConfigError: If it is in neither place.
    """
    for folder in (_PACKAGE / "data", _PACKAGE.parent.parent / "data"):
        path = folder / name
        if path.is_file():
            return path
    raise ConfigError(f"the data file {name!r} is missing from this installation")


def read_toml(path: Path) -> dict[str, Any]:
    """Return a TOML file as a dictionary.

    Args:
        path: The file.

    Raises:
        ConfigError: If it cannot be read or is no TOML; the message has file, line and column.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        reason = str(error) or type(error).__name__
        raise ConfigError(f"{path.name}: cannot be read as TOML: {reason}") from None


@functools.cache
def data_table(name: str) -> dict[str, Any]:
    """Return a TOML file of ``data/``, read once.

    Args:
        name: Path below ``data/``.
    """
    return read_toml(data_path(name))
