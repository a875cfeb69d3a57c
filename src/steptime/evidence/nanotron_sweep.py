"""The nanotron sweep in the schema of published runs."""

from __future__ import annotations

import functools
from typing import Any

from steptime.evidence.schema import PublishedRow, published_row
from steptime.evidence.text_table import text_rows
from steptime.inputs.datafiles import data_path

VOCAB_SIZE = 131_072
PREFIX = "sweep-"


def _row(line: int, cells: dict[str, str]) -> PublishedRow:
    tp, dp = int(cells["tp"]), int(cells["dp"])
    known: dict[str, Any] = {
        "id": f"{PREFIX}{line:04d}",
        "source": "tazi2025",
        "location": f"nanotron2025.csv line {line}",
        "layout_status": "full",
        "model": f"Llama-like {cells['model']}",
        "layers": int(cells["layers"]),
        "hidden": int(cells["hidden"]),
        "heads": int(cells["heads"]),
        "kv_heads": int(cells["heads"]),
        "ffn": int(cells["ffn"]),
        "gated_mlp": "y",
        "tied": cells["tied"],
        "vocab": VOCAB_SIZE,
        "seq_len": int(cells["seq"]),
        "gpu": "H100-80GB SXM",
        "gpus": int(cells["gpus"]),
        "tp": tp,
        "pp": int(cells["pp"]),
        "vpp": 1,
        "cp": 1,
        "dp": dp,
        "sp": "y" if tp > 1 else "n",
        "zero": cells["zero"] if dp > 1 else "0",
        "mbs": int(cells["mbs"]),
        "gbs": int(cells["gbs"]),
        "num_microbatches": int(cells["grad_acc"]),
        "recompute": "none",
        "precision": "bf16",
        "tokens_per_s_per_gpu": float(cells["tok_s_gpu"]),
        "mem_gb": float(cells["mem_gb"]),
        "flop_convention": "model-full-nanotron",
        "schedule": "1F1B",
    }
    return published_row(known)


@functools.cache
def nanotron_sweep() -> tuple[PublishedRow, ...]:
    """Return the sweep's rows, those whose batch does not multiply up left out.

    The source's table gives layers, width, heads and the product of the layout; vocabulary,
    device, precision and the absence of recomputation are read in its text. Tensor
    parallelism goes with sequence parallelism there. A reading is of the first rank.
    """
    rows = text_rows(data_path("sweeps/nanotron2025.csv"))
    return tuple(_row(line, cells) for line, cells in rows if cells["consistent"] == "y")
