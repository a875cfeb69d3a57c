"""What an answer says beside its number: how sure it is, whether it fits, whose facts hold."""

from steptime.formulas.exponential import exponential
from steptime.formulas.flops import (
    causal_flop_per_token,
    matrix_flop_per_token,
    num_devices,
    tokens_per_step,
)
from steptime.formulas.number import Number, maximum, minimum, where
from steptime.formulas.ranks import sharding_stage
from steptime.formulas.records import Interval, Job, PeakWidth, StepParts, TimeFacts, Width

SURE = 20.0
"""Scales beyond which a chance is 0 or 1 to eight digits."""
OVER = 0.0
TIGHT = 1.0
FITS = 2.0
TIGHT_SHARE = 0.9
"""Share of the device from which a fit is called tight: a model's error could undo it."""


EVEN_CHANCE = 0.5
"""Chance below which nothing is said to fit."""
SURE_CHANCE = 0.9
"""Chance below which a fit is called tight, whatever is counted."""


def shares_weights(job: Job) -> Number:
    """Return 1 where data-parallel ranks share the weights, which takes more ranks than one.

    Args:
        job: ``zero_stage`` 3 shares them.
    """
    return where(sharding_stage(job) > 2.0, 1.0, 0.0)


def exposed_fraction(parts: StepParts, step_s: Number) -> Number:
    """Return the share of a step that is no computing.

    Args:
        parts: Seconds by part, of the roofline model.
        step_s: Their sum.
    """
    return 1.0 - (parts["compute"] + parts["recompute"]) / step_s


def half_width(width: Width, exposed: Number) -> Number:
    """Return the half-width of an interval in the logarithm of the step time.

    Args:
        width: ``factor`` times ``base``, plus ``slope`` for a step that does no computing.
        exposed: Share of the step that is no computing.

    References:
        derived here, `steptime.evidence.intervals`.
    """
    return width.factor * (width.base + width.slope * exposed)


def least_step_s(job: Job, stack: TimeFacts) -> Number:
    """Return the time in which no device could run the step: all FLOP needed, at the data sheet.

    Layers' products run in as few bits as any of them do; attention and the logits stay in 16.
    Work that runs again in the backward pass is left out, as some of it may be saved.

    Args:
        job: ``fp8`` is 1 in 8 bits and below.
        stack: ``fp4`` is 1 in four bits.

    References:
        williams2009, Sec. 3 (no kernel is above the roof); derived here.
    """
    products = 3.0 * matrix_flop_per_token(job)
    wide = causal_flop_per_token(job) - products
    eight = maximum(job.peak_fp8_flop_per_s, job.peak_flop_per_s)
    four = maximum(job.peak_fp4_flop_per_s, eight)
    narrow = where(stack.fp4 > 0.0, four, eight)
    rate = where(job.fp8 > 0.0, narrow, job.peak_flop_per_s)
    per_token = products / rate + wide / job.peak_flop_per_s
    return tokens_per_step(job) * per_token / num_devices(job)


def interval_s(
    job: Job, stack: TimeFacts, width: Width, parts: StepParts, step_s: Number, slowest_s: Number
) -> Interval:
    """Return the ends between which the measured step lies nine times in ten.

    They hold the prediction itself, and nothing faster than `least_step_s` unless it is. Where
    nobody says what the software hides, the later end is that of a step that hides nothing.

    Args:
        stack: As in `least_step_s`.
        width: As in `half_width`; ``middle`` is ln(predicted over measured) that is usual.
        parts: Seconds by part, of the roofline model.
        step_s: Their sum.
        slowest_s: The step with nothing hidden that may be; ``step_s`` where that is known.

    Returns:
        ``low_s`` and ``high_s``.
    """
    half = half_width(width, exposed_fraction(parts, step_s))
    low = minimum(exponential(-(width.middle + half)), 1.0)
    high_s = maximum(slowest_s, step_s) * exponential(half - width.middle)
    least_s = minimum(least_step_s(job, stack), step_s)
    return {"low_s": maximum(step_s * low, least_s), "high_s": maximum(high_s, step_s)}


def fit_verdict(total_bytes: Number, limit_bytes: Number) -> Number:
    """Return 0 where a device lacks room, 1 where it is tight, 2 where it fits.

    Args:
        total_bytes: Needed on the fullest device.
        limit_bytes: What it has.
    """
    tight = where(total_bytes > TIGHT_SHARE * limit_bytes, TIGHT, FITS)
    return where(total_bytes > limit_bytes, OVER, tight)


def fit_outlook(total_bytes: Number, limit_bytes: Number, chance: Number) -> Number:
    """Return how a fit is worded: what was counted, and how often that comes true.

    Args:
        total_bytes: Needed on the fullest device.
        limit_bytes: What it has.
        chance: As `fit_probability` returns it; 1 where too few peaks are known.

    Returns:
        0 where a device lacks room, 1 where it has some that runs mostly exceed, 2 where it is
        tight by what is counted or where more than one run in ten exceeds it, 3 where it fits.
    """
    verdict = fit_verdict(total_bytes, limit_bytes)
    sure = where(chance < SURE_CHANCE, TIGHT, FITS)
    likely = where(chance < EVEN_CHANCE, 1.0, minimum(verdict, sure) + 1.0)
    return where(verdict > OVER, likely, OVER)


def fit_probability(width: PeakWidth, total_bytes: Number, limit_bytes: Number) -> Number:
    """Return the chance that the measured peak stays below what a device has.

    Args:
        width: How measured peaks lie about predicted ones.
        total_bytes: Predicted for the fullest device.
        limit_bytes: What it has.

    References:
        derived here, `steptime.evidence.memory_widths`.
    """
    room = (limit_bytes / total_bytes - 1.0 - width.middle) / width.scale
    kept = minimum(maximum(room, -SURE), SURE)
    return 1.0 / (1.0 + exponential(-kept))


def most_bytes(width: PeakWidth, scales: Number, limit_bytes: Number) -> Number:
    """Return up to which prediction a measured peak stays below what a device has so surely.

    The inverse of `fit_probability`.

    Args:
        width: How measured peaks lie about predicted ones.
        scales: Scales of the logistic distribution that lie below the chance.
        limit_bytes: What a device has.
    """
    return limit_bytes / (1.0 + width.middle + width.scale * scales)
