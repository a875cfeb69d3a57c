"""Every run of §17 as plain values: what the chart on the accuracy page is drawn from.

The notebook of §17 hands them over in its output, so that the website need not leave
each source out again.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from typing import Any

from steptime.book.study.roofline import RooflineStudy
from steptime.book.tables.sources import source_name
from steptime.evidence.leave_out import LeftOut
from steptime.evidence.residuals import KINDS, causes
from steptime.evidence.rivals import (
    alike,
    baseline_errors,
    baseline_parts,
    constant_share_errors,
    llm_analysis_errors,
)
from steptime.evidence.samples import Sample
from steptime.inputs.datafiles import data_path

MIME = "application/vnd.steptime.accuracy+json"
MODELS = ("roofline", "baseline", "share", "llm-analysis")
"""The roofline model and one share of the peak leave each source out; the baseline has one
constant, from the smallest run; llm-analysis takes half of the peak."""
_RECOMPUTE = {
    "none": "no recomputation",
    "selective": "selective recomputation",
    "full": "full recomputation",
}


def accuracy_points(result: LeftOut) -> dict[str, Any]:
    """Return the runs, their predictions and where the time goes, ready for JSON.

    Args:
        result: Left-out errors and parts.
    """
    runs = result.runs
    errors = {
        "roofline": result.errors,
        "baseline": baseline_errors(runs),
        "share": constant_share_errors(runs, alike),
        "llm-analysis": llm_analysis_errors(runs),
    }
    parts: dict[str, Mapping[str, Any]] = {
        "roofline": result.parts,
        "baseline": baseline_parts(runs),
    }
    known = causes()
    found = []
    for at, sample in enumerate(runs.samples):
        found.append(
            {
                **_described(sample),
                "errors": {name: _rounded(values[at]) for name, values in errors.items()},
                "shares": {
                    name: _shares(values, at)
                    for name, values in parts.items()
                    if not math.isnan(errors[name][at])
                },
                "cause": known.get(sample.id, ""),
            }
        )
    return {
        "kinds": list(KINDS),
        "parts": {name: list(values) for name, values in parts.items()},
        "sources": _sources(runs.samples),
        "runs": found,
    }


def _rounded(error: float) -> float | None:
    return None if math.isnan(error) else round(float(error), 5)


def _shares(parts: Mapping[str, Any], at: int) -> list[float]:
    seconds = [float(values[at]) for values in parts.values()]
    return [round(one / math.fsum(seconds), 4) for one in seconds]


def _described(sample: Sample) -> dict[str, Any]:
    """Return what a run is, in words and numbers."""
    run = sample.inputs.run
    return {
        "id": sample.id,
        "model": run.model.name.split(" (")[0],
        "kind": KINDS.index(sample.kind),
        "accelerator": run.accelerator.name,
        "gpus": run.layout.num_devices,
        "layout": layout_text(sample),
        "batch": batch_text(sample),
        "source": sample.source,
        "key": run.row.source,
        "place": run.row.location,
        "published_s": float(f"{sample.step_time_s:.5g}"),
        "assumed": [str(one) for one in sample.inputs.assumed],
        "software": sample.inputs.software.stack.name,
    }


def layout_text(sample: Sample) -> str:
    """Return how a run was cut, such as ``TP 8 × PP 12 × DP 16, 4 chunks a stage``.

    Args:
        sample: The run.
    """
    layout = sample.inputs.run.layout
    sizes = (("TP", layout.tp), ("CP", layout.cp), ("PP", layout.pp), ("DP", layout.dp))
    said = [" × ".join(f"{name} {size}" for name, size in sizes if size > 1) or "one GPU"]
    if layout.ep > 1:
        said.append(f"EP {layout.ep}")
    if layout.vpp > 1:
        said.append(f"{layout.vpp} chunks a stage")
    if layout.zero_stage:
        said.append(f"ZeRO {layout.zero_stage}")
    return ", ".join(said)


def batch_text(sample: Sample) -> str:
    """Return what a step of a run works on, and how.

    Args:
        sample: The run.
    """
    run = sample.inputs.run
    batch = run.batch
    return (
        f"{batch.global_batch_size:,} sequences of {batch.seq_length:,} tokens, "
        f"micro-batch {batch.micro_batch_size}, {_RECOMPUTE[run.layout.recompute]}, "
        f"{run.layout.precision}"
    )


def _sources(samples: tuple[Sample, ...]) -> dict[str, dict[str, Any]]:
    """Return each source's name, and the titles and places its rows come from."""
    with data_path("sources.csv").open(encoding="utf-8", newline="") as file:
        works = {row["key"]: row for row in csv.DictReader(file)}
    found: dict[str, dict[str, Any]] = {}
    for sample in samples:
        key = sample.inputs.run.row.source
        one = found.setdefault(sample.source, {"name": source_name(sample.source), "works": {}})
        one["works"][key] = {"title": works[key]["title"], "where": works[key]["where"]}
    return found


def hand_over(study: RooflineStudy) -> None:
    """Leave the runs in the output of the running cell, for the website to read.

    Args:
        study: Left-out errors.
    """
    from IPython.display import display

    display({MIME: accuracy_points(study.result)}, raw=True)  # type: ignore[no-untyped-call]
