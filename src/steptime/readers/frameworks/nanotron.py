"""Model, layout and batch from nanotron's keys."""

from __future__ import annotations

from pathlib import Path

from steptime.readers.common.batch import batch, devices
from steptime.readers.common.precision import precision
from steptime.readers.keys.entries import Entries
from steptime.readers.megatron.layout import SIZES
from steptime.readers.megatron.model import megatron_model
from steptime.readers.trainers.sharded import recomputed


def rules(entries: Entries, folder: Path) -> None:
    """Note model, layout and batch of a nanotron file.

    Args:
        entries: The file's keys.
        folder: Where it lies.
    """
    reading = entries.reading
    for name, keys in SIZES:
        entries.count(name, *keys)
    entries.count("dp", "dp")
    tp = reading.value("tp", 1)
    reading.model = megatron_model(entries, tp)
    entries.count("zero_stage", "zero_stage", least=0)
    if entries.flag("sequence_parallel") and tp > 1:
        line = entries.line("sequence_parallel")
        reading.state("sequence_parallel", True, line=line, written="tp_mode")
    engine = entries.word("pipeline_engine")
    if engine and reading.value("pp", 1) > 1:
        reading.state("schedule", engine, line=entries.line("pipeline_engine"), written="pp_engine")
    recomputed(entries)
    precision(entries)
    batch(entries)
    if reading.value("dp") is None:
        devices(entries)
