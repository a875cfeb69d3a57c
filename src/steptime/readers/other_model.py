"""Another model than the one that a launch file describes: what its user asks instead."""

from __future__ import annotations

import dataclasses

from steptime.inputs.errors import ConfigError
from steptime.inputs.model import Experts, LatentAttention, ModelShape
from steptime.inputs.usual import USUAL_INTERLEAVED
from steptime.readers.common.stage_layers import CHUNKS
from steptime.readers.keys.reading import COMMAND_LINE, Fact, Reading

_PARTS = ("zero_stage", "facts", "experts", "latent_attention")
_OTHERS = (
    *("model", "padded vocabulary", "position table", "padded_vocab_size", "extra_vocab_size"),
    *("vocab_divisor", "shared_ffn", "qk_head_dim", "qk_pos_emb_head_dim", "ffn_multiple"),
    *("mlp_multiple_of", "window_skip"),
)
OF_MODEL = {
    field.name
    for kind in (ModelShape, Experts, LatentAttention)
    for field in dataclasses.fields(kind)
}.difference(_PARTS).union(_OTHERS)
"""What readers note of a model's sizes; a layout's names are not among them."""


def take_model(reading: Reading, shape: ModelShape) -> None:
    """Put a model in the place of the file's: what the file says of its own counts no more.

    Args:
        reading: What was understood of the file.
        shape: The model.

    Raises:
        ConfigError: If the file cuts layers into stages that the model has not.
    """
    _check_cut(reading, shape)
    _chunks(reading, shape)
    reading.model = shape
    for name in OF_MODEL & reading.facts.keys():
        del reading.facts[name]
    reading.assumptions[:] = [one for one in reading.assumptions if one.name not in OF_MODEL]
    reading.missing[:] = [gap for gap in reading.missing if gap.split(":")[0] not in OF_MODEL]
    reading.notes[:0], reading.held_back[:] = reading.held_back, []
    reading.facts["model"] = Fact(
        name="model", value=shape.name, line=COMMAND_LINE, written="--model"
    )


def _check_cut(reading: Reading, shape: ModelShape) -> None:
    """Refuse a cut that is written out for other layers than the model has."""
    own = None if reading.model is None else reading.model.num_layers
    cut = reading.facts.get(CHUNKS) or reading.facts.get("layers_with_empty")
    if cut is None:
        return
    held = own if own is not None else sum(int(size) for size in str(cut.value).split(","))
    if held != shape.num_layers:
        raise ConfigError(
            f"{reading.at(cut.line)}: {cut.written or cut.name} cuts {held} layers, but --model "
            f"{shape.name} has {shape.num_layers}; change that line, or leave --model out"
        )


def _chunks(reading: Reading, shape: ModelShape) -> None:
    """Count the chunks of a rank anew, where the file gives the layers of each."""
    each = reading.facts.get("layers_per_chunk")
    if each is None:
        return
    held, layers = reading.value("pp", 1) * each.value, shape.num_layers
    whole = int(reading.value("layers_with_empty", layers))
    ends = int(reading.value("counted_ends", 0))
    also = f" and {ends} for the ends" if ends else ""
    counted = whole + ends
    if counted % held:
        raise ConfigError(
            f"{reading.at(each.line)}: {each.written} = {each.value} x pp = "
            f"{reading.value('pp', 1)} do not divide the {layers} layers of --model "
            f"{shape.name}{also}; change one of them with --set"
        )
    chunks, old = counted // held, int(reading.value("vpp", 1))
    reading.facts["vpp"] = dataclasses.replace(each, name="vpp", value=chunks)
    _again(reading, chunks, old)
    name, usual = "schedule", USUAL_INTERLEAVED
    others = [one for one in reading.assumptions if (one.name, one.value) != (name, usual)]
    reading.assumptions[:] = others
    if chunks > 1 and reading.value(name) is None:
        reading.assume(name, usual, "several chunks a device")


def _again(reading: Reading, chunks: int, old: int) -> None:
    """Count anew the layers of a rank that are computed again, where each chunk has some."""
    stated, name = reading.value("recompute_layers"), "recompute_layers"
    for place, fact in enumerate(reading.software_facts):
        if fact.name == name and stated and fact.value == stated * old:
            value = stated * chunks
            reading.software_facts[place] = dataclasses.replace(fact, value=value)
