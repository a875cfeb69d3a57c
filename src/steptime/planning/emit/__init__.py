"""Turn a layout into the file of a training framework, complete enough to train that model."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from steptime.inputs.errors import check_choice
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.model import ModelShape
from steptime.planning.emit.deepspeed import deepspeed_script
from steptime.planning.emit.megatron import megatron_script
from steptime.planning.emit.megatron_yaml import bridge_yaml, nemo_yaml
from steptime.planning.emit.nanotron import nanotron_yaml
from steptime.planning.emit.torchtitan import torchtitan_toml

Writer = Callable[[ModelShape, Layout, Batch], str]

WRITERS: Mapping[str, Writer] = {
    "megatron": megatron_script,
    "torchtitan": torchtitan_toml,
    "megatron-bridge": bridge_yaml,
    "nemo": nemo_yaml,
    "deepspeed": deepspeed_script,
    "nanotron": nanotron_yaml,
}
FORMATS = tuple(WRITERS)


def emitted(kind: str, model: ModelShape, layout: Layout, batch: Batch) -> str:
    """Return the file that trains ``model`` with this layout.

    Args:
        kind: One of ``FORMATS``.
        model: The shape.
        layout: The layout.
        batch: The batch.

    Raises:
        ConfigError: If the framework cannot run the layout, or has no such model.
    """
    check_choice("format", kind, FORMATS)
    return WRITERS[kind](model, layout, batch)
