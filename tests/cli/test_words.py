"""A word in a table of runs that nobody knows is named on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

BASE = {
    "id": "r1",
    "model": "llama3-8b",
    "seq_len": "8192",
    "gpu": "H100-80GB SXM",
    "gpus": "16",
    "tp": "2",
    "pp": "1",
    "vpp": "1",
    "cp": "1",
    "dp": "8",
    "sp": "y",
    "zero": "1",
    "mbs": "1",
    "gbs": "128",
    "recompute": "none",
    "precision": "bf16",
    "step_time_s": "5.5",
    "mem_gb": "40",
    "network": "400 Gb/s per GPU",
}


def test_validate_names_what_it_did_not_understand(
    steptime: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    cells = BASE | {"software": "gloss", "zero": "ish"}
    path = tmp_path / "runs.csv"
    path.write_text(",".join(cells) + "\n" + ",".join(cells.values()) + "\n", encoding="utf-8")
    status, out, _ = steptime("validate", str(path), "--predictor", "roofline", "--json")
    answer = json.loads(out)
    found = {one["column"]: one["word"] for one in answer["not_understood"]}
    assert (status, found) == (0, {"software": "gloss", "zero": "ish"})
    _, out, _ = steptime("validate", str(path), "--predictor", "roofline")
    words = " ".join(out.split())
    assert "r1: software: 'gloss' not understood, what is usual assumed" in words
    assert any(told.startswith("stack: usual") for told in answer["rows"][0]["assumed"])
    assert "r1: zero: 'ish' not understood, 0 assumed" in words
    assert "not stated" not in words
    _, out, _ = steptime("validate-memory", str(path))
    assert "zero: 'ish' not understood" in " ".join(out.split())
