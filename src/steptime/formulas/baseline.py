"""The baseline model of a training step: arithmetic with one fitted constant.

Nothing overlaps: the step is the sum of its parts. ``constants`` holds ``eta``, the share
of the peak that matrix products reach, and ``latency_s``, the cost of a message or ring
step beyond its bytes.
"""

from steptime.formulas.bubble import bubble_overhead
from steptime.formulas.collectives import (
    all_gather_s,
    all_reduce_s,
    all_to_all_s,
    permute_s,
)
from steptime.formulas.flops import hardware_flop_per_token, num_devices, tokens_per_step
from steptime.formulas.number import Number, maximum, where
from steptime.formulas.parameters import (
    num_expert_layers,
    routed_parameters,
    unrouted_parameters,
)
from steptime.formulas.schedule import bubble_share
from steptime.formulas.traffic import (
    activation_bytes,
    context_gathers_per_layer,
    gradient_bytes,
    key_value_bytes,
    pipeline_message_bytes,
    pipeline_messages_per_step,
    tensor_all_reduces_per_layer,
)


def num_microbatches(job: Number) -> Number:
    """Return the micro-batches of a step: ``B / (d b)``.

    Args:
        job: The flat record.
    """
    return job.global_batch_size / (job.dp * job.micro_batch_size)


def compute_s(job: Number, constants: Number) -> Number:
    """Return the time of all FLOP at the fitted share of the peak.

    Args:
        job: The flat record.
        constants: ``eta`` is used.
    """
    flop = tokens_per_step(job) * hardware_flop_per_token(job)
    return flop / (num_devices(job) * constants.eta * job.peak_flop_per_s)


def tensor_parallel_s(job: Number, constants: Number) -> Number:
    """Return the time of the all-reduces of tensor parallelism, over NVLink.

    Args:
        job: The flat record.
        constants: ``latency_s`` is used.
    """
    size_bytes = activation_bytes(
        job.micro_batch_size, job.seq_length, job.cp, job.hidden_size, 2.0
    )
    one = all_reduce_s(size_bytes, job.tp, job.nvlink_bytes_per_s, constants.latency_s)
    per_layer = tensor_all_reduces_per_layer(job.recompute_full)
    return num_microbatches(job) * (job.num_layers / job.pp) * per_layer * one


def context_parallel_s(job: Number, constants: Number) -> Number:
    """Return the time to gather keys and values and to send their gradients back.

    Args:
        job: The flat record.
        constants: ``latency_s`` is used.
    """
    key_width = job.num_query_groups * job.head_dim
    size_bytes = key_value_bytes(job.micro_batch_size, job.seq_length, key_width, job.tp, 2.0)
    one = all_gather_s(size_bytes, job.cp, job.network_bytes_per_s, constants.latency_s)
    layers = job.num_layers / job.pp
    return num_microbatches(job) * layers * context_gathers_per_layer() * one


def expert_parallel_s(job: Number, constants: Number) -> Number:
    """Return the time of the all-to-alls of expert parallelism: 0 for a dense model.

    Tokens go out and come back, forward and backward: four exchanges a mixture layer, over
    NVLink where the group fits in its domain.

    Args:
        job: The flat record.
        constants: ``latency_s`` is used.

    References:
        lepikhin2020, Sec. 3; derived here for the link.
    """
    size_bytes = job.top_k * activation_bytes(
        job.micro_batch_size, job.seq_length, job.cp * job.tp, job.hidden_size, 2.0
    )
    bytes_per_s = where(
        job.ep * job.etp <= job.nvlink_domain, job.nvlink_bytes_per_s, job.network_bytes_per_s
    )
    one = all_to_all_s(size_bytes, job.ep, bytes_per_s, constants.latency_s)
    return num_microbatches(job) * (num_expert_layers(job) / job.pp) * 4.0 * one


def pipeline_sends_s(job: Number, constants: Number) -> Number:
    """Return the time of the sends between stages: 0 with one stage.

    Args:
        job: The flat record.
        constants: ``latency_s`` is used.
    """
    size_bytes = pipeline_message_bytes(
        job.micro_batch_size, job.seq_length, job.cp, job.hidden_size, job.tp, 2.0
    )
    one = permute_s(size_bytes, job.network_bytes_per_s, constants.latency_s)
    messages = pipeline_messages_per_step(num_microbatches(job), job.vpp)
    return where(job.pp > 1.0, messages * one, 0.0)


def data_parallel_s(job: Number, constants: Number) -> Number:
    """Return the time of the gradients' all-reduce, once a step, over the network.

    Routed experts are spread over ``ep`` of the ranks first, so fewer hold the same ones.

    Args:
        job: The flat record.
        constants: ``latency_s`` is used.
    """
    ranks = job.dp * job.cp
    shared = gradient_bytes(unrouted_parameters(job), job.tp, job.pp, 2.0)
    bytes_per_s, latency_s = job.network_bytes_per_s, constants.latency_s
    routed = gradient_bytes(routed_parameters(job), job.ep * job.etp, job.pp, 2.0)
    expert_ranks = maximum(ranks * job.tp / (job.ep * job.etp), 1.0)
    routed_s = all_reduce_s(routed, expert_ranks, bytes_per_s, latency_s)
    return all_reduce_s(shared, ranks, bytes_per_s, latency_s) + where(
        job.num_experts > 0.0, routed_s, 0.0
    )


def schedule_overhead(job: Number) -> Number:
    """Return idle time over useful work for the schedule of a job.

    That of 1F1B with as many chunks, times the share that the schedule leaves of it where
    F, I and W are alike; full recomputation makes I twice as long.

    Args:
        job: The flat record.

    References:
        narayanan2021, Sec. 2.2; derived here from `steptime.formulas.schedule.idle_time`.
    """
    micro = num_microbatches(job)
    overhead = bubble_overhead(job.pp, micro, job.vpp)
    inputs = 1.0 + job.recompute_full
    return overhead * bubble_share(job.schedule, job.pp, micro, job.vpp, 1.0, inputs, 1.0)


def baseline_step(job: Number, constants: Number) -> Number:
    """Return the parts of one training step, in seconds; their sum is the step.

    Args:
        job: The flat record.
        constants: ``eta`` and ``latency_s``.

    Returns:
        ``compute``, ``tensor_parallel``, ``context_parallel``, ``expert_parallel``,
        ``bubble``, ``pipeline_sends`` and ``data_parallel``.

    References:
        derived here, book/model.md; narayanan2021, Sec. 2 and 3 for its parts.
    """
    compute = compute_s(job, constants)
    tensor = tensor_parallel_s(job, constants)
    context = context_parallel_s(job, constants)
    expert = expert_parallel_s(job, constants)
    overhead = schedule_overhead(job)
    return {
        "compute": compute,
        "tensor_parallel": tensor,
        "context_parallel": context,
        "expert_parallel": expert,
        "bubble": (compute + tensor + context + expert) * overhead,
        "pipeline_sends": pipeline_sends_s(job, constants),
        "data_parallel": data_parallel_s(job, constants),
    }


def step_s(parts: Number) -> Number:
    """Return the step time: the sum of the parts, added in one fixed order.

    Args:
        parts: What `baseline_step` returned.
    """
    return (
        parts["compute"]
        + parts["tensor_parallel"]
        + parts["context_parallel"]
        + parts["expert_parallel"]
        + parts["bubble"]
        + parts["pipeline_sends"]
        + parts["data_parallel"]
    )
