"""Turn a layout into the file of a training framework, complete enough to train that model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from steptime.inputs.ability import ability_of, check_run
from steptime.inputs.errors import check_choice
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.model import ModelShape
from steptime.inputs.said import Said

Writer = Callable[[ModelShape, Layout, Batch, Mapping[str, Any], int], str]

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

STARTED_BY = {"megatron": "torchrun "}
"""How the launch starts in scripts of what asks something of its environment."""

OVERLAP = "overlap_tp"

USUAL_NODE = 8
"""GPUs of a server where no device says."""

_SUFFIXES = {
    "torchtitan": ".toml",
    **dict.fromkeys(("megatron-bridge", "nemo", "nanotron"), ".yaml"),
}


def suffix_of(kind: str) -> str:
    """Return how the name of a format's file ends: as a script's where it has no keys.

    Args:
        kind: The format.
    """
    return _SUFFIXES.get(kind, ".sh")


def emitted(
    kind: str,
    model: ModelShape,
    layout: Layout,
    batch: Batch,
    facts: Mapping[str, Any] | None = None,
    node_size: int = USUAL_NODE,
    told: Iterable[str] = (),
    capability: int = 0,
) -> str:
    """Return the file that trains ``model`` with this layout.

    Without facts a file asks for the overlap that the time of its framework takes for granted.

    Args:
        kind: One of ``FORMATS``.
        model: The shape.
        layout: The layout.
        batch: The batch.
        facts: What is said of the software, by name: the file asks for it, as far as the framework
            has words, and tells the rest. Those of the model count where nothing else is said.
        node_size: GPUs of a server.
        told: Facts without a word, as ``name=value``, that are told elsewhere.
        capability: Major number of the device's compute capability, 0 where nothing is known.

    Raises:
        ConfigError: If the framework cannot run the layout, or has no such model.
    """
    # All that reads files comes with these: a search that writes none does without.
    from steptime.planning.emit.environment import environment_lines
    from steptime.planning.emit.names import headline
    from steptime.planning.emit.words import form_of, unsaid, words_for

    check_choice("format", kind, FORMATS)
    # As old as the last of its software that reads such a file.
    check_run(kind, ability_of(Said(stack=kind, date=form_of(kind).until or None)), layout, batch)
    module, name = WRITERS[kind]
    writer: Writer = getattr(import_module(f"{__name__}.{module}"), name)
    wanted = {fact.name: fact.value for fact in model.facts} | dict(facts or {})
    if OVERLAP in wanted and (layout.tp == 1 or not layout.sequence_parallel):
        # Frameworks stop at an overlap of messages that they do not cut.
        wanted[OVERLAP] = 0.0
    text = writer(model, layout, batch, words_for(kind, wanted), node_size)
    if kind in STARTED_BY:
        before = "".join(f"{line}\n" for line in environment_lines(layout, capability))
        text = text.replace(STARTED_BY[kind], before + STARTED_BY[kind], 1)
    rest = [one for one in unsaid(kind, wanted) if one not in told]
    if not rest:
        return text
    start, _, more = text.partition(headline(model, layout) + "\n")
    line = f"# no key of it says: {', '.join(rest)}\n"
    return f"{start}{headline(model, layout)}\n{line}{more}"
