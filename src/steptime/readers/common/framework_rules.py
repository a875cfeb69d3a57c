"""What a framework refuses, so that its file is refused here too, with the framework's reason."""

from __future__ import annotations

from steptime.formulas.schedules.forms import round_size
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Batch, Layout, num_microbatches
from steptime.readers.keys.reading import Reading

INTERLEAVES_EVENLY = ("megatron", "megatron-bridge", "nemo", "mindspeed")
"""Software whose interleaved schedule runs micro-batches in groups of a pipeline's size."""

FIXED_RANKS = "devices of fixed axes"
"""What a reading calls the product of a mesh's sizes that the file fixes."""


def check_framework(reading: Reading, layout: Layout, batch: Batch) -> None:
    """Refuse what the software of a file refuses.

    Args:
        reading: Says which software.
        layout: Of the file.
        batch: Of the file.

    Raises:
        ConfigError: With the software's reason.

    References:
        megatronlm2026, megatron/training/arguments.py (layers over stages);
        megatron/core/pipeline_parallel/schedules.py (micro-batches of interleaved stages).
    """
    _check_mesh(reading, layout)
    if reading.software not in INTERLEAVES_EVENLY:
        return
    _check_layers(reading, layout)
    if layout.vpp == 1:
        return
    if layout.pp == 1:
        raise ConfigError(
            f"{reading.path}: {reading.title} refuses vpp={layout.vpp} chunks a device without a "
            "pipeline; use pp >= 2 or one chunk"
        )
    number = num_microbatches(layout, batch)
    group = int(reading.value("microbatch_group", layout.pp))
    left = number % group
    if not layout.pp <= group <= number or 0 < left < layout.pp:
        ranks = layout.dp * batch.micro_batch_size
        fewer = max(1, number // layout.pp) * layout.pp
        raise ConfigError(
            f"{reading.path}: {reading.title} refuses {number} micro-batches on pp={layout.pp} "
            f"stages with vpp={layout.vpp} chunks: they must be a multiple of pp; use a global "
            f"batch of {fewer * ranks} or {(fewer + layout.pp) * ranks}"
        )
    own = int(round_size(layout.pp, number))
    if group != own and number % own == 0:
        reading.notes.append(
            f"rounds of {group} micro-batches are answered as rounds of {own}: the time is alike, "
            "the activations of the others are not counted"
        )


def _check_mesh(reading: Reading, layout: Layout) -> None:
    """Refuse a mesh whose fixed axes do not divide the devices."""
    fixed = int(reading.value(FIXED_RANKS, 1))
    if layout.num_devices % fixed:
        raise ConfigError(
            f"{reading.path}: {reading.title} refuses a mesh whose fixed axes are {fixed} devices "
            f"on {layout.num_devices}: they do not divide; the nearest number of devices is "
            f"{max(1, round(layout.num_devices / fixed)) * fixed}"
        )


def _check_layers(reading: Reading, layout: Layout) -> None:
    """Refuse layers that do not divide over the stages where nothing says how they are cut."""
    model = reading.model
    if model is None or reading.value("uneven_stages"):
        return
    ends = int(reading.value("counted_ends", 0))
    layers, also = model.num_layers + ends, f" and {ends} for the ends" if ends else ""
    chunks = layout.pp * layout.vpp
    if layers % chunks:
        near = max(1, round(layers / chunks)) * chunks
        sizes = (size for size in range(1, layout.pp) if layers % (size * layout.vpp) == 0)
        stages = max(sizes, default=1)
        raise ConfigError(
            f"{reading.path}: {reading.title} refuses {model.num_layers} layers{also} "
            f"on pp={layout.pp} stages"
            f"{f' x {layout.vpp} chunks' if layout.vpp > 1 else ''}: they do not divide; use "
            f"pp={stages} or {near - ends} layers"
        )
