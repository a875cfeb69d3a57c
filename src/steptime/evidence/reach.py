"""How far the published runs reach that predictions were compared with.

Run as a module it writes ``data/reach.toml``.
"""

from __future__ import annotations

from collections.abc import Sequence

from steptime.answer.reach import cell_of
from steptime.evidence.samples import Sample, main_samples, scored
from steptime.formulas.parameters import num_parameters
from steptime.inputs.datafiles import data_path, write_whole

REACH = "reach.toml"


def _cell(sample: Sample) -> str:
    run = sample.inputs.run
    return cell_of(run.model.experts is not None, run.layout.precision)


def _listed(values: Sequence[str]) -> str:
    return f"[{', '.join(values)}]"


def _generation(name: str, runs: Sequence[Sample]) -> list[str]:
    rates = {sample.inputs.run.accelerator.matmul_flop_per_s for sample in runs}
    return [
        "",
        f"[generations.{name}]",
        f"most_devices = {max(sample.inputs.run.layout.num_devices for sample in runs)}",
        f"most_parameters = {max(num_parameters(sample.inputs.job) for sample in runs)!r}",
        f"rates = {_listed([repr(rate) for rate in sorted(rates)])}",
        f"cells = {_listed([repr(cell) for cell in sorted(set(map(_cell, runs)))])}",
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
    lines = [
        "# How far published runs reach: on each generation the most devices of one run, the",
        "# most parameters of one model, the 16-bit matrix rates of the devices, FLOP/s, and the",
        "# kinds of run; an answer beyond says so. Made from the compared runs by",
        "# `python -m steptime.evidence.reach`; a test compares.",
        'source = "computed: the runs that predictions are compared with, published_runs.csv"',
        f"longest_sequence = {longest}",
    ]
    for name in sorted(by_generation):
        lines += _generation(name, by_generation[name])
    return "\n".join(lines) + "\n"


def compared() -> tuple[Sample, ...]:
    """Return the published runs that predictions are compared with."""
    return tuple(sample for sample in main_samples() if scored(sample))


if __name__ == "__main__":
    write_whole(data_path(REACH), reach_text(compared()))
