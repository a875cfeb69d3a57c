"""The `steptime predict` line that asks what a file asks, with what it tells filled in."""

from __future__ import annotations

from steptime.readers.keys.reading import Reading

_OPTIONS = (
    ("tp", "--tp", "1"),
    ("cp", "--cp", ""),
    ("pp", "--pp", "1"),
    ("dp", "--dp", "N"),
    ("zero_stage", "--zero", ""),
    ("seq_length", "--seq-length", "TOKENS"),
    ("micro_batch_size", "--micro-batch-size", "1"),
    ("global_batch_size", "--global-batch-size", "SEQUENCES"),
)


def predict_line(reading: Reading | None = None, device: str = "NAME") -> str:
    """Return the line, with a word to fill in where neither the file nor its user tells a value.

    Args:
        reading: What is understood of a file so far; without one no value is given, as numbers
            of another run would be taken for the file's.
        device: The accelerator that was asked of.
    """
    if reading is None:
        return "steptime predict --model NAME --accelerator NAME --gpus N -s TOKENS -B SEQUENCES"
    words = [f"steptime predict --model NAME --accelerator {device}"]
    for name, option, usual in _OPTIONS:
        value = reading.value(name, _replicas(reading) if name == "dp" else None)
        if value is not None or usual:
            words.append(f"{option} {usual if value is None else value}")
    return " ".join(words)


def _replicas(reading: Reading) -> int | None:
    """Return the data-parallel ranks that the devices leave, where both are known and divide."""
    devices, group = reading.value("num_gpus"), 1
    for name in ("tp", "cp", "pp"):
        group *= int(reading.value(name, 1))
    return None if devices is None or int(devices) % group else int(devices) // group
