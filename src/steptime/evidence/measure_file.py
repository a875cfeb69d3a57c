"""From measurements to an accelerator file that every command takes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from steptime.evidence.measure import Measured, Timing
from steptime.evidence.measure_device import Device
from steptime.formulas.roofline.matmul import product_s
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.constants import published_constants
from steptime.inputs.device_words import preset_named
from steptime.inputs.errors import ConfigError
from steptime.inputs.generation import generations
from steptime.inputs.presets import accelerator

# What large copies and rings reach of a data sheet's rate (nccl-tests: 0.75 to 0.8 of a link).
# The model takes a share of the data sheet's rate itself, so a measured one is scaled up to it.
COPY_SHARE = 0.9
RING_SHARE = 0.8
_UNKNOWN_NETWORK_BYTES_PER_S = 12.5e9


def preset_like(device: Device, like: str | None, ranks: int) -> Accelerator | None:
    """Return the preset that gives what is not measured: the named one, or by the device's name.

    Args:
        device: What will be measured.
        like: A preset, or None.
        ranks: Of one server that take part.

    Raises:
        ConfigError: If there is none and one GPU alone cannot measure its links.
    """
    if like is not None:
        return accelerator(like)
    name = preset_named(device.name) if device.is_gpu else None
    if name is None and device.is_gpu and ranks == 1:
        raise ConfigError(
            f"{device.name}: one GPU cannot measure its links; name a preset with --like "
            "h100, or run under torchrun with all GPUs of a server"
        )
    return None if name is None else accelerator(name)


def _at_most(measured: float, share: float, data_sheet: float) -> float:
    """Return a data sheet's rate, or less where what was measured cannot come from it."""
    return min(measured / share, data_sheet) if measured else data_sheet


def measured_accelerator(found: Measured, name: str, like: Accelerator | None) -> Accelerator:
    """Return an accelerator from measurements, the rest from the data sheet of another.

    Products are taken as measured. Memory and links keep the data sheet's rates, on which the
    model's shares rest, unless the device falls short of them.

    Args:
        found: The measurements.
        name: What to call it.
        like: Gives the peak rates, links and network that were not measured.

    Raises:
        ConfigError: If links are neither measured nor given.
    """
    copied, links = found.best("copy") / COPY_SHARE, found.best("all-reduce") / RING_SHARE
    network = found.best("network") / RING_SHARE
    if like is None:
        preset_like(found.device, None, found.ranks)
    base = like or Accelerator(
        name=name,
        peak_flop_per_s=found.best_product,
        peak_fp8_flop_per_s=found.best("product", "fp8"),
        hbm_bytes=found.device.memory_bytes,
        hbm_bytes_per_s=copied,
        nvlink_bytes_per_s=links or copied,
        network_bytes_per_s=network or _UNKNOWN_NETWORK_BYTES_PER_S,
        nvlink_domain=max(found.ranks, 1),
    )
    wide = max(base.peak_flop_per_s, found.best_product)
    narrow = max(base.peak_fp8_flop_per_s, found.best("product", "fp8"))
    inside = base.nvlink_domain <= max(found.ranks, 1)
    # What was not timed here keeps its place beside what was.
    kin = found.best_product / base.matmul_flop_per_s if base.matmul_flop_per_s else 0.0
    return replace(
        base,
        name=name,
        # A rate over the data sheet's shows that the sheet is not of this device.
        peak_flop_per_s=wide,
        peak_fp8_flop_per_s=max(narrow, wide) if narrow else 0.0,
        matmul_flop_per_s=found.best_product,
        matmul_fp8_flop_per_s=found.best("product", "fp8") or base.matmul_fp8_flop_per_s * kin,
        matmul_fp4_flop_per_s=base.matmul_fp4_flop_per_s * kin,
        hbm_bytes=found.device.memory_bytes,
        hbm_bytes_per_s=_at_most(copied, 1.0, base.hbm_bytes_per_s),
        nvlink_bytes_per_s=_at_most(links, 1.0, base.nvlink_bytes_per_s),
        network_bytes_per_s=(
            # In a rack the servers' ranks meet over NVLink: that says nothing of the network.
            _at_most(network, 1.0, base.network_bytes_per_s) if inside else base.network_bytes_per_s
        ),
        num_sms=found.device.num_sms,
        generation=found.device.generation or base.generation,
        source=f"measured on {found.device.name}, {found.device.versions}, {found.date}",
    )


def curve_share(one: Timing, found: Measured, device: Accelerator) -> float:
    """Return the share of the best product's rate that the model's curve gives a shape.

    Args:
        one: A product.
        found: All measurements, for the best of its precision.
        device: What was measured.
    """
    best = found.best("product", one.precision)
    m, n, k = (float(side) for side in one.size)
    record: Any = SimpleNamespace(
        hbm_bytes_per_s=device.hbm_bytes_per_s, num_sms=float(device.num_sms)
    )
    # The curve reads no share of the generation: any will do.
    constants = published_constants().of(next(iter(generations())))
    time_s = float(product_s(record, constants, m, n, k, best))
    return 2.0 * m * n * k / time_s / best


def _quoted(text: str) -> str:
    """Return a basic TOML string: a device's name may hold anything."""
    plain = "".join(mark if mark.isprintable() else " " for mark in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def accelerator_toml(device: Accelerator, found: Measured) -> str:
    """Return an accelerator as the file that ``--accelerator`` takes, timings included.

    Args:
        device: What `measured_accelerator` returned.
        found: The measurements.
    """
    tera, giga = 1e12, 1e9
    reached = {kind: found.best(kind) / giga for kind in ("copy", "all-reduce", "network")}
    said = ", ".join(f"{kind} {rate:.4g} GB/s" for kind, rate in reached.items() if rate)
    lines = [
        f"# Measured by steptime on {found.date}; rates are dense. Reached: {said}.",
        f"[{device.name}]",
        f"generation = {_quoted(device.generation)}",
        f"num_sms = {device.num_sms}",
        f"watt = {device.watt:g}",
        f"peak_tflop_per_s = {device.peak_flop_per_s / tera:.6g}",
        f"peak_fp8_tflop_per_s = {device.peak_fp8_flop_per_s / tera:.6g}",
        f"peak_fp4_tflop_per_s = {device.peak_fp4_flop_per_s / tera:.6g}",
        f"matmul_tflop_per_s = {device.matmul_flop_per_s / tera:.6g}",
        f"matmul_fp8_tflop_per_s = {device.matmul_fp8_flop_per_s / tera:.6g}",
        f"matmul_fp4_tflop_per_s = {device.matmul_fp4_flop_per_s / tera:.6g}",
        f"hbm_gbyte = {device.hbm_bytes / giga:.6g}",
        f"hbm_gbyte_per_s = {device.hbm_bytes_per_s / giga:.6g}",
        f"nvlink_gbyte_per_s_both = {2 * device.nvlink_bytes_per_s / giga:.6g}",
        f"nvlink_domain = {device.nvlink_domain}",
        f"network_gbit_per_s = {8 * device.network_bytes_per_s / giga:.6g}",
        "timings = [",
        *(
            f'  {{ kind = "{one.kind}", precision = "{one.precision}", size = {list(one.size)}, '
            f"seconds = {one.seconds:.4g}, rate = {one.rate:.4g}, runs = {one.runs}, "
            f"spread = {one.spread:.2g} }},"
            for one in found.timings
        ),
        "]",
        f"[{device.name}.source]",
        f"default = {_quoted(device.source)}",
    ]
    return "\n".join(lines) + "\n"


def _part(path: Path) -> Path:
    # Several ranks may ask at once.
    return path.with_name(f"{path.name}.{os.getpid()}.part")


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written, before two minutes are spent.

    Args:
        path: File to write later.

    Raises:
        ConfigError: If it cannot be written.
    """
    if path.is_dir():
        raise ConfigError(f"--out {path}: is a folder; name a file in it")
    if path.exists() and not path.is_file():
        # The file is put in place of what is there: a device would be gone.
        raise ConfigError(f"--out {path}: is not a regular file; name another")
    try:
        with _part(path).open("w", encoding="utf-8"):
            pass
        _part(path).unlink()
    except OSError as error:
        raise ConfigError(f"--out {path}: {error.strerror or error}") from None


def write_accelerator(text: str, path: Path) -> None:
    """Write an accelerator file, whole or not at all.

    Args:
        text: What `accelerator_toml` returned.
        path: File to write.

    Raises:
        ConfigError: If it cannot be written.
    """
    check_writable(path)
    try:
        _part(path).write_text(text, encoding="utf-8")
        _part(path).replace(path)
    except OSError as error:
        raise ConfigError(f"--out {path}: {error.strerror or error}") from None
