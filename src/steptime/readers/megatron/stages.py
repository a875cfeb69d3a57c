"""How Megatron-LM's arguments cut layers into stages and chunks, and in which order they run."""

from __future__ import annotations

import re

from steptime.inputs.errors import ConfigError
from steptime.inputs.usual import USUAL_SCHEDULE
from steptime.readers.common.patterns import chunk_layers, stages_of
from steptime.readers.common.stage_layers import EMBEDDING, HEAD, note_chunks
from steptime.readers.keys.entries import Entries
from steptime.readers.keys.safe import shown
from steptime.readers.megatron.split import FIRST, LAST, check_ends, check_layout

_SCHEDULES = {"dualpipev": "dualpipe-v"}
_SWITCHED = {
    "enable_zbh1_pipeline": ("zb-h1", 1),
    "enable_zbh1_exact_semantics": ("zb-h1", 1),
    "zero_bubble_v_schedule": ("zb-v", 2),
}
"""Switches that choose a schedule, and the chunks that it has."""


def stages(entries: Entries) -> None:
    """Note the chunks of a device, the schedule, and whether layers need not divide.

    Args:
        entries: The file's keys.

    Raises:
        ConfigError: If layers do not divide, or a schedule is not modelled.
    """
    _uneven(entries)
    names = ("virtual_pipeline_model_parallel_size", "num_virtual_stages_per_pipeline_rank", "vp")
    chunks = entries.count("vpp", *names)
    chunks = _of_layout(entries) or _of_layers(entries) or chunks
    entries.count(
        "microbatch_group",
        "microbatch_group_size_per_virtual_pipeline_stage",
        "microbatch_group_size_per_vp_stage",
    )
    if not _schedule(entries) and chunks is not None and chunks > 1:
        entries.reading.assume("schedule", "interleaved-1f1b", "several chunks a device")
    check_ends(entries)


def _of_layers(entries: Entries) -> int | None:
    """Return the chunks that a number of layers in each makes."""
    reading = entries.reading
    key = "num_layers_per_virtual_pipeline_stage"
    each = entries.count("layers_per_chunk", key)
    if each is None:
        return None
    layers = reading.value("layers_with_empty", reading.value("num_layers"))
    if layers is None:
        entries.ask("num_layers", "to turn layers per virtual stage into chunks")
        return None
    ends = int(reading.value("counted_ends", 0))
    also = f" and {ends} for the ends" if ends else ""
    held, line = reading.value("pp", 1), entries.line(key)
    if (layers + ends) % (held * each):
        raise ConfigError(
            f"{reading.at(line)}: {each} layers per virtual stage x pp = {held} "
            f"do not divide num_layers = {layers}{also}"
        )
    layers += ends
    chunks = int(layers // (held * each))
    reading.state("vpp", chunks, line=line, written="layers per virtual stage")
    return chunks


def _of_layout(entries: Entries) -> int | None:
    """Return the chunks of a layout that is written out: bars part those of all stages."""
    reading = entries.reading
    cut = entries.entry("pipeline_model_parallel_layout")
    if cut is None or not cut.known:
        return None
    check_layout(entries, cut)
    number, held = stages_of(cut.value), reading.value("pp", 1)
    reading.state("uneven_stages", True, line=cut.line, written=cut.written)
    if number == 1 or number % held:
        return None
    layers = chunk_layers(cut.value)
    note_chunks(reading, layers, held, USUAL_SCHEDULE, (cut.written, cut.line))
    reading.state("vpp", number // held, line=cut.line, written=cut.written)
    return int(number // held)


def _schedule(entries: Entries) -> bool:
    """Note a schedule that a word or a switch chooses; return whether one does."""
    reading = entries.reading
    word = entries.word("schedules_method")
    line = entries.line("schedules_method")
    if word and word not in _SCHEDULES:
        raise ConfigError(f"{reading.at(line)}: schedules_method {shown(word)} is not modelled")
    if word:
        reading.state("schedule", _SCHEDULES[word], line=line, written="schedules_method")
        reading.state("vpp", 2, line=line, written=word)
        return True
    on = [name for name in _SWITCHED if entries.flag(name)]
    if not on:
        return False
    schedule, held = _SWITCHED[on[0]]
    line = entries.line(on[0])
    reading.state("schedule", schedule, line=line, written=on[0])
    if held > 1:
        reading.facts.pop("vpp", None)
        reading.state("vpp", held, line=line, written=on[0])
    return True


def _uneven(entries: Entries) -> None:
    """Note what of a file says that layers need not divide over the stages."""
    reading = entries.reading
    ends = {
        weight: entries.flag(f"account_for_{end}_in_pipeline_split")
        for weight, end in ((EMBEDDING, "embedding"), (HEAD, "loss"))
    }
    if "embedding" in entries.word("pp_partition_method"):
        ends = dict.fromkeys(ends, True)
    counted = sum(ends.values())
    if counted:
        line = entries.line("pp_partition_method", "account_for_embedding_in_pipeline_split")
        reading.state("counted_ends", counted, line=line, written="ends that count as a layer")
        for weight, counts in ends.items():
            reading.state(weight, int(counts), line=line, written="ends that count as a layer")
    stated = [
        entries.count(name, *keys)
        for name, keys in (
            ("first_stage_layers", FIRST),
            ("last_stage_layers", LAST),
        )
    ]
    if any(stated):
        line = entries.line(*FIRST) or entries.line(*LAST)
        reading.state("uneven_stages", True, line=line, written="stages")
    each = entries.entry("num_layer_list")
    if each is not None and each.value:
        reading.state("uneven_stages", True, line=each.line, written="stages")
        words = re.findall(r"\d+", str(each.value))
        if len(words) == reading.value("pp", 1):
            layers = [int(word) for word in words]
            note_chunks(reading, layers, len(words), USUAL_SCHEDULE, (each.written, each.line))
    layout = entries.entry("pipeline_model_parallel_layout")
    if layout is not None and not layout.known and "uneven_stages" not in reading.facts:
        reading.assume("uneven_stages", True, f"{layout.written} is not written out in the file")


def noop_layers(entries: Entries) -> None:
    """Take away the layers that only fill up stages.

    Args:
        entries: The file's keys.
    """
    entry = entries.entry("noop_layers")
    layers = entries.entry("num_layers")
    if entry is None or layers is None or not entry.known or not str(layers.value).isdigit():
        return
    empty = len([word for word in str(entry.value).split(",") if word.strip()])
    real = int(str(layers.value)) - empty
    entries.by_key["num_layers"] = []
    entries.put("num_layers", real, f"{layers.value} less {empty} that do nothing")
    entries.reading.state("uneven_stages", True, line=entry.line, written=entry.written)
    entries.reading.state("layers_with_empty", int(str(layers.value)), line=entry.line)
