"""Which link each kind of group really crosses, once ranks sit in servers or racks.

Ranks fill the domains in order. A kind of group whose ranks lie within a block of
``span`` neighbours stays inside NVLink if whole blocks fit in a domain; if one of its
groups does not, that group is the slowest and sets the pace of all.
"""

from steptime.formulas.number import Number, floor, maximum, minimum, where
from steptime.formulas.records import Job
from steptime.formulas.validity import leaves_rest


def whole_blocks(domain_size: Number, block: Number) -> Number:
    """Return the devices of a domain that hold whole blocks; 0 if none fits.

    Args:
        domain_size: Devices in one NVLink domain, less the spares.
        block: Devices of a block.
    """
    return floor(domain_size / block) * block


def used_per_domain(
    domain_size: Number, tp: Number, cp: Number, expert_ranks: Number, data_inside: Number
) -> Number:
    """Return the devices of a domain that hold whole blocks of ranks that talk in every layer.

    These are t c ranks and, where data-parallel ranks are neighbours, e ranks that exchange
    tokens. A block is not cut for the sake of a few devices: the rest stays idle, as spares; 8
    of 72 with blocks of 16 or 64. Where no block fits in a domain smaller ones are kept: t c,
    or t; and where even t does not fit, all devices are used.

    Args:
        domain_size: Devices in one NVLink domain, less the spares.
        tp: Tensor-parallel size, t.
        cp: Context-parallel size, c.
        expert_ranks: Ranks of an expert group, ep etp.
        data_inside: As in `group_spans`.

    References:
        derived here, book/hardware.md.
    """
    near = tp * cp
    experts = where(data_inside > 0.0, expert_ranks, 1.0)
    larger, smaller = maximum(near, experts), minimum(near, experts)
    both = larger * where(leaves_rest(larger, smaller) > 0.0, smaller, 1.0)
    all_kept = whole_blocks(domain_size, both)
    near_kept = whole_blocks(domain_size, near)
    tensor_kept = whole_blocks(domain_size, tp)
    least = where(tensor_kept > 0.0, tensor_kept, domain_size)
    return where(all_kept > 0.0, all_kept, where(near_kept > 0.0, near_kept, least))


def some_group_crosses(span: Number, num_devices: Number, usable: Number) -> Number:
    """Return 1 if a group within ``span`` neighbouring ranks leaves its domain, else 0.

    Args:
        span: Neighbouring ranks that each group lies within.
        num_devices: Devices in the job, n.
        usable: Devices in use in each domain.

    References:
        derived here, book/hardware.md.
    """
    return where(num_devices > usable, leaves_rest(usable, span), 0.0)


def group_spans(job: Job, data_inside: Number) -> dict[str, Number]:
    """Return the block of neighbouring ranks that each kind of group lies within.

    Args:
        job: Only the layout is read.
        data_inside: 1 if data parallelism is nearer than the pipeline, the order tensor,
            context, data, pipeline; 0 for tensor, context, pipeline, data.

    Returns:
        ``tensor``, ``context``, ``expert``, ``pipeline`` and ``data`` (gradients are added
        up over context- and data-parallel ranks together).

    References:
        grattafiori2024, Sec. 3.3.2; narayanan2021, Sec. 3.
    """
    near = job.tp * job.cp
    devices = near * job.pp * job.dp
    experts = job.ep * job.etp
    # Expert groups fill the ranks of one pipeline stage in order. With the pipeline nearer
    # than data, a stage has t c neighbours and then leaps over the other stages; a group
    # that does not divide those neighbours leaps somewhere, so it is taken to reach all over.
    leaps = where(leaves_rest(experts, near) > 0.0, devices, experts * job.pp)
    split = where(leaves_rest(near, experts) > 0.0, leaps, experts)
    return {
        "tensor": job.tp,
        "context": near,
        "expert": where(data_inside > 0.0, experts, split),
        "pipeline": where(data_inside > 0.0, devices, near * job.pp),
        "data": where(data_inside > 0.0, near * job.dp, where(job.dp > 1.0, devices, near)),
    }


def link_bytes_per_s(job: Job, data_inside: Number) -> dict[str, Number]:
    """Return the bandwidth that the slowest group of each kind gets.

    A group of one device gets NVLink's: it sends nothing.

    Args:
        data_inside: As in `group_spans`.

    Returns:
        ``tensor``, ``context``, ``expert``, ``pipeline`` and ``data``, bytes per second in
        one direction per device.

    References:
        derived here, book/hardware.md.
    """
    spans = group_spans(job, data_inside)
    devices = job.tp * job.cp * job.pp * job.dp
    usable = used_per_domain(job.nvlink_domain, job.tp, job.cp, job.ep * job.etp, data_inside)
    near, far = job.nvlink_bytes_per_s, job.network_bytes_per_s
    sizes = {
        "tensor": job.tp,
        "context": job.cp,
        "expert": job.ep,
        "pipeline": job.pp,
        "data": job.cp * job.dp,
    }
    rates = {}
    for kind in ["tensor", "context", "expert", "pipeline", "data"]:
        crosses = some_group_crosses(spans[kind], devices, usable)
        rates[kind] = where(sizes[kind] > 1.0, where(crosses > 0.0, far, near), near)
    return rates
