"""The accelerator of a published run, from the many ways to write its name."""

from __future__ import annotations

from dataclasses import replace

from steptime.evidence.row_network import network_gbit
from steptime.evidence.schema import Incomplete, PublishedRow, Unknown
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.assumed import Assumed, not_stated, not_understood
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import accelerator, accelerator_names
from steptime.inputs.run_words import entries, is_blank, words
from steptime.inputs.training_step import device_named

_HOW_NETWORK = "Gb/s of one GPU in one direction in column network"


def _name_words(text: str) -> tuple[str, ...]:
    """Return the words of a device's name, small, without those that say nothing."""
    plain = "".join(mark if mark.isalnum() else " " for mark in text.casefold())
    return tuple(word for word in plain.split() if word not in entries("gpu")["beside"]["words"])


def _is_other_part(text: str) -> bool:
    return any(word in entries("gpu")["other_parts"]["words"] for word in _name_words(text))


def preset_named(text: str) -> str | None:
    """Return the preset that an accelerator's name means, or None.

    Args:
        text: As a table or a driver writes it, such as ``NVIDIA H100 80GB HBM3``.
    """
    word = words("gpu").get("".join(_name_words(text)))
    return word.key if word is not None and word.key in accelerator_names() else None


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
        return accelerator(text)
    except ConfigError as error:
        unknown = error
    if text.endswith(".toml"):
        raise Incomplete(str(unknown))
    name = preset_named(text)
    if name is None:
        why = f"unknown accelerator {text[:60]!r}"
        if _is_other_part(text):
            why = f"{text[:60]!r} has other links or memory than the known part"
        known = ", ".join(accelerator_names())
        raise Unknown(
            f"{why}; known are {known}, or a .toml file of your own (`steptime measure` writes one)"
        )
    why = f"{text[:80]!r} read as {name}"
    assumed.append(Assumed(what="gpu", value=name, why=why, how="a preset's name in column gpu"))
    return accelerator(name)


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
    usual = f"{device.network_bytes_per_s * 8 / 1e9:g} Gb/s per GPU"
    if not is_blank(row.network):
        assumed.append(not_understood("network", row.network, usual, how=_HOW_NETWORK))
    elif -(-(row.gpus or 1) // device.nvlink_domain) > 1:
        assumed.append(not_stated("network", usual, how=_HOW_NETWORK))
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
