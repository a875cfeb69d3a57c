"""All-to-alls of a mixture layer: tokens on their way to experts and back."""

from steptime.formulas.collectives import all_to_all_sent_bytes
from steptime.formulas.flops import num_microbatches
from steptime.formulas.number import Number, anywhere, floor, maximum, minimum, where
from steptime.formulas.records import Constants, Exchange, Job, LinkTimes, TimeFacts
from steptime.formulas.roofline.experts import routed_rows
from steptime.formulas.roofline.links import gather_s
from steptime.formulas.roofline.rates import ranks_inside
from steptime.formulas.schedule import paired_share

EXCHANGE_SHARE = 0.9
"""Share of a link that kernels made for exchanges reach: 153 to 158 of 160 GB/s inside a server,
43 to 58 of 50 GB/s between servers (deepep2025)."""


def groups_reached(groups: Number, picks: Number) -> Number:
    """Return how many of some groups a token reaches, each of its picks falling on any alike.

    Args:
        groups: Of experts: ranks, or domains of ranks.
        picks: Experts a token goes to, fewer than 64.

    References:
        derived here: groups (1 - (1 - 1/groups)^picks), the power by squaring.
    """
    missed: Number = 1.0
    left, square = picks, 1.0 - 1.0 / groups
    for _ in range(6):
        half = floor(left / 2.0)
        missed = missed * where(left > 2.0 * half, square, 1.0)
        square = square * square
        left = half
    return groups * (1.0 - missed)


def reached(job: Job, groups: Number) -> Number:
    """Return how many ranks, or domains of ranks, a token's experts lie on.

    Where a token may reach some groups of experts only, they are those with its best experts,
    so it reaches them all, and with them the domains that hold one of them.

    Args:
        groups: Ranks, or domains of them, that all experts are spread over evenly.

    References:
        deepseek2024, Sec. 2.1.2 (node-limited routing); derived here: a domain of w groups of n
        holds none of g with the chance (n-g)/n (n-g-1)/(n-1) ... of w factors.
    """
    free = groups_reached(groups, job.top_k)
    if not anywhere(job.max_groups > 0.0):
        return free
    held = maximum(job.expert_groups / groups, 1.0)
    missed: Number = 1.0
    for i in range(8):
        none = maximum(job.expert_groups - job.max_groups - i, 0.0)
        factor = none / maximum(job.expert_groups - i, 1.0)
        missed = missed * where(held > i, factor, 1.0)
    ranks = job.max_groups * groups / maximum(job.expert_groups, 1.0)
    most = where(groups > job.expert_groups, ranks, groups * (1.0 - missed))
    return where(job.max_groups > 0.0, minimum(free, most), free)


def links_s(
    job: Job, stack: TimeFacts, constants: Constants, size: Number, pieces: Number
) -> LinkTimes:
    """Return how long an all-to-all keeps the NVLink and the network of a rank at work.

    Args:
        stack: ``plain_exchange``.
        constants: ``link_efficiency`` and ``network_efficiency`` of a plain one.
        size: Bytes of one copy of a rank's tokens.
        pieces: Into which each NVLink domain is taken to fall.

    Returns:
        ``near`` and ``far``.
    """
    inside = maximum(ranks_inside(job, job.ep, job.etp) / pieces, 1.0)
    domains = job.ep / inside
    plain = stack.plain_exchange > 0.0
    near_copies = where(plain, job.top_k / domains, reached(job, job.ep))
    far_copies = where(plain, job.top_k, reached(job, domains))
    rate = where(plain, constants.link_efficiency, EXCHANGE_SHARE)
    far_rate = where(plain, constants.network_efficiency, EXCHANGE_SHARE)
    near = all_to_all_sent_bytes(size * near_copies, inside)
    far = all_to_all_sent_bytes(size * far_copies, domains)
    return {
        "near": near / (job.nvlink_bytes_per_s * rate),
        "far": far / (job.network_bytes_per_s * far_rate),
    }


def quickest_links_s(job: Job, stack: TimeFacts, constants: Constants, size: Number) -> Number:
    """Return how long the links of a rank are at work on one all-to-all.

    Where NVLink is what takes longest, a large domain is used as two or four: the network takes
    a copy of each token to the other parts, and NVLink has that one less to carry.

    Args:
        constants: As in `links_s`.
        size: Bytes of one copy of a rank's tokens.

    References:
        derived here: a larger domain is slower in no way of using it.
    """
    whole = links_s(job, stack, constants, size, 1.0)
    whole_s = maximum(whole["near"], whole["far"])
    # No split sends less over the network than one into two does.
    least = 0.5 * size * where(stack.plain_exchange > 0.0, job.top_k, reached(job, 2.0))
    if not anywhere(whole["near"] > least / job.network_bytes_per_s):
        return whole_s
    half = links_s(job, stack, constants, size, 2.0)
    fourth = links_s(job, stack, constants, size, 4.0)
    half_s = maximum(half["near"], half["far"])
    fourth_s = maximum(fourth["near"], fourth["far"])
    return minimum(whole_s, minimum(half_s, fourth_s))


def exchange_s(job: Job, stack: TimeFacts, constants: Constants, tokens: Number) -> Exchange:
    """Return the time of one all-to-all, the mean of those to the experts and back.

    A token travels once to each other domain and, inside, once to each rank, however many of
    its experts are there; with a plain all-to-all each copy travels by itself. Both levels are
    under way together, see `quickest_links_s`. An exchange hides where another micro-batch
    computes beside it: that takes a schedule with pairs of passes, see `paired_share`, and
    software that runs them.
    Where ranks share an expert's width, what arrives is gathered among them, what leaves is
    added up.

    Args:
        stack: ``overlap_ep`` is 0 where nothing is hidden; ``plain_exchange`` as told, which
            hides nothing; ``dispatch_bytes`` of a value on the way to the experts.
        constants: As in `links_s`, and ``hop_s``.
        tokens: Of a micro-batch, before tensor parallelism splits them.

    Returns:
        ``shown``, and ``covered``: what the other micro-batch's work may cover.

    References:
        deepseek2024, Sec. 3.2.2 (one copy per node, both links overlapped) and 3.3.3 (8 bits
        out, 16 back); nvidia2026moe (one copy per rank).
    """
    size = tokens / job.tp * job.hidden_size * 0.5 * (stack.dispatch_bytes + 2.0)
    links_s = quickest_links_s(job, stack, constants, size)
    one_s = where(job.ep > 1.0, links_s + constants.hop_s, 0.0)
    rows_bytes = routed_rows(job, tokens) * job.hidden_size * 2.0
    sharing = ranks_inside(job, job.etp, 1.0)
    shared_s = gather_s(job, constants, rows_bytes, job.etp, sharing)
    hides = stack.overlap_ep * (1.0 - stack.plain_exchange) * pairs(job)
    return {"shown": one_s * (1.0 - hides) + shared_s, "covered": one_s * hides}


def pairs(job: Job) -> Number:
    """Return the share of a layer's passes that run beside another micro-batch's."""
    return paired_share(job.schedule, job.pp, num_microbatches(job), job.vpp)
