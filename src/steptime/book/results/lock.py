"""One run of the notebooks at a time: two would write the same files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold a folder for this process; wait, and say so, while another holds it.

    The lock goes with its process, however that ends: none is ever left behind.

    Args:
        folder: Made if it does not exist.
    """
    try:
        import fcntl
    except ModuleNotFoundError:
        # No such locks on this system.
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another run is at work on these notebooks: waiting for it", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
