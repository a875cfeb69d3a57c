"""A published layout for each model preset that somebody has run and told of."""

from __future__ import annotations

from typing import Any

from steptime.evidence.memory_rows import with_sequence_parallel
from steptime.evidence.runs import Incomplete, Run, run_of
from steptime.evidence.schema import published_rows
from steptime.inputs.errors import ConfigError
from steptime.inputs.model import ModelShape
from steptime.inputs.presets import accelerator_names, model, model_names


def _shape(shape: ModelShape) -> tuple[int, ...]:
    experts = shape.experts.num_experts if shape.experts else 0
    return (shape.num_layers, shape.hidden_size, shape.num_attention_heads, experts)


def _usable(run: Run) -> bool:
    """Whether the page can show a run: 16 bits, one rank an expert, and nothing refused."""
    if run.layout.precision not in ("bf16", "fp16") or run.layout.etp != 1:
        return False
    try:
        run.job()
    except ConfigError:
        return False
    return run.accelerator.name in accelerator_names()


def _rank(run: Run) -> tuple[bool, bool]:
    """Order runs of one model: what is fully told first, ZeRO-3 of 2021 last."""
    return (run.layout.zero_stage == 3, not run.micro_batch_stated)


def as_state(run: Run) -> dict[str, Any]:
    """Return a run as the choices of the page.

    Args:
        run: A published run.
    """
    layout, batch = run.layout, run.batch
    return {
        "gpu": run.accelerator.name,
        "n": layout.num_devices,
        "tp": layout.tp,
        "pp": layout.pp,
        "cp": layout.cp,
        "ep": layout.ep,
        "vpp": layout.vpp,
        "zero": layout.zero_stage,
        "recompute": layout.recompute,
        "seq": batch.seq_length,
        "batch": batch.global_batch_size,
        "mb": batch.micro_batch_size,
        "sp": int(layout.sequence_parallel),
        "schedule": "interleaved-1f1b" if layout.vpp > 1 else "1f1b",
        "precision": "bf16",
        "domain": 0,
    }


def published_layouts() -> dict[str, dict[str, Any]]:
    """Return for each preset with a published run the ``state`` of one and its ``id``."""
    presets = {_shape(model(name)): name for name in model_names()}
    best: dict[str, Run] = {}
    for row in published_rows():
        try:
            run = with_sequence_parallel(run_of(row))
        except Incomplete:
            continue
        name = presets.get(_shape(run.model))
        if name is None or not _usable(run):
            continue
        if name not in best or _rank(run) < _rank(best[name]):
            best[name] = run
    return {name: {"id": run.id, "state": as_state(run)} for name, run in best.items()}
