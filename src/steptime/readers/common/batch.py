"""Batch and devices of a launch file."""

from __future__ import annotations

from steptime.inputs.errors import ConfigError
from steptime.readers.common.open_counts import AS_MANY, why_open
from steptime.readers.keys.entries import Entries, Entry, same
from steptime.readers.keys.reading import DEFAULT

_IMAGES = ("img_h", "img_w", "patch_dim", "vision_model_type", "language_model_type")
_NODES = ("nnodes", "num_nodes", "slurm_nodes", "num_machines")
_EACH = ("nproc_per_node", "devices", "num_gpus_per_node", "gpus_per_node", "slurm_gpus_per_node")
_ALL = ("world_size", "num_gpus")
_HANDED = {"num_nodes": "recipe_nodes", "gpus_per_node": "recipe_gpus_per_node"}


def batch(entries: Entries, *, default_steps: str = "") -> None:
    """Note micro-batch, global batch and sequence length.

    Args:
        entries: The file's keys.
        default_steps: Why one micro-batch a rank is taken where no batch is given; empty to ask.
    """
    reading = entries.reading
    if entries.count("micro_batch_size", "micro_batch_size", "batch_size", "mbs") is None:
        entries.ask("micro_batch_size")
    steps = entries.count("gradient_accumulation", "gradient_accumulation")
    total = entries.count("global_batch_size", "global_batch_size", "gbs")
    if total is None:
        total = _last_of_schedule(entries)
    if total is None and steps is None:
        asked = [gap.split(":")[0] for gap in reading.missing]
        if default_steps and "global_batch_size" not in asked:
            reading.assume("gradient_accumulation", 1, default_steps)
        else:
            entries.ask("global_batch_size")
    _length(entries)
    if entries.entry("rampup_batch_size"):
        reading.notes.append("the batch ramps up; times are for the full batch")


def _last_of_schedule(entries: Entries) -> int | None:
    """Return the last batch of a schedule such as ``0:384 200B:768``."""
    entry = entries.entry("step_batch_size_schedule")
    if entry is None or not entry.known:
        return None
    last = str(entry.value).split()[-1].rpartition(":")[2]
    if not last.isdigit() or not int(last[:12]):
        return None
    entries.reading.state(
        "global_batch_size", int(last[:12]), line=entry.line, written=entry.written
    )
    entries.reading.notes.append("the batch grows in steps; times are for the last")
    return int(last[:12])


def _length(entries: Entries) -> None:
    """Note the sequence length; a decoder behind an image encoder has its own."""
    reading = entries.reading
    keys = ("seq_length", "sequence_length", "sequence_len", "seq_len")
    decoder = entries.entry("decoder_seq_length", "dataloader_seq_length")
    data = entries.entry("data_seq_length")
    encoder = entries.entry("encoder_seq_length")
    plain = entries.entry(*keys)
    own = encoder if encoder is not None else plain
    if data is not None and data.known and own is not None and not same(data.value, own.value):
        entries.count("seq_length", "data_seq_length")
        entries.asked.update(keys)
        reading.notes.append(
            f"sequences are as long as the data's ({data.value}), not as the model may take "
            f"({own.value})"
        )
    elif decoder is not None and (plain is not None or encoder is not None):
        entries.count("seq_length", "decoder_seq_length", "dataloader_seq_length")
        entries.count("image_tokens", *keys, "encoder_seq_length")
        count = reading.value("image_tokens")
        reading.notes.insert(
            0,
            f"a decoder behind an encoder of images: its sequence is taken, of which {count} "
            "tokens are the image's; the encoder's own time and memory are not counted",
        )
        entries.asked.update(_IMAGES)
    elif data is not None and data.known and encoder is None:
        entries.count("seq_length", "data_seq_length")
        entries.asked.update(keys)
    elif any(entries.entry(name) is not None for name in _IMAGES):
        entry = next(entries.entry(name) for name in _IMAGES if entries.entry(name))
        raise ConfigError(
            f"{reading.at(entry.line if entry else 0)}: images beside text, without "
            "decoder_seq_length: the length of the decoder's sequence is not known"
        )
    elif entries.count("seq_length", *keys, "encoder_seq_length") is None:
        entries.ask("seq_length")


def devices(entries: Entries) -> None:
    """Note how many devices a job has, from nodes and devices a node.

    Args:
        entries: The file's keys.
    """
    reading = entries.reading
    entries.asked.update((*_NODES, *_EACH, *_HANDED.values()))
    for name in (*_NODES, *_EACH):
        # As many as there are: the launcher knows.
        found = entries.by_key.get(name, [])
        found[:] = [one for one in found if str(one.value).strip() != "-1"]
    is_open = _ask_open(entries)
    if not is_open and entries.count("num_gpus", *_ALL) is not None:
        return
    nodes = entries.count("num_nodes", *_given(entries, _NODES, "num_nodes"))
    each = entries.count("gpus_per_node", *_given(entries, _EACH, "gpus_per_node"))
    asked = [text.split(":")[0] for text in reading.missing]
    sets_none = nodes is None and "num_nodes" not in asked and not is_open
    if each is not None and sets_none and _one_node(entries):
        nodes = 1
        reading.assume("num_nodes", 1, "the launcher's default")
    group = int(reading.value("tp", 1) * reading.value("cp", 1) * reading.value("pp", 1))
    if nodes is not None and each is not None and not is_open:
        is_own = not any(one.name == "num_nodes" for one in reading.assumptions)
        if is_own or nodes * each % group == 0:
            reading.state("num_gpus", nodes * each, written="nodes x GPUs per node")
            return
        # A recipe's own number of nodes is for whoever starts it to change.
        why = f"the usual {nodes} x {each} do not hold tp x cp x pp = {group}"
        entries.ask("num_gpus", why)
    else:
        reading.missing[:] = [
            text
            for text in reading.missing
            if text.split(":")[0] not in ("num_nodes", "gpus_per_node")
        ]
        entries.ask("num_gpus", "the number of nodes is set when it is launched")


def _ask_open(entries: Entries) -> bool:
    """Ask for the devices where a launcher's count is no number, and return whether one is."""
    told = [one for name in _EACH for one in entries.by_key.get(name, [])]
    if any(str(one.value) not in AS_MANY for one in told):
        # Something else counts what a word leaves to the launcher.
        for name in _EACH:
            found = entries.by_key.get(name, [])
            found[:] = [one for one in found if str(one.value) not in AS_MANY]
    ranks = entries.entry(*_ALL)
    counts = ranks is not None and ranks.known
    whys = [why_open(entries.entry(*keys), counts=counts) for keys in (_ALL, _NODES, _EACH)]
    for why in filter(None, whys):
        entries.ask("num_gpus", why)
    return any(whys)


def _given(entries: Entries, keys: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Return the names of a count: a file's own, else what it hands to a recipe."""
    return keys if entries.entry(*keys) is not None else (_HANDED[name],)


def _one_node(entries: Entries) -> bool:
    """Return whether the launcher that gives the devices of a node starts one node by default."""
    entry: Entry | None = entries.entry("nproc_per_node")
    return entry is not None and entry.line != DEFAULT
