"""Training steps: a split one beside the same on one device, over several steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from steptime.parallel import devices, hlo
from steptime.parallel.program import QUICK, Arrays, Records, relative_error

State: TypeAlias = dict[str, Any]
Step: TypeAlias = Callable[[State, Arrays], tuple[State, jax.Array]]

RATE, DECAY, DECAY_SQUARE, TINY = 1e-2, 0.9, 0.95, 1e-8


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """One way to train, ready to run.

    Attributes:
        name: What it is.
        mesh: Devices, with named axes.
        step: What each device does in a step: its slices of state and batch in, its new
            slices out, and its part of the loss.
        state_specs: How weights, moments and step count are cut; same tree as ``state``.
        batch_specs: How a batch is cut.
        loss_spec: How the parts of the loss are laid out; their sum is the loss.
        reference: The same step on one device, written without any split.
        state: To start from.
        batches: One a step.
        traffic: What the formulas say a step sends.
        axes: Mesh axes behind each axis name in ``traffic``, where these differ.
        facts: What else a study may want to know of it.
    """

    name: str
    mesh: Mesh
    step: Step
    state_specs: State
    batch_specs: Mapping[str, PartitionSpec]
    loss_spec: PartitionSpec
    reference: Step
    state: State
    batches: Sequence[Arrays]
    traffic: Records
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRun:
    """What a training gave, beside one device.

    Attributes:
        losses: Of each step.
        loss_error: Largest relative difference of a loss.
        weight_errors: Of each array of weights after the last step.
        collectives: By phase, as the compiler emitted them for one step.
        state_bytes: Weights and moments that one device keeps between steps, by the
            compiler's account: the step's arguments less the batch.
    """

    losses: Sequence[float]
    loss_error: float
    weight_errors: Mapping[str, float]
    collectives: Mapping[str, list[hlo.Collective]]
    state_bytes: int

    @property
    def worst_error(self) -> float:
        """Largest of all errors."""
        return max(self.loss_error, *self.weight_errors.values())


def train(training: Training) -> TrainingRun:
    """Compile one step, take all steps, and compare them with one device's.

    Args:
        training: What to run.
    """
    places = jax.tree.map(lambda spec: NamedSharding(training.mesh, spec), training.state_specs)
    feeds = {n: NamedSharding(training.mesh, s) for n, s in training.batch_specs.items()}
    split = jax.shard_map(
        training.step,
        mesh=training.mesh,
        in_specs=(training.state_specs, dict(training.batch_specs)),
        out_specs=(training.state_specs, training.loss_spec),
    )
    state = jax.tree.map(devices.place, training.state, places)
    batches = [{n: devices.place(b[n], feeds[n]) for n in b} for b in training.batches]
    compiled = jax.jit(split).lower(state, batches[0]).compile(QUICK)
    whole_step = jax.jit(training.reference)
    alone = whole_step.lower(training.state, dict(training.batches[0])).compile(QUICK)

    losses, wanted_losses, wanted = [], [], training.state
    for batch, whole in zip(batches, training.batches, strict=True):
        state, part = compiled(state, batch)
        wanted, wanted_part = alone(wanted, dict(whole))
        losses.append(float(np.sum(devices.whole(part))))
        wanted_losses.append(float(np.sum(np.asarray(wanted_part))))
    return TrainingRun(
        losses=losses,
        loss_error=relative_error(losses, wanted_losses),
        weight_errors={
            name: relative_error(devices.whole(state["weights"][name]), wanted["weights"][name])
            for name in wanted["weights"]
        },
        collectives=by_phase(hlo.collectives(compiled.as_text() or "")),
        state_bytes=_argument_bytes(compiled) - sum(_local_bytes(v) for v in batches[0].values()),
    )


def by_phase(emitted: Sequence[hlo.Collective]) -> dict[str, list[hlo.Collective]]:
    """Return collectives of one program sorted into forward, backward and update.

    A merged one is taken apart: a late forward array may travel with the backward's.
    """
    phases: dict[str, list[hlo.Collective]] = {"forward": [], "backward": [], "update": []}
    for one in emitted:
        for size, name in zip(one.part_bytes, one.part_names, strict=True):
            part = replace(one, part_bytes=(size,), part_names=(name,))
            phases[hlo.phase(name)].append(part)
    return phases


def fresh_state(weights: Mapping[str, jax.Array]) -> State:
    """Return the state before the first step: weights, and Adam's moments at zero."""
    zeros = {name: jnp.zeros_like(value) for name, value in weights.items()}
    return {"weights": dict(weights), "mean": zeros, "square": dict(zeros), "count": jnp.zeros(())}


def state_specs(weights: Mapping[str, Any], moments: Mapping[str, Any] | None = None) -> State:
    """Return how a state is cut, given how its weights are, and its moments if otherwise."""
    cut = dict(weights if moments is None else moments)
    return {"weights": dict(weights), "mean": cut, "square": dict(cut), "count": PartitionSpec()}


def adam(state: State, weights: Arrays, gradients: Arrays) -> tuple[dict[str, jax.Array], State]:
    """Return new weights and the new state's other parts; every entry by itself.

    Args:
        state: Gives the moments and the step count.
        weights: To update; may be a shard, as long as moments and gradients are too.
        gradients: Of the loss.
    """
    count = state["count"] + 1.0
    new, mean, square = {}, {}, {}
    for name, slope in gradients.items():
        mean[name] = DECAY * state["mean"][name] + (1.0 - DECAY) * slope
        square[name] = DECAY_SQUARE * state["square"][name] + (1.0 - DECAY_SQUARE) * slope**2
        size = jnp.sqrt(square[name] / (1.0 - DECAY_SQUARE**count)) + TINY
        new[name] = weights[name] - RATE * mean[name] / (1.0 - DECAY**count) / size
    return new, {"mean": mean, "square": square, "count": count}


def _argument_bytes(compiled: Any) -> int:
    return int(compiled.memory_analysis().argument_size_in_bytes)


def _local_bytes(value: jax.Array) -> int:
    shape = value.sharding.shard_shape(value.shape)
    return int(np.prod(shape) * value.dtype.itemsize)
