"""Results that belong to neither model: broken rules, lines of traffic, what a time means."""

from typing import TypedDict

from steptime.formulas.number import Number


class Fault(TypedDict):
    """Number of the first broken rule, 0 if none, and the nearest value that mends it."""

    rule: Number
    nearest: Number


class MendedSizes(TypedDict):
    """Sizes near by at which a schedule can run, from `schedule_rules.mended_sizes`."""

    fewer: Number
    more: Number
    even_pp: Number
    even: Number
    least: Number


class DeviceFault(TypedDict):
    """1 if the sizes do not divide the devices, and the nearest count that they do."""

    broken: Number
    nearest: Number


class Message(TypedDict):
    """One line of a traffic table: ``count`` collectives of ``bytes`` each."""

    phase: str
    kind: str
    axis: str
    count: Number
    bytes: Number


class Outcome(TypedDict):
    """What a step time amounts to."""

    mfu_fraction: Number
    hfu_fraction: Number
    model_flop_per_s: Number
    hardware_flop_per_s: Number
    tokens_per_s: Number
    device_tokens_per_s: Number
    days: Number
