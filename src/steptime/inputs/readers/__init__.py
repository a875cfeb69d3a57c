"""Start from files that people already have: model configurations and launch files."""

from steptime.inputs.readers.detect import read_configuration
from steptime.inputs.readers.huggingface import read_huggingface
from steptime.inputs.readers.megatron import read_megatron
from steptime.inputs.readers.nemo import read_nemo
from steptime.inputs.readers.reading import Assumption, Fact, Reading, completed
from steptime.inputs.readers.torchtitan import read_torchtitan

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
