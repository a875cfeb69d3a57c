"""Turn a layout into the file of a training framework, complete enough to train that model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from steptime.inputs.errors import check_choice
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.model import ModelShape

Writer = Callable[[ModelShape, Layout, Batch], str]

WRITERS: Mapping[str, tuple[str, str]] = {
    "megatron": ("megatron", "megatron_script"),
    "torchtitan": ("torchtitan", "torchtitan_toml"),
    "megatron-bridge": ("megatron_yaml", "bridge_yaml"),
    "nemo": ("megatron_yaml", "nemo_yaml"),
    "deepspeed": ("deepspeed", "deepspeed_script"),
    "nanotron": ("nanotron", "nanotron_yaml"),
}
"""Module of this folder and function of each format, loaded when it is written."""

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
    module, name = WRITERS[kind]
    writer: Writer = getattr(import_module(f"{__name__}.{module}"), name)
    return writer(model, layout, batch)
