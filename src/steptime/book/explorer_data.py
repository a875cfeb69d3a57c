"""All that the layout explorer knows beside the formulas: presets, constants, error bands."""

from __future__ import annotations

import functools
from dataclasses import asdict
from typing import Any

from steptime.answer.known import doubtful_share, peak_knowledge
from steptime.answer.peak import OUTLOOKS
from steptime.answer.predictor import PREDICTORS
from steptime.answer.width import KEYS, KINDS, kept_peak_width, kept_width, widened
from steptime.book.explorer_facts import (
    common_facts,
    device_facts,
    experts_facts,
    held_facts,
    model_facts,
    narrow_facts,
    precision_entries,
    trained_facts,
)
from steptime.book.explorer_runs import published_layouts
from steptime.book.explorer_state import FIELD_KEYS, SIZE_KEYS
from steptime.book.references import with_names
from steptime.evidence.baseline import chapter_rows
from steptime.evidence.intervals import COVERAGE
from steptime.evidence.memory_rows import memory_rows, memory_summary
from steptime.evidence.schema import published_rows
from steptime.evidence.validate import baseline_validation
from steptime.formulas.memory.total import PARTS
from steptime.formulas.records import Width
from steptime.inputs.accelerator import Accelerator
from steptime.inputs.baseline_constants import baseline_constants
from steptime.inputs.constants import SHARED, published_constants
from steptime.inputs.datafiles import data_table
from steptime.inputs.generation import USUAL_16_BITS, generations
from steptime.inputs.job import JOB_FIELDS, job
from steptime.inputs.layout import RULES, SCHEDULES, Batch, Layout
from steptime.inputs.model import ModelShape
from steptime.inputs.precision import NO_BLOCKS, NO_EIGHT_BITS, precisions
from steptime.inputs.presets import accelerator, accelerator_names, model, model_names
from steptime.inputs.said import KNOWLEDGE, NOTHING, NOTHING_SAID
from steptime.inputs.schedule_faults import INSTEAD, SCHEDULE_FAULTS
from steptime.inputs.stack import HIDING
from steptime.pipeline.build import fixed_chunks
from steptime.pipeline.schedules import SCHEDULES as PIPELINES
from steptime.pipeline.schedules import Schedule

CHAPTER_MODELS = ("gpt3-175b", "megatron-1008b", "llama3-405b")
_DEVICE_FIELDS = (
    *("peak_flop_per_s", "peak_fp8_flop_per_s", "peak_fp4_flop_per_s"),
    *("matmul_flop_per_s", "matmul_fp8_flop_per_s", "matmul_fp4_flop_per_s"),
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


def blocks(device: Accelerator) -> bool:
    """Return whether a device multiplies formats scaled in blocks, as far as is known.

    Args:
        device: The accelerator.
    """
    generation = generations().get(device.generation)
    return generation is None or generation.block_formats


def sixteen_bits(device: Accelerator) -> str:
    """Return the 16-bit format that a device multiplies, as far as is known.

    Args:
        device: The accelerator.
    """
    generation = generations().get(device.generation)
    return USUAL_16_BITS if generation is None else generation.sixteen_bits


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
                "trained": trained_facts(shape, device),
                "published": published.get(key),
            }
        )
    return entries


def efficiencies(device: Accelerator) -> dict[str, Any]:
    """Return a device's share of the measured matrix rate by the bits of its products.

    Args:
        device: The accelerator; one of no known generation has no share.
    """
    known = device.generation in generations()
    return {
        str(one.bits): published_constants().of(device.generation, one.bits).efficiency
        for one in precisions().values()
        if known
    }


def doubtful_bases(device: Accelerator) -> dict[str, dict[str, float]]:
    """Return the base of intervals by bits and kind of run, where no run stands behind a share.

    Args:
        device: The accelerator; one of no known generation has none.
    """
    found = {}
    for one in precisions().values():
        share = None
        if device.generation in generations():
            share = doubtful_share(device, one.bits, published_constants())
        if share is not None:
            wider = {key: widened(width, share.doubt) for key, width in _kept_widths().items()}
            found[str(one.bits)] = {key: float(width.base) for key, width in wider.items()}
    return found


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
                "facts": device_facts(device, shape),
                "held": held_facts(device, shape),
                "experts": experts_facts(device, shape),
                "narrow": narrow_facts(device, shape),
                "efficiency": efficiencies(device),
                "bases": doubtful_bases(device),
                "blocks": blocks(device),
                "sixteen": sixteen_bits(device),
            }
        )
    return entries


def predictor_entries() -> list[dict[str, Any]]:
    """Return the models that the page can ask, as `steptime.answer.predictor` has them."""
    validation = baseline_validation(chapter_rows())
    widths = {key: asdict(one) for key, one in _kept_widths().items()}
    constants: dict[str, Any] = {
        "roofline": {name: getattr(published_constants(), name) for name in SHARED},
        "baseline": asdict(baseline_constants()),
    }
    return [
        {
            "key": name,
            "name": name.capitalize(),
            "function": one.parts.__name__,
            "total": one.total.__name__,
            "uses_software": one.uses_software,
            "sixteen_bits_only": one.sixteen_bits_only,
            "constants": constants[name],
            "widths": widths if one.uses_software else None,
            "mean": validation.summary.mean_abs_error_fraction,
            "rows": validation.summary.rows,
            "coverage": COVERAGE,
            "says": one.says,
        }
        for name, one in PREDICTORS.items()
        if not one.most_chunks
    ]


def _kept_widths() -> dict[str, Width]:
    """Return the width of the interval of each kind of run, for software that is assumed."""
    found = {KEYS[kind]: kept_width(kind, NOTHING) for kind in KINDS}
    return {key: one for key, one in found.items() if one is not None}


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


@functools.cache
def explorer_data() -> dict[str, Any]:
    """Return what the page loads, ready to be JSON; nobody may change it."""
    shape, device = model(CHAPTER_MODELS[0]), accelerator(accelerator_names()[0])
    # A model and a device are always known: the blank record has what neither says.
    said = {*_MODEL_FIELDS, *_DEVICE_FIELDS}
    blank = {name: value for name, value in flat(shape, device).items() if name not in said}
    return {
        "models": model_entries(),
        "accelerators": accelerator_entries(),
        "blank_job": blank,
        "schedules": schedule_entries(),
        "software": common_facts(device, shape),
        "hiding": HIDING,
        "precisions": precision_entries(),
        "fields": FIELD_KEYS,
        "sizes": SIZE_KEYS,
        "faults": [[rule.field, rule.sentence] for rule in RULES],
        "schedule_faults": [
            [*one, near] for one, near in zip(SCHEDULE_FAULTS, INSTEAD, strict=True)
        ],
        "device_fault": DEVICE_FAULT,
        "precision_faults": {"eight": NO_EIGHT_BITS, "blocks": NO_BLOCKS},
        "step_models": predictor_entries(),
        "memory": {"parts": list(PARTS), **memory_error(), **peak_data()},
    }


def peak_data() -> dict[str, Any]:
    """Return how measured peaks lie about predicted ones, and of which models more is known."""
    widths = {level: kept_peak_width(level) for level in KNOWLEDGE}
    return {
        "widths": {level: width and asdict(width) for level, width in widths.items()},
        "levels": {
            name: peak_knowledge(NOTHING_SAID, model(name))
            for name in model_names()
            if model(name).trained_with
        },
        "outlooks": OUTLOOKS,
    }


DEVICE_FAULT = (
    "{gpus} cannot be cut into t x c x p = {tp} x {cp} x {pp}; the nearest that can is {nearest}"
)
