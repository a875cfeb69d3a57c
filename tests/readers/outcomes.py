"""What becomes of a file that may hold anything."""

from __future__ import annotations

from pathlib import Path

from steptime.inputs.errors import ConfigError
from steptime.readers import Reading, completed, read_configuration


def outcome(path: Path) -> str:
    """Read a file; a refusal must be one clear line that says which file."""
    try:
        reading = read_configuration(path)
        assert isinstance(reading, Reading)
        completed(reading, {})
    except ConfigError as error:
        message = str(error)
        assert "\n" not in message
        assert len(message) < 1200
        return message
    return "read"
