"""Start from files that people already have: model configurations and launch files."""

from steptime.readers.completed import completed, noted
from steptime.readers.detect import read_configuration
from steptime.readers.huggingface import read_huggingface
from steptime.readers.keys.reading import Assumption, Fact, Reading

__all__ = [
    "Assumption",
    "Fact",
    "Reading",
    "completed",
    "noted",
    "read_configuration",
    "read_huggingface",
]
