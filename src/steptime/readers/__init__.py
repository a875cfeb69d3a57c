"""Start from files that people already have: model configurations and launch files."""

from steptime.readers.detect import read_configuration
from steptime.readers.huggingface import read_huggingface
from steptime.readers.megatron import read_megatron
from steptime.readers.nemo import read_nemo
from steptime.readers.reading import Assumption, Fact, Reading, completed
from steptime.readers.torchtitan import read_torchtitan

__all__ = [
    "Assumption",
    "Fact",
    "Reading",
    "completed",
    "read_configuration",
    "read_huggingface",
    "read_megatron",
    "read_nemo",
    "read_torchtitan",
]
