"""One short name for the code and the data that an answer comes from."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

from steptime.inputs.datafiles import data_path

_PACKAGE = Path(__file__).resolve().parent.parent
# What shows an answer does not change it.
_SHOWN_BY = {"book", "cli", "parallel"}
_DATA = {".toml", ".csv", ".json"}


def _files() -> Iterator[tuple[str, Path]]:
    """Yield code and data that can change an answer, each with its name on every machine."""
    for path in _PACKAGE.rglob("*.py"):
        name = path.relative_to(_PACKAGE)
        if name.parts[0] not in _SHOWN_BY:
            yield name.as_posix(), path
    data = data_path("references.bib").parent
    for path in data.rglob("*"):
        if path.suffix in _DATA:
            yield f"data/{path.relative_to(data).as_posix()}", path


@functools.cache
def source_digest() -> str:
    """Return a digest of every formula, rule and datum of this installation."""
    whole = hashlib.sha256()
    for name, path in sorted(_files()):
        whole.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()
