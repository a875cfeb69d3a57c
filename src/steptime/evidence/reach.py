"""How far the published runs reach that predictions were compared with.

Run as a module it writes ``data/reach.toml``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from steptime.answer.reach import cell_of, cuts_of
from steptime.evidence.row_network import network_gbit
from steptime.evidence.samples import Sample, main_samples, scored
from steptime.formulas.flops import layer_pace_s
from steptime.formulas.parameters import num_parameters
from steptime.inputs.datafiles import data_path, write_whole
from steptime.inputs.generation import generations
from steptime.inputs.stack import stacks

REACH = "reach.toml"


def _cell(sample: Sample) -> str:
    run = sample.inputs.run
    return cell_of(run.model.experts is not None, run.layout.precision)


def _family(sample: Sample) -> str | None:
    """Return the family of the software that a run names, None where it names none."""
    said = sample.inputs.step.said
    if said.stack is None or said.nobodys:
        return None
    return stacks()[said.stack].family if said.exact else said.stack


def _network(sample: Sample) -> float | None:
    """Return the Gb/s of a device that a run of several servers states."""
    run = sample.inputs.run
    if run.layout.num_devices <= run.accelerator.nvlink_domain:
        return None
    device = run.accelerator
    return network_gbit(run.row.network, device.node_size or device.nvlink_domain)


def _seen(found: Iterable[Any]) -> str:
    """Return the values that runs state, each once, in order."""
    return _listed([repr(value) for value in sorted({one for one in found if one is not None})])


def _families(runs: Sequence[Sample]) -> list[str]:
    """Return a line for each family that runs name: the sizes that one of them had over 1."""
    cuts: dict[str, set[str]] = {}
    for sample in runs:
        layout, family = sample.inputs.run.layout, _family(sample)
        if family is not None:
            cuts.setdefault(family, set()).update(cuts_of(layout))
    return [f"{name} = {_seen(cuts[name])}" for name in sorted(cuts)]


def _listed(values: Sequence[str]) -> str:
    return f"[{', '.join(values)}]"


def _generation(name: str, runs: Sequence[Sample]) -> list[str]:
    rates = {sample.inputs.run.accelerator.matmul_flop_per_s for sample in runs}
    dates = sorted(sample.inputs.step.said.date or "" for sample in runs)
    dates = [date for date in dates if date] or [generations()[name].usual_date]
    return [
        "",
        f"[generations.{name}]",
        f"most_devices = {max(sample.inputs.run.layout.num_devices for sample in runs)}",
        f"most_parameters = {max(num_parameters(sample.inputs.job) for sample in runs)!r}",
        f"rates = {_listed([repr(rate) for rate in sorted(rates)])}",
        f"cells = {_seen(map(_cell, runs))}",
        f"networks_gbit = {_seen(map(_network, runs))}",
        f"dates = {_listed([repr(dates[0]), repr(dates[-1])])}",
    ]


def reach_text(runs: Sequence[Sample]) -> str:
    """Return ``data/reach.toml`` as runs make it.

    Args:
        runs: Those that predictions were compared with.
    """
    by_generation: dict[str, list[Sample]] = {}
    for sample in runs:
        by_generation.setdefault(sample.inputs.run.accelerator.generation, []).append(sample)
    longest = max(sample.inputs.run.batch.seq_length for sample in runs)
    shortest = min(float(layer_pace_s(sample.inputs.job, sample.step_time_s)) for sample in runs)
    lines = [
        "# How far published runs reach: on each generation the most devices of one run, the",
        "# most parameters of one model, the 16-bit matrix rates of the devices, FLOP/s, and the",
        "# kinds of run; an answer beyond says so. What runs name of software and network, and the",
        "# first and last month, are what is tried where a question leaves them open; `families`",
        "# has the sizes over 1 that runs of each had; `shortest_layer_s` is the least that a step",
        "# took a layer and micro-batch of a rank. Made from the compared runs by",
        "# `python -m steptime.evidence.reach`; a test compares.",
        'source = "computed: the runs that predictions are compared with, published_runs.csv"',
        f"longest_sequence = {longest}",
        f"shortest_layer_s = {shortest:.6g}",
        f"schedules = {_seen(sample.inputs.run.layout.schedule for sample in runs)}",
    ]
    lines += ["", "[families]", *_families(runs)]
    for name in sorted(by_generation):
        lines += _generation(name, by_generation[name])
    return "\n".join(lines) + "\n"


def compared() -> tuple[Sample, ...]:
    """Return the published runs that predictions are compared with."""
    return tuple(sample for sample in main_samples() if scored(sample))


if __name__ == "__main__":
    write_whole(data_path(REACH), reach_text(compared()))
