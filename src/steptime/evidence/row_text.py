"""What the free-text cells of a published run say, as values.

Each function returns the value and, where the cell did not say it, a sentence that
names the assumption; an empty sentence means that it was stated.
"""

from __future__ import annotations

import re

Said = tuple[str, str]


def recompute_mode(text: str) -> Said:
    """Return none, selective or full.

    Args:
        text: The cell, such as ``full`` or ``selective (per-op)``.
    """
    folded = text.lower()
    if folded.startswith("full"):
        return "full", ""
    if "module" in folded:
        return "none", f"recompute: {text!r} is treated as none"
    if folded.startswith("select"):
        return "selective", ""
    if folded.startswith(("none", "no")):
        return "none", ""
    return "none", "recompute: not stated, none assumed"


def precision_mode(text: str) -> Said:
    """Return fp16, bf16, fp8, mxfp8 or nvfp4.

    Args:
        text: The cell, such as ``fp8 (current/per-tensor scaling)``.
    """
    folded = text.lower()
    if "nvfp4" in folded or folded.startswith("fp4"):
        return "nvfp4", ""
    if "mxfp8" in folded or "fp8 (mx" in folded:
        return "mxfp8", ""
    for name in ("fp8", "fp16", "bf16"):
        if name in folded:
            return name, ""
    return "bf16", "precision: not stated, bf16 assumed"


def zero_stage(text: str) -> tuple[int, str]:
    """Return how much data parallelism shards: 0 to 3.

    Args:
        text: The cell, such as ``1``, ``ZeRO-1`` or ``FSDP2 (ZeRO-3)``.
    """
    folded = text.lower()
    found = re.search(r"zero-?\s*([0-3])", folded) or re.fullmatch(r"\s*([0-3])\s*", folded)
    if found:
        return int(found.group(1)), ""
    if "grad_op" in folded:
        return 2, ""
    if "fsdp" in folded:
        return 3, ""
    if "distributed optimizer" in folded:
        return 1, ""
    return 0, "zero: not stated, 0 assumed"


def schedule_name(text: str, pp: int, vpp: int) -> Said:
    """Return the name of the pipeline schedule.

    Args:
        text: The cell.
        pp: Pipeline stages.
        vpp: Model chunks a device holds.
    """
    folded = text.lower()
    if pp == 1 or folded == "none":
        return "1f1b", ""
    for key, name in (
        ("dualpipev", "dualpipe-v"),
        ("dualpipe", "dualpipe"),
        ("gpipe", "gpipe"),
        ("zbv", "zb-v"),
        ("bfs", "looped-bfs"),
        ("interleaved", "interleaved-1f1b"),
        ("1f1b", "interleaved-1f1b" if vpp > 1 else "1f1b"),
    ):
        if key in folded:
            return name, ""
    assumed = "interleaved-1f1b" if vpp > 1 else "1f1b"
    return assumed, f"schedule: not stated, {assumed} assumed"


def network_bytes_per_s(text: str) -> float:
    """Return one GPU's share of the network in one direction, or 0 where it is not said.

    Args:
        text: The cell, such as ``8x HDR 200 Gb/s`` or ``800 Gb/s between nodes per 8-GPU node``.
    """
    if per_gpu := re.search(r"(\d+)\s*Gb/s(?: \w+)? per GPU", text):
        return float(per_gpu.group(1)) * 1e9 / 8
    if links := re.search(r"(\d+) [\w-]+ (\d+) Gb/s links per (\d+)-GPU node", text):
        count, rate, gpus = (float(part) for part in links.groups())
        return count * rate / gpus * 1e9 / 8
    if adapters := re.search(r"(\d+)x (HDR|NDR|EDR)(?: (\d+) Gb/s)?", text):
        rate = float(adapters.group(3) or {"EDR": 100, "HDR": 200, "NDR": 400}[adapters.group(2)])
        return float(adapters.group(1)) * rate / 8 * 1e9 / 8
    if per_node := re.search(r"(\d+)\s*Gb/s\b[^.;]*?per (?:(\d+)-GPU )?node", text):
        return float(per_node.group(1)) / float(per_node.group(2) or 8) * 1e9 / 8
    return 0.0


def head_dim(model: str) -> int:
    """Return the width of a head if the model's name says it, else 0.

    Args:
        model: The cell, such as ``Qwen3-30B-A3B (head_dim 128)``.
    """
    found = re.search(r"head_dim\s*=?\s*(\d+)", model)
    return int(found.group(1)) if found else 0


def tied_embeddings(tied: str | None, notes: str) -> bool | None:
    """Return whether embedding and output matrix are one, or None where it is not said.

    Args:
        tied: The column ``tied``: y, n or None.
        notes: The column ``notes``.
    """
    if tied is not None:
        return tied == "y"
    found = re.search(r"tied embeddings: (yes|no)", notes)
    return found.group(1) == "yes" if found else None
