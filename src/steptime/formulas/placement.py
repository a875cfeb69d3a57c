"""Which link each kind of group really crosses, once ranks sit in servers or racks.

Ranks fill the domains in order. A kind of group whose ranks lie within a block of
``span`` neighbours stays inside NVLink if whole blocks fit in a domain; if one of its
groups does not, that group is the slowest and sets the pace of all.
"""

from steptime.formulas.experts import expert_ranks
from steptime.formulas.number import Number, floor, maximum, minimum, where
from steptime.formulas.records import Job, LinkRates
from steptime.formulas.validity import leaves_rest


def kept_block(
    domain_size: Number, tp: Number, cp: Number, expert_ranks: Number, data_inside: Number
) -> Number:
    """Return the ranks that a domain keeps together: those that talk in every layer.

    These are t c ranks and, where data-parallel ranks are neighbours, e ranks that exchange
    tokens. Where no such block fits in a domain smaller ones are kept: t c, or t; and where even
    t does not fit, none.

    Args:
        domain_size: Devices in one NVLink domain, less the spares.
        tp: Tensor-parallel size, t.
        cp: Context-parallel size, c.
        expert_ranks: Ranks of an expert group.
        data_inside: 1 where data-parallel ranks are nearer than pipeline ones.

    References:
        derived here, book/hardware.md.
    """
    near = tp * cp
    experts = where(data_inside > 0.0, expert_ranks, 1.0)
    larger, smaller = maximum(near, experts), minimum(near, experts)
    both = larger * where(leaves_rest(larger, smaller) > 0.0, smaller, 1.0)
    least = where(tp > domain_size, 1.0, tp)
    return where(both > domain_size, where(near > domain_size, least, near), both)


def used_per_domain(
    domain_size: Number, tp: Number, cp: Number, expert_ranks: Number, data_inside: Number
) -> Number:
    """Return the devices of a domain that hold whole blocks of ranks that talk in every layer.

    A block is not cut for the sake of a few devices: the rest stays idle, as spares; 8 of 72
    with blocks of 16 or 64.

    Args:
        domain_size: Devices in one NVLink domain, less the spares.
        tp: Tensor-parallel size, t.
        cp: Context-parallel size, c.
        expert_ranks: Ranks of an expert group.
        data_inside: 1 where data-parallel ranks are nearer than pipeline ones.

    References:
        derived here, book/hardware.md.
    """
    block = kept_block(domain_size, tp, cp, expert_ranks, data_inside)
    return floor(domain_size / block) * block


def some_group_crosses(span: Number, num_devices: Number, usable: Number, block: Number) -> Number:
    """Return 1 if a group within ``span`` neighbouring ranks leaves its domain, else 0.

    A large domain may be used as several smaller ones: as many as hold one group each.

    Args:
        span: Neighbouring ranks that each group lies within.
        num_devices: Devices in the job, n.
        usable: Devices in use in each domain.
        block: Devices that stay together, a divisor of those in use.

    References:
        derived here, book/hardware.md.
    """
    parts = maximum(floor(usable / span), 1.0)
    held = floor(usable / block / parts) * block
    straddles = where(held == span, 0.0, leaves_rest(usable, span))
    return where(num_devices > usable, straddles, 0.0)


def group_spans(job: Job) -> LinkRates:
    """Return the block of neighbouring ranks that each kind of group lies within.

    Args:
        job: Only the layout is read; ``data_inside`` is 1 if data parallelism is nearer than the
            pipeline, the order tensor, context, data, pipeline; 0 for tensor, context, pipeline,
            data.

    Returns:
        ``tensor``, ``context``, ``expert``, ``pipeline`` and ``data`` (gradients are added
        up over context- and data-parallel ranks together).

    References:
        grattafiori2024, Sec. 3.3.2; narayanan2021, Sec. 3.
    """
    near = job.tp * job.cp
    devices = near * job.pp * job.dp
    experts = expert_ranks(job)
    # Expert groups fill the ranks of one pipeline stage in order. With the pipeline nearer
    # than data, a stage has t c neighbours and then leaps over the other stages; a group
    # that does not divide those neighbours leaps somewhere, so it is taken to reach all over.
    leaps = where(leaves_rest(experts, near) > 0.0, devices, experts * job.pp)
    split = where(leaves_rest(near, experts) > 0.0, leaps, experts)
    return {
        "tensor": job.tp,
        "context": near,
        "expert": where(job.data_inside > 0.0, experts, split),
        "pipeline": where(job.data_inside > 0.0, devices, near * job.pp),
        "data": where(job.data_inside > 0.0, near * job.dp, where(job.dp > 1.0, devices, near)),
    }


def group_bytes_per_s(
    job: Job, size: Number, span: Number, usable: Number, block: Number
) -> Number:
    """Return the bandwidth that the slowest group of one kind gets.

    What leaves a domain also passes the links inside it, which may be the slower ones.

    Args:
        size: Ranks of a group.
        span: Neighbouring ranks that it lies within.
        usable: Devices in use in each domain.
        block: Devices of a domain that stay together.
    """
    crosses = some_group_crosses(span, job.tp * job.cp * job.pp * job.dp, usable, block)
    near = job.nvlink_bytes_per_s
    far = minimum(near, job.network_bytes_per_s)
    return where(size > 1.0, where(crosses > 0.0, far, near), near)


def link_bytes_per_s(job: Job) -> LinkRates:
    """Return the bandwidth that the slowest group of each kind gets.

    A group of one device gets NVLink's: it sends nothing.

    Returns:
        ``tensor``, ``context``, ``expert``, ``pipeline`` and ``data``, bytes per second in
        one direction per device.

    References:
        derived here, book/hardware.md.
    """
    spans, experts = group_spans(job), expert_ranks(job)
    block = kept_block(job.nvlink_domain, job.tp, job.cp, experts, job.data_inside)
    usable = floor(job.nvlink_domain / block) * block
    return {
        "tensor": group_bytes_per_s(job, job.tp, spans["tensor"], usable, block),
        "context": group_bytes_per_s(job, job.cp, spans["context"], usable, block),
        "expert": group_bytes_per_s(job, job.ep, spans["expert"], usable, block),
        "pipeline": group_bytes_per_s(job, job.pp, spans["pipeline"], usable, block),
        "data": group_bytes_per_s(job, job.cp * job.dp, spans["data"], usable, block),
    }
