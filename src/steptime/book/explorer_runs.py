"""A published layout for each model preset that somebody has run and told of."""

from __future__ import annotations

from typing import Any

from steptime.answer import predict
from steptime.book.explorer_state import asked_of, state_of
from steptime.book.references import with_names
from steptime.evidence.measured import flop_convention
from steptime.evidence.row_device import measured
from steptime.evidence.row_question import RunQuestion, question_of_run
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.schema import published_rows
from steptime.inputs.datafiles import data_table
from steptime.inputs.model import ModelShape
from steptime.inputs.presets import accelerator_names, model, model_names
from steptime.inputs.schedule_name import with_one_chunk


def _shape(shape: ModelShape) -> tuple[int, ...]:
    experts = shape.experts.num_experts if shape.experts else 0
    return (shape.num_layers, shape.hidden_size, shape.num_attention_heads, experts)


def _usable(found: RunQuestion) -> bool:
    """Whether the page can show a run: 16 bits, and nothing refused.

    A source that counts recomputed work without saying what is recomputed tells no layout.
    """
    run = found.run
    if not run.row.recompute and flop_convention(run.row.flop_convention) == "hardware":
        return False
    if found.job.fp8:
        return False
    return run.accelerator.name in accelerator_names()


def _rank(found: RunQuestion, shape: ModelShape) -> tuple[bool, bool, bool]:
    """Order runs of one model: its makers' own first, then what is fully told; ZeRO-3 last."""
    makers = shape.source.partition(",")[0] == found.run.row.source
    return (found.step.layout.zero_stage == 3, not makers, not found.run.micro_batch_stated)


def as_state(found: RunQuestion) -> dict[str, Any]:
    """Return a run as the choices of the page.

    Args:
        found: A published run, as a question.
    """
    state, layout = state_of(found.step), found.step.layout
    # With one chunk some are others by another name.
    schedule = with_one_chunk(layout.schedule) if layout.vpp == 1 else layout.schedule
    return state | {"schedule": schedule, "precision": "bf16", "domain": 0}


def _fits(name: str, state: dict[str, Any]) -> bool:
    """Whether the page, which names no software, says that a run fits: it did run."""
    return predict(**{**asked_of(state), "model": name}).fits


def _presets_by_name() -> dict[str, str]:
    """Return each preset by its key and its aliases, in small letters."""
    table = data_table("models.toml")
    return {word.lower(): key for key in model_names() for word in (key, *table[key]["aliases"])}


def published_layouts() -> dict[str, dict[str, Any]]:
    """Return for each preset with a published run the ``state`` of one, its ``id`` and ``source``.

    The run must be of the model itself, by name and by size: one that only has its width and
    depth does not count. Nor does one that fits only with what its own software does, or ran on a
    device that nobody measured.
    """
    presets = _presets_by_name()
    best: dict[str, RunQuestion] = {}
    for row in filter(measured, published_rows()):
        try:
            found = question_of_run(run_of(row))
        except Incomplete:
            continue
        name = presets.get(row.model.split(" (")[0].lower())
        if name is None or _shape(found.step.model) != _shape(model(name)) or not _usable(found):
            continue
        shape = model(name)
        better = name not in best or _rank(found, shape) < _rank(best[name], shape)
        if better and _fits(name, as_state(found)):
            best[name] = found
    return {
        name: {
            "id": found.run.id,
            "source": with_names(found.run.row.source),
            "state": as_state(found),
        }
        for name, found in best.items()
    }
