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
from steptime.formulas.experts import expert_ranks
from steptime.formulas.flops import (
    hardware_flop_per_token,
    num_devices,
    num_microbatches,
    tokens_per_step,
)
from steptime.formulas.layout_terms import key_value_width, sharding_rounds, stage_imbalance
from steptime.formulas.number import Number, maximum, minimum, where
from steptime.formulas.parameters import (
    num_expert_layers,
    routed_parameters,
    unrouted_parameters,
)
from steptime.formulas.placement import link_bytes_per_s
from steptime.formulas.ranks import data_ranks, expert_data_ranks, weight_copies
from steptime.formulas.records import BaselineConstants, BaselineParts, Job, LinkRates
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


def compute_s(job: Job, constants: BaselineConstants) -> Number:
    """Return the time of all FLOP at the fitted share of the peak.

    Args:
        constants: ``eta`` is used.
    """
    flop = tokens_per_step(job) * hardware_flop_per_token(job)
    return flop / (num_devices(job) * constants.eta * job.peak_flop_per_s)


def tensor_parallel_s(job: Job, constants: BaselineConstants, bytes_per_s: Number) -> Number:
    """Return the time of the all-reduces of tensor parallelism.

    Args:
        constants: ``latency_s`` is used.
        bytes_per_s: Of the link that its groups cross.
    """
    size_bytes = activation_bytes(
        job.micro_batch_size, job.seq_length, job.cp, job.hidden_size, 2.0
    )
    one = all_reduce_s(size_bytes, job.tp, bytes_per_s, constants.latency_s)
    per_layer = tensor_all_reduces_per_layer(job.recompute_full)
    return num_microbatches(job) * (job.num_layers / job.pp) * per_layer * one


def context_parallel_s(job: Job, constants: BaselineConstants, bytes_per_s: Number) -> Number:
    """Return the time to gather keys and values and to send their gradients back.

    Args:
        constants: ``latency_s`` is used.
        bytes_per_s: Of the link that its groups cross.
    """
    key_width = key_value_width(job, job.tp)
    size_bytes = key_value_bytes(job.micro_batch_size, job.seq_length, key_width, job.tp, 2.0)
    one = all_gather_s(size_bytes, job.cp, bytes_per_s, constants.latency_s)
    layers = job.num_layers / job.pp
    return num_microbatches(job) * layers * context_gathers_per_layer() * one


def expert_parallel_s(job: Job, constants: BaselineConstants, bytes_per_s: Number) -> Number:
    """Return the time of the all-to-alls of expert parallelism: 0 for a dense model.

    Tokens go out and come back, forward and backward: four exchanges a mixture layer.

    Args:
        constants: ``latency_s`` is used.
        bytes_per_s: Of the link that its groups cross.

    References:
        lepikhin2020, Sec. 3.
    """
    size_bytes = job.top_k * activation_bytes(
        job.micro_batch_size, job.seq_length, job.cp * job.tp, job.hidden_size, 2.0
    )
    one = all_to_all_s(size_bytes, job.ep, bytes_per_s, constants.latency_s)
    return num_microbatches(job) * (num_expert_layers(job) / job.pp) * 4.0 * one


def pipeline_sends_s(job: Job, constants: BaselineConstants, bytes_per_s: Number) -> Number:
    """Return the time of the sends between stages: 0 with one stage.

    Args:
        constants: ``latency_s`` is used.
        bytes_per_s: Of the link that neighbouring stages cross.
    """
    size_bytes = pipeline_message_bytes(
        job.micro_batch_size, job.seq_length, job.cp, job.hidden_size, job.tp, 2.0
    )
    one = permute_s(size_bytes, bytes_per_s, constants.latency_s)
    messages = pipeline_messages_per_step(num_microbatches(job), job.vpp)
    return where(job.pp > 1.0, messages * one, 0.0)


def shared_out_s(
    job: Job, constants: BaselineConstants, size_bytes: Number, ranks: Number, bytes_per_s: Number
) -> Number:
    """Return the time to add up gradients once over the ranks that train the same parameters.

    Where optimizer states are sharded in several copies, ranks share out inside a copy, and the
    copies add up their shares.

    Args:
        constants: ``latency_s`` is used.
        size_bytes: Of the gradients.
        ranks: That train the same parameters.
        bytes_per_s: Of the link that its groups cross.

    References:
        zhao2023, Sec. 3.2.2 (hybrid sharding).
    """
    copies = where(job.zero_stage > 0.0, minimum(job.dp_replicate, ranks), 1.0)
    sharing = ranks / copies
    inside = all_reduce_s(size_bytes, sharing, bytes_per_s, constants.latency_s)
    return inside + all_reduce_s(size_bytes / sharing, copies, bytes_per_s, constants.latency_s)


def data_parallel_s(job: Job, constants: BaselineConstants, bytes_per_s: Number) -> Number:
    """Return the time of the gradients' all-reduce, once a step.

    Routed experts are spread over ``ep`` of the ranks first, so fewer hold the same ones. In
    DualPipe a rank and its mirror hold the same two stages, and exchange both.

    Args:
        constants: ``latency_s`` is used.
        bytes_per_s: Of the link that its groups cross.
    """
    value_bytes = 2.0 * weight_copies(job)
    shared = gradient_bytes(unrouted_parameters(job), job.tp, job.pp, value_bytes)
    routed = gradient_bytes(routed_parameters(job), expert_ranks(job), job.pp, value_bytes)
    sharers = maximum(expert_data_ranks(job), 1.0)
    routed_s = shared_out_s(job, constants, routed, sharers, bytes_per_s)
    shared_s = shared_out_s(job, constants, shared, data_ranks(job), bytes_per_s)
    return shared_s + where(job.num_experts > 0.0, routed_s, 0.0)


def schedule_overhead(job: Job) -> Number:
    """Return idle time over useful work for the schedule of a job.

    That of 1F1B with as many chunks, times the share that the schedule leaves of it where
    F, I and W are alike; full recomputation makes I twice as long.

    References:
        narayanan2021, Sec. 2.2; derived here from `steptime.formulas.schedule.idle_time`.
    """
    micro = num_microbatches(job)
    overhead = bubble_overhead(job.pp, micro, job.vpp)
    inputs = 1.0 + job.recompute_full
    return overhead * bubble_share(job.schedule, job.pp, micro, job.vpp, 1.0, inputs, 1.0)


def parts_on(
    job: Job, constants: BaselineConstants, rates: LinkRates, pace: Number, rounds: Number
) -> BaselineParts:
    """Return the parts of one training step, in seconds; their sum is the step.

    Args:
        rates: Bandwidth of the link that each kind of group crosses.
        pace: Layers of the longest chunk over the mean.
        rounds: How often a step pays for an all-reduce of the gradients.
    """
    compute = compute_s(job, constants) * pace
    tensor = tensor_parallel_s(job, constants, rates["tensor"]) * pace
    context = context_parallel_s(job, constants, rates["context"]) * pace
    expert = expert_parallel_s(job, constants, rates["expert"]) * pace
    overhead = schedule_overhead(job)
    return {
        "compute": compute,
        "tensor_parallel": tensor,
        "context_parallel": context,
        "expert_parallel": expert,
        "bubble": (compute + tensor + context + expert) * overhead,
        "pipeline_sends": pipeline_sends_s(job, constants, rates["pipeline"]),
        "data_parallel": data_parallel_s(job, constants, rates["data"]) * rounds,
    }


def baseline_step(job: Job, constants: BaselineConstants) -> BaselineParts:
    """Return the parts of one training step, for a layout on real hardware.

    A kind of group gets NVLink if all its groups fit in one domain, and the network otherwise;
    the longest chunk sets the pace; ZeRO-2 and -3 pay for each micro-batch. Where none of that
    applies, this and `chapter_step` agree to the last bit.

    Returns:
        ``compute``, ``tensor_parallel``, ``context_parallel``, ``expert_parallel``,
        ``bubble``, ``pipeline_sends`` and ``data_parallel``, seconds; their sum is the step.

    References:
        derived here, book/roofline.md; narayanan2021, Sec. 2 and 3 for its parts.
    """
    rounds = sharding_rounds(job, num_microbatches(job))
    return parts_on(job, constants, link_bytes_per_s(job), stage_imbalance(job), rounds)


def chapter_step(job: Job, constants: BaselineConstants) -> BaselineParts:
    """Return the parts of one training step as the chapter has them, whatever the hardware.

    Tensor-parallel messages travel on NVLink and all others on the network, but for experts whose
    group fits in a domain; layers are spread evenly; gradients are added up once a step.

    Returns:
        As `baseline_step`.

    References:
        derived here, book/roofline.md; narayanan2021, Sec. 2 and 3 for its parts.
    """
    near, far = job.nvlink_bytes_per_s, job.network_bytes_per_s
    rates: LinkRates = {
        "tensor": near,
        "context": far,
        "expert": where(expert_ranks(job) <= job.nvlink_domain, near, far),
        "pipeline": far,
        "data": far,
    }
    return parts_on(job, constants, rates, 1.0, 1.0)


def step_s(parts: BaselineParts) -> Number:
    """Return the step time: the sum of the parts, added in one fixed order."""
    return (
        parts["compute"]
        + parts["tensor_parallel"]
        + parts["context_parallel"]
        + parts["expert_parallel"]
        + parts["bubble"]
        + parts["pipeline_sends"]
        + parts["data_parallel"]
    )
