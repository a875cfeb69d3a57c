"""Collectives over the links that a group really crosses."""

from steptime.formulas.collectives import all_gather_sent_bytes, all_reduce_sent_bytes
from steptime.formulas.number import Number, maximum, where
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
