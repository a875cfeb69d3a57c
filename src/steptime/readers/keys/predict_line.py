"""The `steptime predict` line that asks what a file asks, with what it tells filled in."""

from __future__ import annotations

from steptime.readers.keys.reading import Reading

_OPTIONS = (
    ("tp", "--tp", "1"),
    ("pp", "--pp", "1"),
    ("dp", "--dp", "8"),
    ("zero_stage", "--zero", "1"),
    ("seq_length", "--seq-length", "4096"),
    ("micro_batch_size", "--micro-batch-size", "1"),
    ("global_batch_size", "--global-batch-size", "64"),
)


def predict_line(reading: Reading | None = None) -> str:
    """Return the line, with a usual value where a file tells none.

    Args:
        reading: What is understood of a file so far; without one no value is given, as numbers
            of another run would be taken for the file's.
    """
    if reading is None:
        return "steptime predict --model NAME --accelerator NAME --gpus N -s TOKENS -B SEQUENCES"
    words = ["steptime predict --model NAME --accelerator h100"]
    for name, option, usual in _OPTIONS:
        value = None if reading is None else reading.value(name)
        words.append(f"{option} {usual if value is None else value}")
    return " ".join(words)
