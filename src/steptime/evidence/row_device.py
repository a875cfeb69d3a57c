"""The accelerator of a published run, from the many ways to write its name."""

from __future__ import annotations

import re
from dataclasses import replace

from steptime.evidence.row_text import network_bytes_per_s
from steptime.evidence.schema import Incomplete, PublishedRow
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import accelerator, accelerator_names

# Patterns of a folded name, the longer names first, and the preset each means.
_NAMES = (
    (r"gb300", "gb300"),
    (r"gb200", "gb200"),
    (r"\bb300", "b300"),
    (r"\bb200", "b200"),
    (r"h800", "h800"),
    (r"h200", "h200"),
    (r"h100.*(500 ?w|hbm2e)", "h100-96gb-500w"),
    (r"h100", "h100"),
    (r"a100.*40", "a100-40gb"),
    (r"a100", "a100-80gb"),
    (r"v5p", "tpu-v5p"),
    (r"v6e|trillium", "tpu-v6e"),
)
# Parts of the same name with other links, power or memory.
_OTHER_PARTS = re.compile(r"pcie|\bpci\b|\bnvl\b|\bnvl2\b|\bgh200|\bmig\b")


def preset_named(text: str) -> str | None:
    """Return the preset that an accelerator's name means, or None.

    Args:
        text: As a table or a driver writes it, such as ``NVIDIA H100 80GB HBM3``.
    """
    folded = " ".join(re.sub(r"[^a-z0-9]+", " ", text.lower()).split())
    if _OTHER_PARTS.search(folded):
        return None
    return next((name for pattern, name in _NAMES if re.search(pattern, folded)), None)


def accelerator_of(text: str, assumed: list[str]) -> Accelerator:
    """Return the accelerator that a cell means.

    Args:
        text: The cell, such as ``A100-80GB SXM``, ``NVIDIA H100 80GB HBM3`` or ``my_gpu.toml``.
        assumed: Gets a sentence if the name is no exact one.

    Raises:
        Incomplete: If the accelerator is unknown, or another part of the same name.
    """
    if not text:
        raise Incomplete("gpu is not stated")
    try:
        return accelerator(text)
    except ConfigError as error:
        unknown = error
    if text.endswith(".toml"):
        raise Incomplete(str(unknown))
    name = preset_named(text)
    if name is None:
        why = f"unknown accelerator {text[:60]!r}"
        if _OTHER_PARTS.search(text.lower()):
            why = f"{text[:60]!r} has other links or memory than the known part"
        known = ", ".join(accelerator_names())
        raise Incomplete(
            f"{why}; known are {known}, or a .toml file of your own (`steptime measure` writes one)"
        )
    assumed.append(f"gpu: {text[:80]!r} read as {name}")
    return accelerator(name)


def device_of(row: PublishedRow, assumed: list[str]) -> Accelerator:
    """Return the accelerator of a row with the network that the row states.

    Args:
        row: The row.
        assumed: Gets a sentence if the network is not stated.

    Raises:
        Incomplete: If the accelerator is unknown.
    """
    device = accelerator_of(row.gpu, assumed)
    stated = network_bytes_per_s(row.network)
    if stated:
        return replace(device, network_bytes_per_s=stated)
    nodes = -(-(row.gpus or 1) // device.nvlink_domain)
    if nodes > 1:
        gbit = device.network_bytes_per_s * 8 / 1e9
        assumed.append(f"network: not stated, {gbit:g} Gb/s per GPU assumed")
    return device
