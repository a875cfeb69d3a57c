"""All that the layout explorer knows beside the formulas: presets, constants, error bands."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from steptime.book.explorer_runs import published_layouts
from steptime.book.references import with_names
from steptime.evidence.baseline import chapter_rows
from steptime.evidence.intervals import COVERAGE, width_of
from steptime.evidence.memory_rows import memory_rows, memory_summary
from steptime.evidence.residuals import DENSE, EXPERTS, NARROW, residuals
from steptime.evidence.schema import published_rows
from steptime.evidence.validate import baseline_validation
from steptime.formulas.memory.total import PARTS
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.baseline_constants import baseline_constants
from steptime.inputs.constants import roofline_constants
from steptime.inputs.datafiles import data_table
from steptime.inputs.job import JOB_FIELDS, job
from steptime.inputs.layout import FAULTS, SCHEDULES, Batch, Layout
from steptime.inputs.memory_facts import memory_facts
from steptime.inputs.model import ModelShape
from steptime.inputs.presets import accelerator, accelerator_names, model, model_names
from steptime.inputs.stack import default_stack, layout_changes, stack_facts, stack_named
from steptime.inputs.training_step import NO_EIGHT_BITS, SCHEDULE_FAULTS
from steptime.pipeline.build import fixed_chunks
from steptime.pipeline.schedules import SCHEDULES as PIPELINES
from steptime.pipeline.schedules import Schedule

CHAPTER_MODELS = ("gpt3-175b", "megatron-1008b", "llama3-405b")
_DEVICE_FIELDS = (
    *("peak_flop_per_s", "peak_fp8_flop_per_s", "matmul_flop_per_s", "matmul_fp8_flop_per_s"),
    *("hbm_bytes", "hbm_bytes_per_s", "nvlink_bytes_per_s", "nvlink_domain"),
    *("network_bytes_per_s", "num_sms"),
)
TWICE = " Weights are held twice."
_MODEL_FIELDS = JOB_FIELDS[: JOB_FIELDS.index("seq_length")]


def flat(shape: ModelShape, device: Accelerator) -> dict[str, float]:
    """Return the flat record of a model on one device with nothing cut.

    Args:
        shape: The model.
        device: The accelerator.
    """
    record = job(shape, device, Layout(), Batch(global_batch_size=1, seq_length=1))
    return {name: float(getattr(record, name)) for name in JOB_FIELDS}


def model_entries() -> list[dict[str, Any]]:
    """Return every model preset: the chapter's three first, then dense ones, then experts."""
    device, published = accelerator(accelerator_names()[0]), published_layouts()
    entries = []
    for key in (*CHAPTER_MODELS, *(one for one in model_names() if one not in CHAPTER_MODELS)):
        shape = model(key)
        record = flat(shape, device)
        group = "experts" if shape.experts else "dense"
        entries.append(
            {
                "key": key,
                "name": shape.name,
                "group": "chapter" if key in CHAPTER_MODELS else group,
                "source": with_names(shape.source),
                "fields": {name: record[name] for name in _MODEL_FIELDS},
                "facts": model_facts(shape),
                "published": published.get(key),
            }
        )
    return entries


def accelerator_entries() -> list[dict[str, Any]]:
    """Return every accelerator preset with the numbers that formulas read."""
    table = data_table("accelerators.toml")
    shape = model(CHAPTER_MODELS[0])
    entries = []
    for key in accelerator_names():
        device = accelerator(key)
        record = flat(shape, device)
        entries.append(
            {
                "key": key,
                "name": str(table[key].get("name", key)),
                "source": with_names(device.source),
                "fields": {name: record[name] for name in _DEVICE_FIELDS},
                "link": "ICI" if device.generation == "tpu" else "NVLink",
                "stacks": stacks_of(device),
            }
        )
    return entries


def baseline_entry() -> dict[str, Any]:
    """Return the baseline model: its constants and how far published runs were from it.

    ``low`` and ``high`` times a predicted step are the fastest and slowest of the published
    runs it was compared with, none of them used to fit.
    """
    constants = baseline_constants()
    validation = baseline_validation(chapter_rows())
    errors = [row.error_fraction for row in validation.rows if not row.fitted]
    return {
        "key": "baseline",
        "name": "Baseline",
        "function": "baseline_step",
        "total": "step_s",
        "records": [{"eta": constants.eta, "latency_s": constants.latency_s}],
        "sixteen_bits_only": True,
        "low": 1.0 + min(errors),
        "high": 1.0 + max(errors),
        "mean": validation.summary.mean_abs_error_fraction,
        "rows": validation.summary.rows,
        "says": "one fitted constant, nothing overlaps",
    }


def roofline_entry() -> dict[str, Any]:
    """Return the roofline model: its constants, and the widths of its intervals by kind.

    A width is in ln(step time), for software that is assumed: about ``middle``, ``factor`` times
    ``base`` plus ``slope`` times the share of the step that is no computing.
    """
    widths = {}
    for name, kind in (("dense", DENSE), ("eight_bits", NARROW), ("experts", EXPERTS)):
        found = width_of(residuals(), kind, assumed=True)
        if found is not None:
            widths[name] = asdict(found)
    return {
        "key": "roofline",
        "name": "Roofline",
        "function": "roofline_step",
        "total": "roofline_step_s",
        "records": ["stack", asdict(roofline_constants())],
        "sixteen_bits_only": False,
        "widths": widths,
        "coverage": COVERAGE,
        "says": "each product and message by its size and its link",
    }


def _usual_stacks(device: Accelerator) -> list[str]:
    """Return the software that is assumed on a device, without ZeRO-3 and with it."""
    return [name for stage in (0.0, 3.0) if (name := default_stack(device, stage))]


def stacks_of(device: Accelerator) -> list[dict[str, float]]:
    """Return what the assumed software differs in on a device from `common_stacks`.

    Args:
        device: The accelerator; one that the roofline model knows nothing of has no software.
    """
    found = []
    for name, common in zip(_usual_stacks(device), common_stacks(), strict=False):
        facts = asdict(stack_facts(stack_named(name), device))
        found.append({key: value for key, value in facts.items() if value != common[key]})
    return found


def common_stacks() -> list[dict[str, float]]:
    """Return the facts of the usual software, without ZeRO-3 and with it, on one device."""
    device = accelerator(accelerator_names()[0])
    return [asdict(stack_facts(stack_named(name), device)) for name in _usual_stacks(device)]


def model_facts(shape: ModelShape) -> dict[str, float]:
    """Return the facts of the software that follow from a model, whatever its layout.

    Args:
        shape: The model.
    """
    changes = layout_changes(shape, Layout())
    return {name: value for name, value in changes.items() if value and name != "edges_count"}


def _twice(schedule: Schedule) -> bool:
    return schedule.copies > 1


def schedule_entries() -> list[dict[str, Any]]:
    """Return every schedule in the order of its code: name, title, idea, fixed chunks or 0."""
    return [
        {
            "key": name,
            "title": PIPELINES[name].title,
            "idea": PIPELINES[name].idea + (TWICE if _twice(PIPELINES[name]) else ""),
            "chunks": fixed_chunks(name),
        }
        for name in SCHEDULES
    ]


def memory_error() -> dict[str, Any]:
    """Return how many published peaks the memory model was compared with, and its mean error."""
    rows, _ = memory_rows(published_rows())
    found = memory_summary(rows)
    return {"rows": found.rows, "mean": found.mean_fraction} if found else {"rows": 0, "mean": 0.0}


def explorer_data() -> dict[str, Any]:
    """Return what the page loads, ready to be JSON."""
    shape, device = model(CHAPTER_MODELS[0]), accelerator(accelerator_names()[0])
    blank = dict.fromkeys(JOB_FIELDS, 0.0)
    return {
        "models": model_entries(),
        "accelerators": accelerator_entries(),
        "blank_job": {**blank, **flat(shape, device)},
        "blank_model": {name: blank[name] for name in _MODEL_FIELDS},
        "schedules": schedule_entries(),
        "stacks": common_stacks(),
        "faults": [list(one) for one in FAULTS],
        "schedule_faults": [list(one) for one in SCHEDULE_FAULTS],
        "device_fault": DEVICE_FAULT,
        "precision_fault": NO_EIGHT_BITS,
        "step_models": [baseline_entry(), roofline_entry()],
        "memory": {
            "stacks": {name: asdict(memory_facts(name)) for name in ("megatron", "fsdp")},
            "parts": list(PARTS),
            **memory_error(),
        },
    }


DEVICE_FAULT = (
    "{n} GPUs do not divide into t x c x p = {tp} x {cp} x {pp}; the nearest that do are {nearest}"
)
