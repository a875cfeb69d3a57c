"""How far published runs reach, and what of a question lies beyond: ``data/reach.toml``."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from steptime.formulas.flops import (
    attention_share,
    layer_pace_s,
    num_devices,
)
from steptime.formulas.parameters import num_parameters
from steptime.inputs.assumed import Assumed
from steptime.inputs.datafiles import data_table
from steptime.inputs.job import Job
from steptime.inputs.layout import Layout
from steptime.inputs.precision import precision_named

BEYOND = "beyond the data"
MOST_ATTENTION = 0.5
"""Share of the FLOP up to which a run has a say in constants and in how wide intervals are.

Beyond, a run tells which attention kernel it took, and little else."""

UNSEEN_DEVICE = "no run on this device was compared, only on its kin"
UNSEEN_CELL = "no run of {cell} on its generation was compared"
MORE_DEVICES = "no run on more than {most:,} devices of its generation was compared"
MORE_PARAMETERS = "no model of over {most:,.0f}B parameters on its generation was compared"
NO_GENERATION = "no run on a device of generation {generation} was compared"
NO_KIN = "no run on this device was compared, nor on any of its kin"
LONGER = "no run of sequences over {most:,} tokens was compared"
MOSTLY_ATTENTION = (
    "its kernel alone can change the step twofold, and no such run counts in the interval"
)
SHORTER = (
    "no run under {least:.2f} ms a layer and micro-batch was compared: hosts may launch it more "
    "slowly than devices work, and take several times as long, which no interval counts"
)
LATER = "no run after {last}{where} was compared"
EARLIER = "no run before {first}{where} was compared"
"""The layout page says the same sentences."""
HOW_SHORTER = "--fact host_layer_s=SECONDS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What published runs on one generation of devices were compared with.

    Attributes:
        most_devices: The most in one run.
        most_parameters: The most of one model.
        rates: Measured 16-bit matrix rate of each device, FLOP/s.
        cells: Kinds of run, as `cell_of` words them.
        networks_gbit: Gb/s of a device's share of the network that they state.
        dates: First and last month.
    """

    most_devices: int
    most_parameters: float
    rates: tuple[float, ...]
    cells: tuple[str, ...]
    networks_gbit: tuple[float, ...]
    dates: tuple[str, str]


def cell_of(experts: bool, precision: str) -> str:
    """Return in words what kind of model was run in how many bits.

    Args:
        experts: Whether the model has experts.
        precision: Of the products.
    """
    return f"{'experts' if experts else 'dense models'} in {precision_named(precision).bits} bits"


@functools.cache
def reaches() -> Mapping[str, Reach]:
    """Return how far runs reach on each generation that has any."""
    return {
        name: Reach(
            most_devices=int(entry["most_devices"]),
            most_parameters=float(entry["most_parameters"]),
            rates=tuple(map(float, entry["rates"])),
            cells=tuple(entry["cells"]),
            networks_gbit=tuple(map(float, entry["networks_gbit"])),
            dates=(str(entry["dates"][0]), str(entry["dates"][1])),
        )
        for name, entry in data_table("reach.toml")["generations"].items()
    }


def cuts_of(layout: Layout) -> tuple[str, ...]:
    """Return the sizes of a layout, but for data parallelism, that are over 1.

    Args:
        layout: How a step is cut.
    """
    return tuple(name for name in ("tp", "pp", "cp", "ep") if getattr(layout, name) > 1)


def families_seen(layout: Layout) -> tuple[str, ...]:
    """Return the families of software of which compared runs were cut like a layout.

    Args:
        layout: Its sizes over 1 must have been over 1 in a run of the family.
    """
    seen = data_table("reach.toml")["families"]
    return tuple(name for name, cuts in seen.items() if set(cuts_of(layout)) <= set(cuts))


def schedules_seen() -> tuple[str, ...]:
    """Return the schedules that compared runs ran."""
    return tuple(data_table("reach.toml")["schedules"])


def networks_seen(generation: str, own_gbit: float) -> tuple[float, ...]:
    """Return the networks of compared runs that a device may have, Gb/s of its share.

    Args:
        generation: Of the device; runs on it may have had more than its row says.
        own_gbit: As its row says.
    """
    every = reaches()
    known = every[generation].networks_gbit if generation in every else ()
    most = max(own_gbit, *known, 0.0)
    seen = {share for reach in every.values() for share in reach.networks_gbit}
    return tuple(sorted(share for share in seen if share <= most))


def dates_seen(generation: str) -> tuple[str, str]:
    """Return the first and the last month of the runs on a generation; of all where it has none.

    Args:
        generation: Of the device.
    """
    every = reaches()
    chosen = [every[generation]] if generation in every else list(every.values())
    return min(one.dates[0] for one in chosen), max(one.dates[1] for one in chosen)


def dates_told(generation: str) -> tuple[str, str]:
    """Return what is said of a date before, and of one after, the runs on a generation.

    Args:
        generation: Of the device; all runs count where it has none.
    """
    first, last = dates_seen(generation)
    where = " on its generation" if generation in reaches() else ""
    return EARLIER.format(first=first, where=where), LATER.format(last=last, where=where)


def longest_seen() -> int:
    """Return the tokens of the longest sequence of a compared run."""
    return int(data_table("reach.toml")["longest_sequence"])


def shortest_seen_s() -> float:
    """Return the least time of a step a layer and micro-batch of a rank, of all compared runs."""
    return float(data_table("reach.toml")["shortest_layer_s"])


def _record(value: str, why: str, how: str = "") -> Assumed:
    return Assumed(what=BEYOND, value=value, why=why, how=how)


def _unseen(reach: Reach, matmul_flop_per_s: float, cell: str, record: Job) -> list[Assumed]:
    """Return what of a question no run on its generation of devices was like."""
    found = []
    if matmul_flop_per_s not in reach.rates:
        found.append(_record("device", UNSEEN_DEVICE))
    if cell not in reach.cells:
        found.append(_record(cell, UNSEEN_CELL.format(cell=cell)))
    devices, parameters = num_devices(record), num_parameters(record)
    if devices > reach.most_devices:
        most = MORE_DEVICES.format(most=reach.most_devices)
        found.append(_record(f"{devices:,.0f} devices", most))
    if parameters > reach.most_parameters:
        most = MORE_PARAMETERS.format(most=reach.most_parameters / 1e9)
        found.append(_record(f"{parameters / 1e9:,.0f}B parameters", most))
    return found


def _past(generation: str, date: str) -> list[Assumed]:
    """Return a record of a stated month that no run on such devices is as early or late as."""
    (first, last), (early, late) = dates_seen(generation), dates_told(generation)
    if first <= date <= last:
        return []
    return [_record(date, early if date < first else late)]


def beyond(
    generation: str,
    matmul_flop_per_s: float,
    cell: str,
    record: Job,
    step_time_s: float,
    date: str | None = None,
) -> tuple[Assumed, ...]:
    """Return a record of each thing in which a question goes beyond all published runs.

    Args:
        generation: Of the device.
        matmul_flop_per_s: Its measured matrix rate, which tells it from its kin.
        cell: From `cell_of`.
        record: The step's flat record, of floats.
        step_time_s: As predicted.
        date: Month of the software, where it is stated.
    """
    reach = reaches().get(generation)
    if reach is None:
        # A device that somebody measured may say no generation.
        why = NO_GENERATION.format(generation=generation) if generation else NO_KIN
        found = [_record(generation or "this device", why)]
    else:
        found = _unseen(reach, matmul_flop_per_s, cell, record)
    found += _past(generation, date) if date else []
    longest = longest_seen()
    if record.seq_length > longest:
        why = LONGER.format(most=longest)
        found.append(_record(f"{record.seq_length:,.0f} tokens", why))
    pace_s, least_s = float(layer_pace_s(record, step_time_s)), shortest_seen_s()
    if pace_s < least_s:
        told = f"{1e3 * pace_s:.2f} ms a layer and micro-batch"
        found.append(_record(told, SHORTER.format(least=1e3 * least_s), HOW_SHORTER))
    if attention_share(record) > MOST_ATTENTION:
        found.append(_record("mostly attention", MOSTLY_ATTENTION, "--fact kernel=NAME"))
    return tuple(found)
