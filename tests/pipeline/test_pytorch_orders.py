"""Orders against those of torch.distributed.pipelining, and their makespan and peak."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steptime.inputs.errors import ConfigError
from steptime.pipeline.build import build_orders
from steptime.pipeline.report import report
from steptime.pipeline.timeline import Timeline, Work, simulate, simulate_orders

NAMES = {
    "GPipe": "gpipe",
    "1F1B/_get_1f1b_rank_ops": "1f1b",
    "Interleaved1F1B": "interleaved-1f1b",
    "LoopedBFS": "looped-bfs",
    "InterleavedZeroBubble": "interleaved-zb",
    "ZBVZeroBubble": "zb-v",
    "DualPipeV": "dualpipe-v",
}
DATA = Path(__file__).parents[2] / "data" / "pipeline_orders.json"
RECORDS = json.loads(DATA.read_text(encoding="utf-8"))["records"]


def run_at(name: str, p: int, m: int, v: int) -> Timeline:
    """Return the timeline; PyTorch's one rank of several chunks is no pipeline here."""
    if p > 1 or v == 1:
        return simulate(name, p, m, v, Work(pairs_apart=True))
    with pytest.raises(ConfigError, match="stages=1 is not cut into chunks"):
        simulate(name, p, m, v)
    return simulate_orders(name, build_orders(name, p, m, v), v, m, Work(pairs_apart=True))


# ---- published


@pytest.mark.parametrize("title", NAMES)
def test_orders_are_pytorchs(title: str) -> None:
    records: list[dict[str, Any]] = [r for r in RECORDS if r["schedule"] == title]
    assert len(records) >= 9
    for record in records:
        sizes = (record["p"], record["m"], record["v"])
        numbers = report(run_at(NAMES[title], *sizes))
        assert numbers["ranks"] == record["ranks"], sizes
        assert numbers["makespan"] == record["makespan_F1_B2"], sizes
        assert numbers["peak_in_flight"] == record["peak_stored_microbatch_stages"], sizes
        # Printed to six decimals.
        assert numbers["bubble_overhead"] == pytest.approx(
            record["bubble_over_ideal"], rel=0, abs=5.01e-7
        ), sizes
