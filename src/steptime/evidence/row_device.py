"""The accelerator of a published run, from the many ways to write its name."""

from __future__ import annotations

from dataclasses import replace

from steptime.evidence.row_network import network_gbit
from steptime.evidence.schema import Incomplete, PublishedRow, Unknown
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.assumed import Assumed, not_understood
from steptime.inputs.device_words import is_other_part
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import accelerator, accelerator_names, listed_key
from steptime.inputs.run_words import is_blank
from steptime.inputs.training_step import device_named
from steptime.inputs.usual import network_taken

HOW_NETWORK = "Gb/s of one GPU in one direction in column network"
"""How a table states a network."""


def accelerator_of(text: str, assumed: list[Assumed]) -> Accelerator:
    """Return the accelerator that a cell means.

    Args:
        text: The cell, such as ``A100-80GB SXM``, ``NVIDIA H100 80GB HBM3`` or ``my_gpu.toml``.
        assumed: Gets a record if the name is no exact one.

    Raises:
        Incomplete: If the accelerator is unknown, or another part of the same name.
    """
    if is_blank(text):
        raise Incomplete("gpu is not stated")
    try:
        device = accelerator(text)
    except ConfigError as error:
        if text.endswith(".toml"):
            raise Incomplete(str(error)) from None
        why = f"unknown accelerator {text[:60]!r}"
        if is_other_part(text):
            why = f"{text[:60]!r} has other links or memory than the known part"
        known = ", ".join(accelerator_names())
        raise Unknown(
            f"{why}; known are {known}, or a .toml file of your own (`steptime measure` writes one)"
        ) from None
    if not text.endswith(".toml") and listed_key("accelerator", text) is None:
        why = f"{text[:80]!r} read as {device.name}"
        how = "a preset's name in column gpu"
        assumed.append(Assumed(what="gpu", value=device.name, why=why, how=how))
    return device


def device_of(row: PublishedRow, assumed: list[Assumed]) -> Accelerator:
    """Return the accelerator of a row with the links that the row states.

    Args:
        row: The row.
        assumed: Gets a record if the network is not stated, or not in words that are known.

    Raises:
        Incomplete: If the accelerator is unknown.
    """
    device = accelerator_of(row.gpu, assumed)
    if row.nvlink_domain is not None:
        device = device_named(device, row.nvlink_domain)
    stated = network_gbit(row.network, device.node_size or device.nvlink_domain)
    if stated:
        return replace(device, network_bytes_per_s=stated * 1e9 / 8, network_stated=True)
    # In the words of every answer; a table has a column for it.
    usual = [replace(one, how=HOW_NETWORK) for one in network_taken(device, row.gpus or 1)]
    if not is_blank(row.network):
        share = f"{device.network_bytes_per_s * 8 / 1e9:g} Gb/s per device"
        usual = [not_understood("network", row.network, share, how=HOW_NETWORK)]
    assumed.extend(usual)
    return device


def measured(row: PublishedRow) -> bool:
    """Return whether somebody measured the matrix products of a row's device.

    Args:
        row: The row.
    """
    try:
        return not accelerator_of(row.gpu, []).inferred
    except Incomplete:
        return False
