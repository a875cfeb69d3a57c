"""What each effect in the roofline model buys: taken out, and all constants fitted again."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from steptime.evidence.calibration import STAGES, fit_stage, start
from steptime.evidence.residuals import DENSE
from steptime.evidence.samples import Table, all_runs, scored
from steptime.inputs.constants import WIDE, RooflineConstants
from steptime.inputs.generation import generations

Change = Callable[[Table], Table]


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect, and how to do without it.

    Attributes:
        name: What it is.
        without: Constants that switch it off; they are not fitted then.
        change: What becomes of the runs' records, None where nothing does.
    """

    name: str
    without: dict[str, float]
    change: Change | None = None


def _with(stacks: dict[str, float] | None = None, jobs: dict[str, float] | None = None) -> Change:
    def change(runs: Table) -> Table:
        facts, records = copy.copy(runs.stacks), copy.copy(runs.jobs)
        for record, fields in ((facts, stacks or {}), (records, jobs or {})):
            for name, value in fields.items():
                setattr(record, name, getattr(record, name) * 0.0 + value)
        return Table(runs.samples, records, facts, runs.step_time_s, runs.cells)

    return change


def of_one_generation(runs: Table) -> Table:
    """Return the runs as if all devices were of the first generation, in its bits.

    Args:
        runs: Published runs.
    """
    first = next(iter(generations())), WIDE
    return Table(
        runs.samples, runs.jobs, runs.stacks, runs.step_time_s, (first,) * len(runs.samples)
    )


_NO_SCORES = {"flash": 1.0, "attention_flop_per_s": 1e30}
_NO_WAITS = {"host_layer_s": 0.0, "stage_wait_s": 0.0, "across_wait_s": 0.0}
_FAST_LINKS = {"nvlink_bytes_per_s": 1e30, "network_bytes_per_s": 1e30}
EFFECTS = (
    Effect("attention core", {}, _with(stacks=_NO_SCORES)),
    Effect("stored scores before flash kernels", {}, _with(stacks={"flash": 1.0})),
    Effect("bytes on links", {}, _with(jobs=_FAST_LINKS)),
    Effect("tensor-parallel messages in the open", {}, _with(stacks={"overlap_tp": 1.0})),
    Effect("a rate for each generation", {}, of_one_generation),
    Effect("kernels that nothing fuses", {}, _with(stacks={"eager": 0.0})),
    Effect("logits and their loss", {}, _with(jobs={"vocab_size": 1.0})),
    Effect("losses that nothing fuses", {}, _with(stacks={"loss_bytes": 14.0})),
    Effect(
        "stages cut as each software does",
        {},
        _with(stacks={"balance_by_cost": 0.0, "edges_count": 0.0}),
    ),
    Effect("real interleaving", {}, _with(jobs={"vpp": 1.0})),
    Effect("sends between stages in the open", {}, _with(stacks={"overlap_sends": 1.0})),
    Effect("whole sends where nothing scatters", {}, _with(stacks={"scattered_sends": 1.0})),
    Effect("backward messages that overlap", {}, _with(stacks={"overlap_tp_backward": 0.0})),
    Effect("gradients that do not overlap", {}, _with(stacks={"overlap_dp": 1.0})),
    Effect("what hidden messages cost all the same", {"contention": 0.0}),
    Effect("floors of host and messages", {}, _with(stacks=_NO_WAITS)),
    Effect("gradient accumulation", {}, _with(stacks={"fused_accumulation": 1.0})),
    Effect("last rounds of products", {}, _with(jobs={"num_sms": 0.0})),
    Effect("tied embeddings over the pipeline", {}, _with(jobs={"tied": 0.0})),
    Effect("time to start a collective, and hops", {"hop_s": 0.0}),
    Effect("recomputation that stops early", {}, _with(stacks={"early_stop": 0.0})),
    Effect("parts that draw less power", {}, _with(stacks={"power_scale": 1.0})),
)


@dataclass(frozen=True, slots=True)
class Ablation:
    """Errors of a fit without one effect.

    Attributes:
        name: The effect; empty for the whole model.
        mean: Mean error over sources, each counting the same.
        worst: The source that loses most, empty for the whole model.
        worst_mean: Its mean error without the effect.
        worst_before: Its mean error with it.
    """

    name: str
    mean: float
    worst: str
    worst_mean: float
    worst_before: float


def _by_source(runs: Table, constants: RooflineConstants) -> dict[str, float]:
    import numpy as np

    errors = np.abs(runs.errors(constants))
    sources = runs.column(lambda sample: sample.source)
    counted = runs.column(scored)
    return {
        str(name): float(errors[(sources == name) & counted].mean())
        for name in np.unique(sources[counted])
    }


def ablations(runs: Table) -> tuple[Ablation, ...]:
    """Return the errors of dense 16-bit runs with each effect taken out, the whole model first.

    These are errors of the fit itself, not left-out ones: they rank effects by what the rest
    of the model cannot make up for.

    Args:
        runs: Every run; others than dense 16-bit ones are left aside.
    """
    import numpy as np

    from steptime.evidence.calibration import subset

    kinds = runs.column(lambda sample: sample.kind)
    dense = subset(runs, kinds == DENSE)
    used = dense.column(lambda sample: sample.fitted_to)
    names = STAGES[0].names

    def fitted(effect: Effect) -> dict[str, float]:
        table: Any = effect.change(dense) if effect.change else dense
        first = start().changed(effect.without)
        free = [name for name in names if name not in effect.without]
        return _by_source(table, fit_stage(table, used, free, first))

    whole = fitted(Effect("", {}))
    mean = float(np.mean(list(whole.values())))
    found = [Ablation("", mean, "", mean, mean)]
    for effect in EFFECTS:
        without = fitted(effect)
        worst = max(without, key=lambda name: without[name] - whole[name])
        found.append(
            Ablation(
                effect.name,
                float(np.mean(list(without.values()))),
                worst,
                without[worst],
                whole[worst],
            )
        )
    return (found[0], *sorted(found[1:], key=lambda one: -one.mean))


def most_valuable(count: int) -> tuple[Ablation, ...]:
    """Return the whole model and the effects that buy most.

    Args:
        count: How many effects.
    """
    return ablations(all_runs())[: count + 1]
