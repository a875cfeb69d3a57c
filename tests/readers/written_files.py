"""A file that a test writes, read as any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from steptime.readers import Reading, read_configuration


def read(folder: Path, name: str, text: str, **given: Any) -> Reading:
    """Return what is read of a text that stands in a file.

    Args:
        folder: Where the file is written.
        name: Of the file, with the folders in which it stands.
        text: What it says.
        **given: What is stated beside it.
    """
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return read_configuration(path, given)


def facts(reading: Reading) -> dict[str, object]:
    """Return the facts of the software that a file says."""
    return {one.name: one.value for one in reading.software_facts}
