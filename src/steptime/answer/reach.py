"""How far published runs reach, and what of a question lies beyond: ``data/reach.toml``."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from steptime.formulas.flops import attention_share, num_devices
from steptime.formulas.parameters import num_parameters
from steptime.inputs.assumed import Assumed
from steptime.inputs.datafiles import data_table
from steptime.inputs.job import Job
from steptime.inputs.precision import precision_named

BEYOND = "beyond the data"
MOST_ATTENTION = 0.5
"""Share of the FLOP up to which a run has a say in constants and in how wide intervals are.

Beyond, a run tells which attention kernel it took, and little else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What published runs on one generation of devices were compared with.

    Attributes:
        most_devices: The most in one run.
        most_parameters: The most of one model.
        rates: Measured 16-bit matrix rate of each device, FLOP/s.
        cells: Kinds of run, as `cell_of` words them.
    """

    most_devices: int
    most_parameters: float
    rates: tuple[float, ...]
    cells: tuple[str, ...]


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
        )
        for name, entry in data_table("reach.toml")["generations"].items()
    }


def _record(value: str, why: str, how: str = "") -> Assumed:
    return Assumed(what=BEYOND, value=value, why=why, how=how)


def _unseen(reach: Reach, matmul_flop_per_s: float, cell: str, record: Job) -> list[Assumed]:
    """Return what of a question no run on its generation of devices was like."""
    found = []
    if matmul_flop_per_s not in reach.rates:
        found.append(_record("device", "no run on this device was compared, only on its kin"))
    if cell not in reach.cells:
        found.append(_record(cell, f"no run of {cell} on its generation was compared"))
    devices, parameters = num_devices(record), num_parameters(record)
    if devices > reach.most_devices:
        most = f"no run on more than {reach.most_devices:,} devices of its generation was compared"
        found.append(_record(f"{devices:,.0f} devices", most))
    if parameters > reach.most_parameters:
        most = f"no model of over {reach.most_parameters / 1e9:,.0f}B parameters on its generation"
        found.append(_record(f"{parameters / 1e9:,.0f}B parameters", f"{most} was compared"))
    return found


def beyond(
    generation: str, matmul_flop_per_s: float, cell: str, record: Job
) -> tuple[Assumed, ...]:
    """Return a record of each thing in which a question goes beyond all published runs.

    Args:
        generation: Of the device.
        matmul_flop_per_s: Its measured matrix rate, which tells it from its kin.
        cell: From `cell_of`.
        record: The step's flat record, of floats.
    """
    reach = reaches().get(generation)
    if reach is None:
        why = f"no run on a device of generation {generation} was compared"
        found = [_record(generation, why)]
    else:
        found = _unseen(reach, matmul_flop_per_s, cell, record)
    longest = int(data_table("reach.toml")["longest_sequence"])
    if record.seq_length > longest:
        why = f"no run of sequences over {longest:,} tokens was compared"
        found.append(_record(f"{record.seq_length:,.0f} tokens", why))
    if attention_share(record) > MOST_ATTENTION:
        why = "its kernel alone can change the step twofold, and no such run counts in the interval"
        found.append(_record("mostly attention", why, "--fact kernel=NAME"))
    return tuple(found)
