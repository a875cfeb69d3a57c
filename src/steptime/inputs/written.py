"""Files that a result is written to: no answer writes over a file that it reads."""

from __future__ import annotations

import os
from pathlib import Path

from steptime.inputs.datafiles import write_whole
from steptime.inputs.errors import ConfigError


def same_file(one: str | Path, other: str | Path) -> bool:
    """Return whether two paths are one file; a device or a pipe holds nothing to lose.

    Args:
        one: A path.
        other: A path.
    """
    if os.path.realpath(one) == os.path.realpath(other):
        return not Path(one).exists() or Path(one).is_file()
    try:
        return Path(one).is_file() and os.path.samefile(one, other)  # noqa: PTH121
    except OSError:
        return False


def output_path(name: str, value: object, **reads: object) -> Path:
    """Return the path that a result is to be written to.

    Args:
        name: Of the input.
        value: As it came in.
        **reads: What else was given, by name: a name of something, a file, or what was read.

    Raises:
        ConfigError: If it is no path, or one that is read too.
    """
    if not isinstance(value, (str, Path)) or not str(value).strip():
        raise ConfigError(f"{name} must be the path of a file to write, got {value!r:.60}")
    for other, read in reads.items():
        if not isinstance(read, (str, Path)):
            continue
        # Of a folder, what describes its model is read.
        if same_file(read, value) or same_file(f"{read}/config.json", value):
            raise ConfigError(
                f"{other} and {name} name the same file, {str(value)[:200]}; give two"
            )
    return Path(value)


def write_output(name: str, path: Path, text: str) -> None:
    """Write a result to a file, whole or not at all.

    Args:
        name: Of the input or the option that gave the path.
        path: Where to.
        text: What.

    Raises:
        ConfigError: If it cannot be written there.
    """
    try:
        write_whole(path, text)
    except OSError as error:
        raise ConfigError(f"cannot write {name} {path}: {error.strerror or error}") from None
