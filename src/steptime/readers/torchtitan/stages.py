"""How torchtitan's keys cut layers into stages and chunks, and in which order they run."""

from __future__ import annotations

import re
from itertools import pairwise

from steptime.formulas.schedule_rules import chunks_held
from steptime.formulas.schedules.registry import place_of
from steptime.inputs.errors import ConfigError
from steptime.readers.common.stage_layers import EMBEDDING, HEAD, note_chunks
from steptime.readers.keys.entries import Entries, Entry

PIPELINE = (
    "pipeline_schedule",
    "layers_per_stage",
    "pipeline_micro",
    "first_less",
    "last_less",
    "model_parts",
    "split_points",
)
"""Keys that mean nothing without stages."""
_LAYER = re.compile(r"(?:^|\.)layers\.(\d+)$")
_MOST_PARTS = 10_000


def stages(entries: Entries) -> None:
    """Note the pipeline's schedule, and the chunks and layers that a stage holds.

    Args:
        entries: The file's keys; the model is known where its layers are.

    Raises:
        ConfigError: If stages do not fit the ranks, the schedule or the model.

    References:
        torchtitan2025, torchtitan/distributed/pipeline_parallel.py.
    """
    reading = entries.reading
    schedule = str(entries.word("pipeline_schedule"))
    reading.state("schedule", schedule, line=entries.line("pipeline_schedule"))
    one_chunk = int(chunks_held(float(place_of(schedule)))) == 1
    cut = entries.entry("model_parts") or entries.entry("split_points")
    layers = _layers_of(entries, cut) if cut is not None else None
    if cut is not None and layers is not None:
        entries.asked.update(PIPELINE)
        _check_parts(entries, cut, layers, one_chunk)
        pp = int(reading.value("pp", 1))
        reading.state("vpp", len(layers) // pp, line=cut.line, written=cut.written)
        note_chunks(reading, layers, pp, schedule, (cut.written, cut.line))
        return
    if cut is not None:
        reading.notes.append(f"{cut.written}: stages are cut evenly here")
    for weight, key in ((EMBEDDING, "first_less"), (HEAD, "last_less")):
        entries.count(weight, key, least=0)
    # Turned into chunks once the model is known: see `completed`.
    if entries.count("layers_per_stage", "layers_per_stage") is None and not one_chunk:
        reading.assume("vpp", 2, "two virtual stages a rank")


def _layers_of(entries: Entries, cut: Entry) -> list[int] | None:
    """Return the layers of each stage that are written out; None where they cannot be told."""
    value, model = cut.value, entries.reading.model
    if not isinstance(value, list):
        value = [word.strip() for word in str(value).split(",") if word.strip()]
    if not value or len(value) > _MOST_PARTS or not cut.known:
        return None
    if all(isinstance(part, list) for part in value):
        return [sum(1 for name in part if _LAYER.search(str(name))) for part in value]
    # Points at which a stage begins: each is the first layer of the next one.
    found = [_LAYER.search(str(word)) for word in value]
    starts = [int(one[1][:6]) for one in found if one is not None]
    if model is None or len(starts) != len(value):
        return None
    return [end - start for start, end in pairwise([0, *starts, model.num_layers])]


def _check_parts(entries: Entries, cut: Entry, layers: list[int], one_chunk: bool) -> None:
    """Refuse stages that are written out and do not hold the model, or do not fit the ranks."""
    reading = entries.reading
    here, pp, model = (
        f"{reading.at(cut.line)}: {cut.written}",
        reading.value("pp", 1),
        reading.model,
    )
    if len(layers) % pp or (one_chunk and len(layers) != pp):
        raise ConfigError(f"{here} makes {len(layers)} stages, which do not fit pp = {pp} ranks")
    if min(layers) < 0 or (model is not None and sum(layers) != model.num_layers):
        whole = "a model has more" if model is None else f"the model has {model.num_layers}"
        raise ConfigError(f"{here} has {sum(layers)} layers, but {whole}; make them agree")
