"""What the free-text cells of a published run say, as values.

Each function returns the value and, where the cell did not say it, a sentence that
names the assumption; an empty sentence means that it was stated.
"""

from __future__ import annotations

import re

from steptime.evidence.schema import Incomplete

Said = tuple[str, str]


def said_nothing(text: str) -> bool:
    """Return whether a cell says that its source does not say.

    Args:
        text: The cell, such as ``not stated``.
    """
    return bool(re.match(r"\s*(not[ -](stated|reported|given|known)|un(stated|known)|\?|$)", text))


def _block(folded: str, layers: float) -> Said | None:
    """Return the mode nearest to recomputing some layers of each chunk whole."""
    found = re.search(r"\bblock\b[^\d]{0,12}(\d+)", folded)
    if not found or layers <= 0.0:
        return None
    count = float(found.group(1))
    if count >= layers:
        return "full", ""
    mode = "full" if count > layers / 2.0 else "none"
    return mode, f"recompute: {count:g} of {layers:g} layers a chunk, read as {mode}"


def recompute_mode(text: str, layers: float = 0.0) -> Said:
    """Return none, selective or full.

    Args:
        text: The cell, such as ``full``, ``uniform-1`` or ``selective (per-op)``.
        layers: Layers of a chunk, for cells that say how many are recomputed; 0 if unknown.
    """
    folded = text.strip().lower()
    if said_nothing(folded):
        return "none", "recompute: not stated, none assumed"
    if block := _block(folded, layers):
        return block
    if re.match(r"full|uniform|block|all\b|every|per[- ]?layer|(1|y|yes|true|on)$", folded):
        return "full", "" if folded.startswith("full") else f"recompute: {text!r} read as full"
    if "core_attn" in folded or folded in ("attention", "attn", "core attention", "sel"):
        return "selective", f"recompute: {text!r} read as selective"
    if "module" in folded:
        return "none", f"recompute: {text!r} is treated as none"
    if folded.startswith("select"):
        return "selective", ""
    if re.match(r"no(ne|\b)|(0|n|false|off|disabled|without)\b", folded):
        return "none", ""
    if re.search(r"checkpoint|recompute", folded):
        return "full", f"recompute: {text!r} read as full"
    return "none", f"recompute: {text!r} is treated as none"


# From few bits to many: a cell that names two means the narrower for its products.
_PRECISIONS = (
    (r"nvfp4|mxfp4|\bfp4", "nvfp4"),
    (r"mxfp8|fp8\W{0,2}mx", "mxfp8"),
    (r"fp8|float8|e4m3", "fp8"),
    (r"bf16|bfloat16", "bf16"),
    (r"fp16|float16|\bhalf", "fp16"),
)


def precision_mode(text: str) -> Said:
    """Return fp16, bf16, fp8, mxfp8 or nvfp4.

    Args:
        text: The cell, such as ``fp8 (current/per-tensor scaling)``.

    Raises:
        Incomplete: If it names a precision that the models know nothing of.
    """
    folded = text.lower().replace("_", "-")
    for pattern, name in _PRECISIONS:
        if re.search(pattern, folded):
            return name, ""
    if re.search(r"(tf|fp|float|int)\d+", folded):
        raise Incomplete(f"precision {text[:40]!r} is not modelled: 16, 8 and 4 bits are")
    return "bf16", "precision: not stated, bf16 assumed"


def zero_stage(text: str) -> tuple[int, str]:
    """Return how much data parallelism shards: 0 to 3.

    Args:
        text: The cell, such as ``1``, ``ZeRO-1`` or ``FSDP2 (ZeRO-3)``.
    """
    folded = text.strip().lower()
    found = re.search(r"(?:zero|stage)[\s_-]*(?:stage)?[\s_-]*([0-3])\b", folded)
    if found := found or re.fullmatch(r"([0-3])(?:\.0)?", folded):
        return int(found.group(1)), ""
    if "grad_op" in folded:
        return 2, ""
    if re.search(r"fsdp|hsdp|full_shard", folded):
        return 3, ""
    if re.search(r"dist\w*[ _-]?opt|^(y|yes|true)$", folded):
        return 1, ""
    if re.fullmatch(r"none|no|n|false|off|ddp|plain data parallelism", folded):
        return 0, ""
    return 0, "zero: not stated, 0 assumed"


# Folded of all but letters and digits; the longer keys first.
_SCHEDULES = (
    ("dualpipev", "dualpipe-v"),
    ("dualpipe", "dualpipe"),
    ("gpipe", "gpipe"),
    ("vhalf", "v-half"),
    ("vmin", "v-min"),
    ("interleavedzb", "interleaved-zb"),
    ("zbh1", "zb-h1"),
    ("zbh2", "zb-h2"),
    ("zbv", "zb-v"),
    ("bfs", "looped-bfs"),
    ("interleaved", "interleaved-1f1b"),
    ("virtualpipeline", "interleaved-1f1b"),
)


def schedule_name(text: str, pp: int, vpp: int) -> Said:
    """Return the name of the pipeline schedule.

    Args:
        text: The cell.
        pp: Pipeline stages.
        vpp: Model chunks a device holds.
    """
    folded = re.sub(r"[^a-z0-9]", "", text.lower())
    if pp == 1 or folded == "none":
        return "1f1b", ""
    usual = "interleaved-1f1b" if vpp > 1 else "1f1b"
    for key, name in _SCHEDULES:
        if key in folded:
            return name, ""
    return usual, "" if "1f1b" in folded else f"schedule: not stated, {usual} assumed"


_RECOMPUTED = (
    r"\b96 formula|^8 ?\*? ?[np]\b"
    r"|recomp\w* (forward |pass )?(is |are )?(counted|included)"
    r"|\b(counts|counting|includes|including|incl\.?) (the )?recomp"
)
_PARAMETERS = r"6 ?\*? ?[np] ?\*? ?(d|t|tokens)?\b|parameters"
_NOT_CAUSAL = r"\b(not|non|no|without)[- ](causal|halv)|causal[^.;,]{0,25}\b(not|ignored)\b"


def flop_convention(text: str) -> str:
    """Return hardware, model, causal or parameters: how a source counts FLOP.

    ``model`` where it is not said.

    Args:
        text: A key of ``data/flop_conventions.csv``, or a sentence.
    """
    folded = text.strip().lower()
    if folded.startswith(("hardware", "96", "hfu")) or re.search(_RECOMPUTED, folded):
        return "hardware"
    if re.match(_PARAMETERS, folded) and not re.search(r"12 ?\*? ?l|atten|attn|palm", folded):
        return "parameters"
    if re.search(r"causal|halved", folded) and not re.search(_NOT_CAUSAL, folded):
        return "causal"
    return "model"


def network_bytes_per_s(text: str) -> float:
    """Return one GPU's share of the network in one direction, or 0 where it is not said.

    Args:
        text: The cell, such as ``8x HDR 200 Gb/s`` or ``800 Gb/s between nodes per 8-GPU node``.
    """
    text = re.sub(r"([GT])(?:bps|bit/s|bits/s|bit/sec)\b", r"\1b/s", text)
    text = re.sub(r"(\d+(?:\.\d+)?) ?Tb/s", lambda rate: f"{1e3 * float(rate[1]):.0f} Gb/s", text)
    if per_gpu := re.search(r"(\d+)\s*Gb/s(?: \w+)? per GPU", text):
        return float(per_gpu.group(1)) * 1e9 / 8
    if links := re.search(r"(\d+) [\w-]+ (\d+) Gb/s links per (\d+)-GPU node", text):
        count, rate, gpus = (float(part) for part in links.groups())
        return count * rate / gpus * 1e9 / 8
    if adapters := re.search(r"(\d+)x (HDR|NDR|EDR)(?: (\d+) Gb/s)?", text):
        rate = float(adapters.group(3) or {"EDR": 100, "HDR": 200, "NDR": 400}[adapters.group(2)])
        return float(adapters.group(1)) * rate / 8 * 1e9 / 8
    if adapters := re.search(r"(\d+) ?x ?(\d+) ?Gb/s", text):
        return float(adapters.group(1)) * float(adapters.group(2)) / 8 * 1e9 / 8
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
