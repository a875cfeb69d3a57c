"""Write the page of own runs: its prose, and what each of its commands prints."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from steptime.answer import predict
from steptime.book.results.notebooks import ROOT
from steptime.evidence.trace_beside import predicted_parts

SOURCE = ROOT / "book" / "your-run.md"
GAP_S = 0.3
"""What the made-up trace waits for its data loader, as the page says."""
COLUMNS = "78"
"""What the text column of a page has room for."""
DRAWING = "your-run.svg"
"""What one of the page's commands writes."""
STEP_S = 21.0
"""What a step of the made-up log takes, as the page says."""

_COMMAND = re.compile(r"```console\n\$ (steptime [^`]+)```")
_KERNELS = {
    "products": "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT",
    "attention": "flash_fwd_kernel",
    "elementwise": "vectorized_elementwise_kernel",
    "optimizer": "multi_tensor_apply_kernel",
    "tensor_parallel": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
}


def page() -> str:
    """Return the page: each command is followed by what it prints, run in the repository."""
    text = SOURCE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        made = {"made.json": Path(folder) / "made.json", "made.log": Path(folder) / "made.log"}
        made[DRAWING] = Path(folder) / DRAWING
        made["made.json"].write_text(json.dumps(made_trace(GAP_S)), encoding="utf-8")
        made["made.log"].write_text(made_log(STEP_S), encoding="utf-8")
        return _COMMAND.sub(lambda hit: _ran(hit[1], made), text)


def write_drawing(web: Path) -> None:
    """Write the drawing that the page shows: its own command, run again.

    Args:
        web: Folder that becomes part of the site's root.
    """
    text = SOURCE.read_text(encoding="utf-8")
    command = next(hit[1] for hit in _COMMAND.finditer(text) if DRAWING in hit[1])
    _ran(command, {DRAWING: web / DRAWING})


def _ran(command: str, made: dict[str, Path]) -> str:
    words = shlex.split(command.replace("\\\n", " "))[1:]
    words = [str(made.get(word, word)) for word in words]
    known = {**os.environ, "COLUMNS": COLUMNS, "PYTHONUTF8": "1", "TERM": "dumb"}
    call = [sys.executable, "-m", "steptime", *words]
    done = subprocess.run(
        call, capture_output=True, encoding="utf-8", check=True, env=known, cwd=ROOT
    )
    return f"```console\n$ {command}{done.stdout.rstrip()}\n```"


def made_trace(gap_s: float, **software: Any) -> dict[str, Any]:
    """Return a made-up trace: four steps of Llama 3 8B as predicted, each with one more gap.

    Args:
        gap_s: Seconds in which nothing runs, at the end of each step.
        software: What is said of it, as ``predict`` takes it.
    """
    told = predict(
        model="llama3-8b",
        accelerator="h100",
        tp=2,
        seq_length=4096,
        global_batch_size=8,
        **software,
    )
    parts = {name: value for name, value in predicted_parts(told).items() if value}
    events: list[dict[str, Any]] = []
    at = 0.0
    for step in range(4):
        start = at
        for part, length_s in parts.items():
            events.append(_event("kernel", _KERNELS[part], at, length_s))
            if part == "tensor_parallel":
                events[-1]["args"] = {"Process Group Description": "mesh_tp"}
            at += length_s
        at += gap_s
        events.append(_event("gpu_user_annotation", f"ProfilerStep#{step}", start, at - start))
    return {"distributedInfo": {"rank": 0, "world_size": 2}, "traceEvents": events}


def _event(kind: str, name: str, start_s: float, length_s: float) -> dict[str, Any]:
    times = {"ts": start_s * 1e6, "dur": length_s * 1e6}
    return {"ph": "X", "cat": kind, "name": name, "pid": 0, "tid": 7, **times}


def made_log(step_s: float) -> str:
    """Return a made-up log of Megatron-LM, ten steps long.

    Args:
        step_s: Seconds of a step; the first takes twice as long.
    """
    lines = [
        f" iteration {step:8d}/{10:8d} | consumed samples: {1024 * step:12d} | "
        f"elapsed time per iteration (ms): {step_s * (2 if step == 1 else 1) * 1e3:.1f} |\n"
        for step in range(1, 11)
    ]
    return "".join(lines)
