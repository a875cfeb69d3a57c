"""The files that `steptime schedule` reads and writes, and how much it takes on."""

from __future__ import annotations

from pathlib import Path

from steptime.inputs.bounded import file_text
from steptime.inputs.datafiles import write_whole
from steptime.inputs.errors import ConfigError

LARGEST_ORDER_BYTES = 20_000_000
MOST_ACTIONS = {"the table": 5_000_000, "--json": 2_000_000, "--svg": 2_000_000, "--trace": 600_000}
"""What each form of answer holds within about 2 GB."""


def three_files(*texts: str | None) -> list[Path | None]:
    """Return --order, --trace and --svg as paths.

    Args:
        *texts: What was given for each, or None.

    Raises:
        ConfigError: If one is empty.
    """
    for option, text in zip(("--order", "--trace", "--svg"), texts, strict=True):
        if text is not None and not text.strip():
            raise ConfigError(f"{option} is empty; name a file, or leave the option out")
    return [None if text is None else Path(text) for text in texts]


def check_actions(number: int, most: tuple[int, str]) -> None:
    """Refuse more actions than an answer holds.

    Args:
        number: Of actions.
        most: How many it holds, and which answer, of `MOST_ACTIONS`.

    Raises:
        ConfigError: If there are more.
    """
    if number > most[0]:
        raise ConfigError(
            f"{number:,} actions are too many for {most[1]}, which holds up to {most[0]:,}; "
            "use fewer stages, micro-batches or chunks"
        )


def read_order(path: Path) -> str:
    """Return the text of a written order.

    Args:
        path: The file.

    Raises:
        ConfigError: If it is none, too large, or no text.
    """
    return file_text(path, most=LARGEST_ORDER_BYTES, kind="an order")


def write(path: Path, text: str) -> None:
    """Write a file, whole or not at all.

    Args:
        path: Where.
        text: What.

    Raises:
        ConfigError: If that is not possible.
    """
    try:
        write_whole(path, text)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from None
