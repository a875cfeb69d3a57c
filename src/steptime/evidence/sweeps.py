"""Sweeps and figures of published sources, as rows of the same schema as all other runs."""

from __future__ import annotations

import functools
import math

from steptime.evidence.schema import PublishedRow, published_row, published_rows
from steptime.evidence.text_table import text_rows
from steptime.inputs.datafiles import data_path

PLAYBOOK_VOCABULARY = 131072
MEGATRON_VOCABULARY = 51200


def playbook_rows() -> list[PublishedRow]:
    """Return the rows of the Ultra-Scale Playbook's sweep whose sizes multiply up.

    Tokens per second are used, not the printed utilisation: it counts tied embeddings twice.

    References:
        tazi2025, benchmark data.
    """
    return [
        playbook_row(line, cells)
        for line, cells in text_rows(data_path("sweeps/nanotron2025.csv"))
        if cells["consistent"] == "y"
    ]


def playbook_row(line: int, cells: dict[str, str]) -> PublishedRow:
    """Return one row of the Ultra-Scale Playbook's sweep in the schema of all runs.

    Args:
        line: It stands on.
        cells: By the sweep's own columns.
    """
    copied = ("layers", "hidden", "heads", "ffn", "gpus", "tp", "pp", "dp", "zero", "mbs", "gbs")
    return published_row(
        {name: cells[name] for name in copied}
        | {
            "id": f"playbook-{line:04d}",
            "source": "tazi2025",
            "location": "sweep",
            "model": f"Llama-like {cells['model']}",
            "kv_heads": cells["heads"],
            "gated_mlp": "y",
            "tied": cells["tied"],
            "vocab": PLAYBOOK_VOCABULARY,
            "seq_len": cells["seq"],
            "gpu": "H100-80GB SXM",
            "vpp": 1,
            "cp": 1,
            "sp": "y" if int(cells["tp"]) > 1 else "n",
            "recompute": "none",
            "precision": "bf16",
            "tokens_per_s_per_gpu": cells["tok_s_gpu"],
            "mem_gb": cells["mem_gb"],
            "network": "unstated",
            "schedule": "1F1B",
        }
    )


def _mean(text: str) -> float:
    ends = [float(part) for part in text.split("-")]
    return math.fsum(ends) / len(ends)


def figure_rows() -> list[PublishedRow]:
    """Return the points read off Figures 11 to 18 of the Megatron-LM paper, some 4 TFLOP/s exact.

    References:
        narayanan2021, Figs. 11-18.
    """
    place = data_path("sweeps/narayanan2021_figures_digitised.csv")
    return [figure_row(line, cells) for line, cells in text_rows(place)]


def figure_row(line: int, cells: dict[str, str]) -> PublishedRow:
    """Return one point read off a figure in the schema of all runs.

    Args:
        line: It stands on.
        cells: By the table's own columns.
    """
    copied = ("layers", "hidden", "heads", "gpus", "tp", "pp", "vpp", "dp", "mbs", "gbs")
    value = _mean(cells["value"])
    rate = cells["unit"].startswith("TFLOP")
    return published_row(
        {name: cells[name] for name in copied}
        | {
            "id": f"nar21-fig{cells['figure']}-{line:03d}",
            "source": "narayanan2021",
            "location": f"Fig. {cells['figure']}, read off",
            "model": f"GPT {cells['model']}",
            "kv_heads": cells["heads"],
            "ffn": 4 * int(cells["hidden"]),
            "gated_mlp": "n",
            "vocab": MEGATRON_VOCABULARY,
            "seq_len": cells["seq"],
            "gpu": "A100-80GB SXM",
            "cp": 1,
            "sp": "n",
            "zero": "0",
            "recompute": cells["recompute"],
            "precision": "fp16",
            "tflops_per_gpu": f"{value}" if rate else "",
            "step_time_s": "" if rate else f"{float(cells['gbs']) / value}",
            "flop_convention": "hardware-full",
            "network": "8 x HDR",
            "schedule": "1F1B" if cells["vpp"] == "1" else "interleaved-1F1B",
        }
    )


# What the sweep calls fused is a softmax kernel: scores are stored.
_HAGEMANN_KERNELS = {"fused": "megatron kernel", "torch": "torch"}


@functools.cache
def _hagemann_models() -> dict[str, PublishedRow]:
    """Return one run of each model of the sweep that stands in the main table with its shape."""
    rows = [row for row in published_rows() if row.source == "hagemann2023"]
    return {row.model.removeprefix("LLaMA-"): row for row in rows}


def hagemann_rows() -> list[PublishedRow]:
    """Return every layout that Hagemann et al. tried and that ran, the reported ones among them.

    References:
        hagemann2023, the sheets of its repository.
    """
    place = data_path("sweeps/hagemann2023.csv")
    return [hagemann_row(line, cells) for line, cells in text_rows(place)]


def hagemann_row(line: int, cells: dict[str, str]) -> PublishedRow:
    """Return one layout of Hagemann et al. in the schema of all runs.

    Args:
        line: It stands on.
        cells: By the sheets' own columns.
    """
    copied = ("gpus", "tp", "pp", "dp", "mbs", "gbs")
    known = _hagemann_models()[cells["model"]]
    shape = ("model", "layers", "hidden", "heads", "kv_heads", "ffn", "gated_mlp", "vocab")
    return published_row(
        {name: cells[name] for name in copied}
        | {name: getattr(known, name) for name in shape}
        | {
            "id": f"hagemann-sweep-{line:04d}",
            "source": "hagemann2023",
            "location": f"{cells['file']} trial {cells['trial']}",
            "seq_len": cells["seq"],
            "gpu": known.gpu,
            "vpp": 1,
            "cp": 1,
            "sp": "y" if cells["sp"] == "1" else "n",
            "zero": known.zero,
            "recompute": "none" if cells["ckpt"] == "disabled" else "full",
            "precision": known.precision,
            "step_time_s": cells["step"],
            "network": "dgx-a100-hdr",
            "schedule": "1F1B",
            "date": known.date,
            "attention_kernel": _HAGEMANN_KERNELS.get(cells["kernel"], cells["kernel"]),
        }
    )
