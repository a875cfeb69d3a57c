"""`steptime validate-memory` on a user's own rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Call = Callable[..., tuple[int, str, str]]
HEAD = "id,source,model,gpu,gpus,tp,pp,mbs,gbs,seq_len,recompute,precision,zero,mem_gb\n"
CELLS = "llama3-8b,h100,16,2,1,1,128,8192,full,bf16,1"

# ---- invariant


def test_every_row_is_scored_or_has_a_reason(steptime: Call, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    rows = [
        f"a,one,{CELLS},40\n",
        f"b,two,{CELLS},50 GB\n",
        f"c,two,{CELLS},\n",
        f"d,two,{CELLS.replace('h100', 'MI210')},50\n",
        f"e,two,{CELLS},much\n",
    ]
    path.write_text(HEAD + "".join(rows))
    status, out, _ = steptime("validate-memory", str(path), "--json")
    answer = json.loads(out)
    assert status == 0
    assert [row["published_memory_gb"] for row in answer["rows"]] == [40.0, 50.0]
    reasons = {row["id"]: row["reason"] for row in answer["skipped"]}
    assert set(reasons) == {"c", "d", "e"}
    assert reasons["c"] == "mem_gb is not stated"
    assert "'much'" in reasons["e"]
    assert [one["source"] for one in answer["by_source"]] == ["one", "two"]
    errors = [row["error_fraction"] for row in answer["rows"]]
    assert [one["bias_fraction"] for one in answer["by_source"]] == pytest.approx(errors)


def test_sources_are_told_apart_in_print(steptime: Call, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(HEAD + f"a,one,{CELLS},40\nb,two,{CELLS},50\n")
    status, out, _ = steptime("validate-memory", str(path))
    assert status == 0
    assert "error by source" in out
