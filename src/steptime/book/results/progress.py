"""Show which notebooks run: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Reporter(Protocol):
    """Whatever is told as notebooks start and end."""

    def started(self, name: str) -> None:
        """Take note that a notebook now runs."""

    def ended(self, name: str, seconds: float, failed: bool) -> None:
        """Take note that it has ended."""


class Lines:
    """One line a notebook, for logs.

    Attributes:
        total: How many will run.
        done: How many have ended.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0

    def started(self, name: str) -> None:
        """Say that a notebook starts."""
        print(f"running {name}", flush=True)

    def ended(self, name: str, seconds: float, failed: bool) -> None:
        """Say how it ended and how many are done."""
        self.done += 1
        word = "FAILED" if failed else "done"
        print(f"[{self.done}/{self.total}] {word} {name} in {seconds:.1f} s", flush=True)


class Bar:
    """A bar that names the notebooks now running.

    Attributes:
        running: Names of those, oldest first.
    """

    def __init__(self, total: int) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        self.progress = Progress(
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
        )
        self.task = self.progress.add_task("starting", total=total)
        self.running: list[str] = []

    def started(self, name: str) -> None:
        """Add a notebook to those shown."""
        self.running.append(name)
        self.progress.update(self.task, description=", ".join(self.running))

    def ended(self, name: str, seconds: float, failed: bool) -> None:
        """Move the bar on, and leave a line above it if the notebook failed."""
        self.running.remove(name)
        if failed:
            self.progress.console.print(f"[red]FAILED[/] {name} in {seconds:.1f} s")
        said = ", ".join(self.running) or "done"
        self.progress.update(self.task, advance=1, description=said)


@contextmanager
def reporter(total: int) -> Iterator[Reporter]:
    """Return what shows the progress of ``total`` notebooks on this output.

    Args:
        total: How many will run.
    """
    if total and sys.stdout.isatty():
        bar = Bar(total)
        with bar.progress:
            yield bar
    else:
        yield Lines(total)
