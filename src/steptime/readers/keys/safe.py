"""Opening files that may be anything: bounded in size, in depth and in time."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from steptime.inputs import bounded
from steptime.inputs.errors import ConfigError

# Real configuration files are a few kilobytes. The parsers below are linear, and
# at these sizes the slowest takes well under a second.
LARGEST_BYTES = 1_000_000
LARGEST_TOML_BYTES = 200_000
LARGEST_LAUNCH_BYTES = 200_000
DEEPEST = 60


def file_text(path: str | Path, *, most: int = LARGEST_BYTES) -> str:
    """Return the text of a small UTF-8 file.

    Args:
        path: What to open.
        most: Largest size in bytes.

    Raises:
        ConfigError: If there is no such regular file, it is too large, or it is no text.
    """
    name = short(path)
    text = bounded.file_text(path, most=most, kind="a configuration: is it weights?")
    if "\0" in text:
        raise ConfigError(f"{name} holds zero bytes; is it a binary file?")
    if not text.strip():
        raise ConfigError(f"{name} is empty")
    return text


def short(value: str | Path, *, most: int = 80) -> str:
    """Return a path or a message as one printable line of at most ``most`` characters."""
    if isinstance(value, Path):
        most = 4 * most
    text = str(value)[: most + 1]
    line = "".join(letter if letter.isprintable() else "?" for letter in text)
    return line if len(line) <= most else line[: most - 3] + "..."


def shown(value: object) -> str:
    """Return a value from a file for a message: quoted if it is text, never long."""
    if isinstance(value, (list, dict)) and len(value) > 8:
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, int) and abs(value) >= 10**40:
        return "a number of over 40 digits"
    try:
        return short(repr(value[:80] if isinstance(value, str) else value))
    except (RecursionError, ValueError):
        return f"a {type(value).__name__}"


def json_object(text: str, name: str) -> dict[str, Any]:
    """Return the object that a JSON text holds.

    Args:
        text: The file's text.
        name: What to call it in a refusal.

    Raises:
        ConfigError: With the line, if it is not JSON, too deep, or no object.
    """
    _check_depth(text, name)
    try:
        value = json.loads(text, object_pairs_hook=lambda pairs: _unique(pairs, name, text))
    except json.JSONDecodeError as error:
        raise ConfigError(f"{name}:{error.lineno}: not valid JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{name}: not usable JSON: {short(str(error))}") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{name}: expected a JSON object, got a {type(value).__name__}")
    return value


def toml_object(text: str, name: str) -> dict[str, Any]:
    """Return the table that a TOML text holds.

    Args:
        text: The file's text.
        name: What to call it in a refusal.

    Raises:
        ConfigError: If it is not TOML or too deep.
    """
    if len(text) > LARGEST_TOML_BYTES:
        raise ConfigError(f"{name} is over {LARGEST_TOML_BYTES // 1000} kB of TOML")
    _check_depth(text, name)
    for number, line in enumerate(text.splitlines(), 1):
        # A key of many parts costs its square to parse.
        if line.split("=", 1)[0].count(".") > DEEPEST:
            raise ConfigError(f"{name}:{number}: a key of over {DEEPEST} parts")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name}: not valid TOML: {short(str(error))}") from None


def line_of(text: str, key: str, *, after: int = 0) -> int:
    """Return the line on which ``key`` first stands as a key, or 0.

    Args:
        text: The file's text.
        key: A key of JSON, TOML or YAML.
        after: Skip this many lines.
    """
    for number, line in enumerate(text.splitlines(), 1):
        if number <= after:
            continue
        bare = line.lstrip(" \t{,-")
        for form in (f'"{key}"', f"'{key}'", key):
            if bare.startswith(form) and bare[len(form) :].lstrip()[:1] in (":", "="):
                return number
    for number, line in enumerate(text.splitlines(), 1):
        if number > after and f'"{key}"' in line:
            return number
    return 0


def _check_depth(text: str, name: str) -> None:
    """Refuse brackets nested deeper than any real file: parsers recurse on them."""
    depth = 0
    quoted = ""
    for number, line in enumerate(text.split("\n"), 1):
        if not ("[" in line or "{" in line or "]" in line or "}" in line):
            continue
        quoted = ""
        for letter in line:
            if quoted:
                quoted = "" if letter == quoted else quoted
            elif letter == '"':
                quoted = letter
            elif letter in "[{":
                depth += 1
                if depth > DEEPEST:
                    raise ConfigError(f"{name}:{number}: nested over {DEEPEST} deep")
            elif letter in "]}":
                depth = max(0, depth - 1)


def _unique(pairs: list[tuple[str, Any]], name: str, text: str) -> dict[str, Any]:
    """Return the pairs as a dict; refuse a key given twice with two values."""
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen and type(value) in (int, str, bool, float) and seen[key] != value:
            line = line_of(text, key, after=line_of(text, key))
            raise ConfigError(
                f"{name}:{line}: {short(key)} is given twice, as {shown(seen[key])} "
                f"and as {shown(value)}"
            )
        seen[key] = value
    return seen


# Python turns digits into an int in time that grows with their square; the limit
# that guards against it can be switched off in the environment.
if hasattr(sys, "set_int_max_str_digits") and sys.get_int_max_str_digits() == 0:
    LARGEST_BYTES = 100_000
