"""What a step time means: rates per device, utilisation, and days for a run."""

from steptime.formulas.flops import (
    hardware_flop_per_token,
    model_flop_per_token,
    num_devices,
    tokens_per_step,
)
from steptime.formulas.number import Number
from steptime.formulas.records import Job, Outcome

SECONDS_PER_DAY = 86400.0


def model_flop_per_s(job: Job, step_s: Number) -> Number:
    """Return the rate of one device at the FLOP that the model needs.

    Args:
        step_s: Time of one step.

    References:
        korthikanti2022, Sec. 6.3.
    """
    return tokens_per_step(job) * model_flop_per_token(job) / (num_devices(job) * step_s)


def hardware_flop_per_s(job: Job, step_s: Number) -> Number:
    """Return the rate of one device at the FLOP that it executes, recomputation included.

    Args:
        step_s: Time of one step.

    References:
        narayanan2021, Sec. 5.1.
    """
    return tokens_per_step(job) * hardware_flop_per_token(job) / (num_devices(job) * step_s)


def tokens_per_s(job: Job, step_s: Number) -> Number:
    """Return the tokens that the whole job trains on in a second.

    Args:
        step_s: Time of one step.
    """
    return tokens_per_step(job) / step_s


def training_days(job: Job, step_s: Number, num_tokens: Number) -> Number:
    """Return the days that a run takes, with no stop and no restart.

    Args:
        step_s: Time of one step.
        num_tokens: Tokens of the whole run.

    References:
        narayanan2021, Sec. 5.1.
    """
    return num_tokens / tokens_per_s(job, step_s) / SECONDS_PER_DAY


def outcome(job: Job, step_s: Number, num_tokens: Number) -> Outcome:
    """Return what a step time amounts to.

    Args:
        step_s: Time of one step.
        num_tokens: Tokens of the whole run.

    Returns:
        ``mfu_fraction`` and ``hfu_fraction`` of the 16-bit peak, the two rates behind them,
        tokens a second in all and for each device, and ``days``.

    References:
        korthikanti2022, Sec. 6.3 (MFU and HFU).
    """
    useful = model_flop_per_s(job, step_s)
    executed = hardware_flop_per_s(job, step_s)
    rate = tokens_per_s(job, step_s)
    return {
        "mfu_fraction": useful / job.peak_flop_per_s,
        "hfu_fraction": executed / job.peak_flop_per_s,
        "model_flop_per_s": useful,
        "hardware_flop_per_s": executed,
        "tokens_per_s": rate,
        "device_tokens_per_s": rate / num_devices(job),
        "days": training_days(job, step_s, num_tokens),
    }
