"""What a script starts: as bash says, and as it is followed here."""

from __future__ import annotations

import subprocess
from pathlib import Path

from steptime.readers.shell.follow import followed


def started_by_bash(script: str, arguments: str = "", folder: Path | None = None) -> list[str]:
    """Return the words of each call of ``train`` in a script that bash runs.

    Args:
        script: The script.
        arguments: What it is started with.
        folder: Where it is started.
    """
    stub = 'train() { echo TRAIN "$@"; }\n'
    command = ["bash", "-c", stub + script, "run.sh", *arguments.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    lines = [line for line in done.stdout.splitlines() if line.startswith("TRAIN")]
    return [line.removeprefix("TRAIN").strip() for line in lines]


def started_as_followed(script: str, arguments: str = "") -> list[str]:
    """Return the words of each call of ``train`` that is reached for certain.

    Args:
        script: The script.
        arguments: What it is started with.
    """
    given = {str(place): word for place, word in enumerate(arguments.split(), 1)}
    found = followed(script, "run.sh", given).commands
    sure = [one.words[1:] for one in found if one.words[0] == "train" and not one.unsure]
    return [" ".join(words) for words in sure]
