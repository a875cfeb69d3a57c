"""Step times in which every group uses the link that its ranks really cross."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from steptime.formulas.baseline import (
    compute_s,
    context_parallel_s,
    data_parallel_s,
    expert_parallel_s,
    num_microbatches,
    pipeline_sends_s,
    schedule_overhead,
    tensor_parallel_s,
)
from steptime.formulas.layout_terms import ends_count_as_layers, sharding_rounds, stage_imbalance
from steptime.formulas.number import Number, ceil_div, maximum
from steptime.formulas.placement import link_bytes_per_s
from steptime.formulas.records import BaselineParts
from steptime.formulas.roofline import roofline_step
from steptime.inputs.job import Job
from steptime.inputs.stack import STACK_FIELDS

PACED = (
    "compute",
    "recompute",
    "tensor_parallel",
    "context_parallel",
    "expert_parallel",
    "bubble",
)
"""Parts of the roofline's step that grow with the layers of a chunk."""


def on_link(job: Job, bytes_per_s: Number) -> Job:
    """Return the record of a job for which both links have one bandwidth."""
    return replace(job, nvlink_bytes_per_s=bytes_per_s, network_bytes_per_s=bytes_per_s)


def placed_baseline(job: Job, constants: Any, data_inside: Number = 1.0) -> BaselineParts:
    """Return the parts of a step, as `baseline_step` does, for a layout on real hardware.

    The baseline sends all tensor-parallel traffic over NVLink and all the rest over the
    network, whatever the hardware. Here a kind of group gets NVLink if all its groups fit in
    one domain, and the network otherwise; the longest chunk sets the pace; ZeRO-2 and -3 pay
    for each micro-batch. Where none of that applies, the two agree to the last bit.

    Args:
        job: The flat record, of floats or of arrays.
        constants: ``eta`` and ``latency_s``.
        data_inside: 1 for Megatron-LM's order, 0 for Llama 3's: see `group_spans`.
    """
    rates = link_bytes_per_s(job, data_inside)
    pace = stage_imbalance(job)
    micro = num_microbatches(job)
    compute = compute_s(job, constants) * pace
    tensor = tensor_parallel_s(on_link(job, rates["tensor"]), constants) * pace
    context = context_parallel_s(on_link(job, rates["context"]), constants) * pace
    expert = expert_parallel_s(on_link(job, rates["expert"]), constants) * pace
    overhead = schedule_overhead(job)
    gradients = data_parallel_s(on_link(job, rates["data"]), constants)
    return {
        "compute": compute,
        "tensor_parallel": tensor,
        "context_parallel": context,
        "expert_parallel": expert,
        "bubble": (compute + tensor + context + expert) * overhead,
        "pipeline_sends": pipeline_sends_s(on_link(job, rates["pipeline"]), constants),
        "data_parallel": gradients * sharding_rounds(job, micro),
    }


def placed_roofline(job: Job, stack: Any, constants: Any) -> dict[str, Number]:
    """Return the parts of a step, as `roofline_step` does, with the longest chunk as the pace.

    The roofline model knows links, sharding, and stages of unlike length. Chunks of unlike
    length, which a search would use at no cost, are added here.

    Args:
        job: The flat record, of floats or of arrays.
        stack: Facts of the software; whether the ends count as layers follows from the job.
        constants: Of the roofline model.
    """
    facts = {name: getattr(stack, name) for name in STACK_FIELDS}
    facts["edges_count"] = ends_count_as_layers(job)
    parts = cast("dict[str, Number]", roofline_step(job, SimpleNamespace(**facts), constants))
    stages = ceil_div(job.num_layers, job.pp) * job.pp / job.num_layers
    longer = maximum(stage_imbalance(job) / stages, 1.0)
    for name in PACED:
        parts[name] = parts[name] * longer
    return parts
