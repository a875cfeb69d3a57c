"""Rates that work really runs at: a share of what the device was measured or built to do."""

from steptime.formulas.number import Number, maximum, minimum, where
from steptime.formulas.records import Constants, Job, TimeFacts

WIDE_SHARE = 0.11
"""Share of the layers' products that stay in 16 bits where the others run in four: in the middle
of the 4 and the 10 of 62 layers that the method's authors tried (nvidia2025nvfp4)."""


def step_share(stack: TimeFacts, constants: Constants) -> Number:
    """Return the share of a kernel's measured rate that is left inside a training step.

    A step runs hotter and meets less even shapes than a benchmark of one kernel; the share
    differs by generation.

    Args:
        stack: ``power_scale`` is the rate of a part over that of its kin.
        constants: ``efficiency`` is the share, of the device's generation.
    """
    return stack.power_scale * constants.efficiency


def ceiling_flop_per_s(job: Job, stack: TimeFacts, constants: Constants) -> Number:
    """Return the rate of large 16-bit matrix products inside a training step.

    Args:
        job: ``matmul_flop_per_s`` is the largest rate measured.
        constants: As in `step_share`.

    References:
        bekman2024, Maximum Achievable Matmul FLOPS table (the rates measured).
    """
    return job.matmul_flop_per_s * step_share(stack, constants)


def gain(measured: Number, wider: Number, peak: Number, wider_peak: Number) -> Number:
    """Return how much faster products run in fewer bits: as measured, or else by the data sheet.

    Args:
        measured: Largest rate measured in fewer bits; 0 where nobody measured it.
        wider: The same in more bits.
        peak: Data-sheet rate in fewer bits; 0 where there is none.
        wider_peak: The same in more bits.
    """
    printed = where(peak > 0.0, peak / maximum(wider_peak, 1.0), 1.0)
    return where(measured * wider > 0.0, measured / maximum(wider, 1.0), printed)


def eight_bit_gain(job: Job) -> Number:
    """Return the rate of products in 8 bits over that in 16.

    Args:
        job: The device's measured and data-sheet rates.

    References:
        bekman2024, Maximum Achievable Matmul FLOPS tables: 1.77 on H100, 1.83 on H200.
    """
    return gain(
        job.matmul_fp8_flop_per_s,
        job.matmul_flop_per_s,
        job.peak_fp8_flop_per_s,
        job.peak_flop_per_s,
    )


def four_bit_gain(job: Job) -> Number:
    """Return the rate of products in 4 bits over that in 8.

    Args:
        job: The device's measured and data-sheet rates.

    References:
        nvidia2025gb300, specifications table: three times on GB300.
    """
    return gain(
        job.matmul_fp4_flop_per_s,
        job.matmul_fp8_flop_per_s,
        job.peak_fp4_flop_per_s,
        job.peak_fp8_flop_per_s,
    )


def product_flop_per_s(job: Job, stack: TimeFacts, constants: Constants) -> Number:
    """Return the rate of the layers' matrix products, in the precision they run in.

    In four bits some layers stay in 16. Scales of rows or blocks cost some of the gain.

    Args:
        job: ``fp8`` is 1 in 8 bits and below.
        stack: ``fp4`` is 1 or 0; ``scaled_products`` is the extra time of products that scale
            rows or blocks.
        constants: As in `ceiling_flop_per_s`.

    References:
        nvidia2025nvfp4, Sec. 3 (layers that stay in 16 bits).
    """
    wide = ceiling_flop_per_s(job, stack, constants)
    eight = eight_bit_gain(job)
    four = 1.0 / ((1.0 - WIDE_SHARE) / (eight * four_bit_gain(job)) + WIDE_SHARE)
    gained = where(stack.fp4 > 0.0, four, eight)
    return where(job.fp8 > 0.0, wide * gained / (1.0 + stack.scaled_products), wide)


def ranks_inside(job: Job, ranks: Number, inner: Number) -> Number:
    """Return how many of a group's ranks share an NVLink domain.

    Args:
        job: ``nvlink_domain`` is used.
        ranks: Ranks of the group.
        inner: Ranks of the groups that are placed before it, side by side.
    """
    return maximum(minimum(ranks, job.nvlink_domain / inner), 1.0)


def inside_bytes_per_s(job: Job, constants: Constants) -> Number:
    """Return the bandwidth that a collective reaches inside the NVLink domain.

    Args:
        constants: ``link_efficiency`` is used.
    """
    return job.nvlink_bytes_per_s * constants.link_efficiency


def across_bytes_per_s(job: Job, constants: Constants, inside: Number) -> Number:
    """Return the bandwidth of a group that leaves the NVLink domain.

    Rings go side by side over the adapters of all ``inside`` ranks; what arrives there still
    has to go round the domain.

    Args:
        constants: ``link_efficiency``.
        inside: Ranks of the group in one domain.
    """
    network = inside * job.network_bytes_per_s
    nvlink = job.nvlink_bytes_per_s * constants.link_efficiency
    return minimum(nvlink, constants.network_efficiency * network)
