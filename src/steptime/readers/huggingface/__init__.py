"""Model shapes from a Hugging Face ``config.json``."""

from steptime.readers.huggingface.model import read_huggingface, shape_reading

__all__ = ["read_huggingface", "shape_reading"]
