"""A model shape from a user's own TOML file; what is wrong is told by key and line."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from steptime.inputs.datafiles import read_toml
from steptime.inputs.errors import ConfigError, alike
from steptime.inputs.model import Experts, LatentAttention, ModelShape

NOTES = ("aliases", "params_billion", "zero_source")
TYPE = "model_type"
"""Key that names what is known of models of its type."""
PARTS: dict[str, type] = {"experts": Experts, "latent_attention": LatentAttention}
"""Keys that hold a table of their own."""


def shape_entry(path: Path) -> dict[str, Any]:
    """Return the keys of a model's file: at the top, or in its one table.

    Args:
        path: The file.

    Raises:
        ConfigError: If it cannot be read, or keys are missing or unknown.
    """
    table = read_toml(path)
    tables = [key for key, value in table.items() if isinstance(value, dict)]
    own = len(table) == 1 and len(tables) == 1 and tables[0] not in PARTS
    name = tables[0] if own else path.stem
    entry = table[tables[0]] if own else table
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    _check_keys(entry, ModelShape, path.name, lines, given=("name",))
    for part, kind in PARTS.items():
        if isinstance(entry.get(part), dict):
            _check_keys(entry[part], kind, f"{path.name}, {part}", lines)
    return {"name": name, **entry}


def _check_keys(
    entry: dict[str, Any],
    kind: type,
    place: str,
    lines: list[str],
    given: tuple[str, ...] = (),
) -> None:
    """Refuse unknown keys, each with its line, and name all missing ones at once."""
    stated = [one.name for one in fields(kind) if one.name != "remarks"]
    known = [*stated, *((TYPE,) if kind is ModelShape else ())]
    needed = [one.name for one in fields(kind) if one.default is MISSING]
    for key in entry:
        if key not in known and key not in NOTES:
            hint = alike(key, known) or f"known: {', '.join(known)}"
            raise ConfigError(f"{place}:{line_of_key(lines, key)}: {key} is no field; {hint}")
    lacking = [name for name in needed if name not in entry and name not in given]
    if lacking:
        raise ConfigError(f"{place}: missing {', '.join(lacking)}")


def line_of_key(lines: list[str], key: str) -> int:
    """Return the line on which a key stands, counted from 1; 0 if none.

    Args:
        lines: Of the file.
        key: The key.
    """
    for number, line in enumerate(lines, 1):
        if line.strip().lstrip("\"'[").startswith(key):
            return number
    return 0


def placed(error: ConfigError, path: Path) -> ConfigError:
    """Return an error with the file, and with the line of the key that it names.

    Args:
        error: What a check said.
        path: The file.
    """
    message = str(error)
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    key = message.replace("=", " ").split(" ")[0]
    line = line_of_key(lines, key) if key.isidentifier() else 0
    at = f"{path.name}:{line}" if line else path.name
    return ConfigError(f"{at}: {message}")
