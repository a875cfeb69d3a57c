"""Collectives over the links that a group really crosses."""

from steptime.formulas.collectives import (
    all_gather_sent_bytes,
    all_reduce_sent_bytes,
    all_to_all_sent_bytes,
)
from steptime.formulas.number import Number, maximum, minimum, where
from steptime.formulas.records import Constants, Job
from steptime.formulas.roofline.rates import across_bytes_per_s, inside_bytes_per_s


def gather_s(
    job: Job, constants: Constants, size_bytes: Number, ranks: Number, inside: Number
) -> Number:
    """Return the time of one all-gather or one reduce-scatter: a ring over all ranks.

    Args:
        constants: ``hop_s`` for the start, and for each domain passed.
        size_bytes: The whole buffer.
        ranks: Ranks of the group.
        inside: How many of them share an NVLink domain.

    References:
        thakur2005, Sec. 4.
    """
    domains = maximum(ranks / inside, 1.0)
    inner_s = all_gather_sent_bytes(size_bytes, ranks) / inside_bytes_per_s(job, constants)
    outer_s = all_gather_sent_bytes(size_bytes, domains) / across_bytes_per_s(
        job, constants, inside
    )
    hops_s = (1.0 + where(domains > 1.0, domains, 0.0)) * constants.hop_s
    return where(ranks > 1.0, maximum(inner_s, outer_s) + hops_s, 0.0)


def reduce_s(
    job: Job, constants: Constants, size_bytes: Number, ranks: Number, inside: Number
) -> Number:
    """Return the time of one all-reduce: trees over the domains, rings inside each.

    Only one copy of the buffer has to go from domain to domain, so for two of them half as
    much crosses as in a ring over all ranks.

    Args:
        constants: ``hop_s`` for the start and each domain passed, paid twice.
        size_bytes: The buffer that is added up.
        ranks: Ranks of the group.
        inside: How many of them share an NVLink domain.

    References:
        thakur2005, Sec. 4; derived here for the two levels.
    """
    domains = maximum(ranks / inside, 1.0)
    inner_s = all_reduce_sent_bytes(size_bytes, ranks) / inside_bytes_per_s(job, constants)
    outer_s = all_reduce_sent_bytes(size_bytes, domains) / across_bytes_per_s(
        job, constants, inside
    )
    hops_s = (1.0 + where(domains > 1.0, domains, 0.0)) * constants.hop_s
    one = maximum(inner_s, outer_s) + 2.0 * hops_s
    return where(ranks > 1.0, one, 0.0)


def ring_s(
    job: Job, constants: Constants, size_bytes: Number, ranks: Number, inside: Number
) -> Number:
    """Return the time in which shards have been round one ring: a step less than its ranks.

    Each rank hands a shard to its neighbour and waits for the next one. Where the ring leaves
    the NVLink domain one adapter carries it, and all wait for that one.

    Args:
        constants: ``hop_s`` for each step.
        size_bytes: All shards together.
        ranks: Ranks of the ring.
        inside: How many of them share an NVLink domain.

    References:
        liu2023, Sec. 3; transformerengine2026, attention/dot_product_attention/
        context_parallel.py (one send and one receive a step).
    """
    near = inside_bytes_per_s(job, constants)
    far = minimum(near, constants.network_efficiency * job.network_bytes_per_s)
    bytes_per_s = where(ranks > inside, far, near)
    return all_gather_sent_bytes(size_bytes, ranks) / bytes_per_s + (ranks - 1.0) * constants.hop_s


def all_ranks_exchange_s(
    job: Job, constants: Constants, size_bytes: Number, ranks: Number, inside: Number
) -> Number:
    """Return the time of one all-to-all: what stays in the domain beside what leaves it.

    Args:
        constants: ``link_efficiency``, ``network_efficiency`` and ``hop_s`` for the start.
        size_bytes: What one rank holds before and after it.
        ranks: Ranks that exchange.
        inside: How many of them share an NVLink domain.

    References:
        thakur2005, Sec. 4.
    """
    near = all_to_all_sent_bytes(size_bytes * inside / ranks, inside)
    far = all_to_all_sent_bytes(size_bytes, ranks) - near
    network = constants.network_efficiency * job.network_bytes_per_s
    one = maximum(near / inside_bytes_per_s(job, constants), far / network) + constants.hop_s
    return where(ranks > 1.0, one, 0.0)


def shown_s(constants: Constants, message_s: Number, work_s: Number) -> Number:
    """Return what shows of a message behind work: what outlasts it, and a share of the rest.

    Args:
        constants: ``contention`` is that share.
        message_s: Time of the message.
        work_s: Time of the work that it may hide behind.

    References:
        zhao2023, Sec. 3.3 (messages take processors and memory bandwidth from what hides them).
    """
    beyond = maximum(message_s - work_s, 0.0)
    return beyond + constants.contention * minimum(message_s, work_s)


def beside_s(constants: Constants, message_s: Number, share: Number, work_s: Number) -> Number:
    """Return what shows of messages of which only a share may hide behind work.

    Args:
        constants: As in `shown_s`.
        message_s: Time of all of them.
        share: The share that goes on beside the work.
        work_s: Time of the work.
    """
    hiding_s = share * message_s
    return message_s - hiding_s + shown_s(constants, hiding_s, work_s)
