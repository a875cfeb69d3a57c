"""Records as plain data and back: what JSON holds of a question or an answer.

A record becomes its fields and the name of its class, so that reading it gives an equal one.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any

from steptime.inputs.errors import ConfigError

RECORD, FLOAT, ENTRY, PAIRS = "$record", "$float", "$entry", "$pairs"


def plain(value: Any) -> Any:
    """Return a value as JSON holds it.

    Args:
        value: A record of this package, or what records hold.

    Raises:
        ConfigError: If it is something else.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {FLOAT: str(value)}
    if is_dataclass(value) and not isinstance(value, type):
        kind: Any = type(value)
        # What a table of the package holds is told by its name: it may hold functions.
        if hasattr(kind, "TABLE"):
            return {ENTRY: kind.TABLE, "name": attrgetter("name")(value)}
        given = {one.name: plain(getattr(value, one.name)) for one in fields(value) if one.init}
        return {RECORD: f"{kind.__module__}:{kind.__qualname__}"} | given
    if isinstance(value, Mapping):
        if all(isinstance(name, str) for name in value):
            return {name: plain(one) for name, one in value.items()}
        # JSON names with texts alone; a constant may be of a generation and its bits.
        return {PAIRS: [[plain(name), plain(one)] for name, one in value.items()]}
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    raise ConfigError(f"a {type(value).__name__} has no place in JSON")


def _of_package(place: object) -> Any:
    """Return what ``module:name`` stands for, of this package alone: no file says what runs."""
    module, _, inner = str(place).partition(":")
    try:
        if module.split(".")[0] != "steptime":
            return None
        return getattr(importlib.import_module(module), inner)
    except (ImportError, AttributeError):
        return None


def _record_type(name: object) -> Any:
    """Return the class of a record."""
    found = _of_package(name)
    if not (isinstance(found, type) and is_dataclass(found)):
        raise ConfigError(f"{str(name)[:80]!r} is no record of steptime")
    return found


def _entry(table: object, name: object) -> Any:
    """Return an entry of a table by its name."""
    found = _of_package(table)
    one = found.get(name) if isinstance(found, Mapping) else None
    if getattr(type(one), "TABLE", None) != table:
        raise ConfigError(f"{str(name)[:80]!r} is no entry of {str(table)[:80]!r}")
    return one


def _pairs(value: Any) -> dict[Any, Any]:
    """Return values by names that are no texts."""
    try:
        return {recorded(name): recorded(one) for name, one in value}
    except ConfigError:
        raise
    except (TypeError, ValueError):
        raise ConfigError(f"{PAIRS} must be a list of names with their values") from None


def recorded(value: Any) -> Any:
    """Return what `plain` was given; lists come back as tuples, which is what records hold.

    Args:
        value: From `plain`, or read from JSON.

    Raises:
        ConfigError: If a record in it is not known, or its fields are not those of its class.
    """
    if isinstance(value, list):
        return tuple(recorded(one) for one in value)
    if not isinstance(value, dict):
        return value
    if value.keys() == {FLOAT}:
        return float(value[FLOAT])
    if value.keys() == {PAIRS}:
        return _pairs(value[PAIRS])
    if ENTRY in value:
        return _entry(value[ENTRY], value.get("name"))
    if RECORD not in value:
        return {name: recorded(one) for name, one in value.items()}
    kind = _record_type(value[RECORD])
    given = {name: recorded(one) for name, one in value.items() if name != RECORD}
    try:
        return kind(**given)
    except TypeError:
        raise ConfigError(
            f"the fields of this {kind.__name__} are those of another version of steptime"
        ) from None


def json_text(value: Any) -> str:
    """Return a record as one line of JSON.

    Args:
        value: The record.
    """
    import json

    return json.dumps(plain(value), allow_nan=False, ensure_ascii=False)


def from_json_text(text: str) -> Any:
    """Return the record that `json_text` wrote.

    Args:
        text: One line of JSON.

    Raises:
        ConfigError: If it is no such text.
    """
    import json

    try:
        return recorded(json.loads(text))
    except json.JSONDecodeError as error:
        raise ConfigError(f"this is no JSON: {error}") from None
