"""Step times in which every group uses the link that its ranks really cross."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from steptime.formulas.baseline import (
    compute_s,
    context_parallel_s,
    data_parallel_s,
    expert_parallel_s,
    num_microbatches,
    pipeline_sends_s,
    tensor_parallel_s,
)
from steptime.formulas.bubble import bubble_overhead
from steptime.formulas.number import Number
from steptime.formulas.placement import link_bytes_per_s
from steptime.inputs.job import Job


def on_link(job: Job, bytes_per_s: Number) -> Job:
    """Return the record of a job for which both links have one bandwidth."""
    return replace(job, nvlink_bytes_per_s=bytes_per_s, network_bytes_per_s=bytes_per_s)


def placed_baseline(job: Job, constants: Any, data_inside: Number = 1.0) -> dict[str, Number]:
    """Return the parts of a step, as `baseline_step` does, with the links of the placement.

    The baseline sends all tensor-parallel traffic over NVLink and all the rest over the
    network, whatever the hardware. Here a kind of group gets NVLink if all its groups fit in
    one domain, and the network otherwise.

    Args:
        job: The flat record, of floats or of arrays.
        constants: ``eta`` and ``latency_s``.
        data_inside: 1 for Megatron-LM's order, 0 for Llama 3's: see `group_spans`.
    """
    rates = link_bytes_per_s(job, data_inside)
    compute = compute_s(job, constants)
    tensor = tensor_parallel_s(on_link(job, rates["tensor"]), constants)
    context = context_parallel_s(on_link(job, rates["context"]), constants)
    expert = expert_parallel_s(on_link(job, rates["expert"]), constants)
    overhead = bubble_overhead(job.pp, num_microbatches(job), job.vpp)
    return {
        "compute": compute,
        "tensor_parallel": tensor,
        "context_parallel": context,
        "expert_parallel": expert,
        "bubble": (compute + tensor + context + expert) * overhead,
        "pipeline_sends": pipeline_sends_s(on_link(job, rates["pipeline"]), constants),
        "data_parallel": data_parallel_s(on_link(job, rates["data"]), constants),
    }
