"""A split computation beside the same one on a single device, and what both give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from steptime.formulas.records import Message
from steptime.parallel import devices, hlo

Arrays: TypeAlias = Mapping[str, jax.Array]
Records: TypeAlias = list[Message]

QUICK: dict[str, str | bool] = {"xla_backend_optimization_level": "0"}
"""Machine code in a hurry: half the compile time. XLA's own passes, those that make, merge and
drop collectives, all run before that and are not touched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One parallelism, ready to run.

    Attributes:
        name: What it is.
        mesh: Devices, with named axes.
        local: What each device does with its slices, collectives included.
        specs: How each input is cut over the mesh.
        out_spec: How the output is cut.
        reference: The same result on one device, written without any split.
        inputs: Whole arrays by name; those of a floating type get gradients.
        traffic: What the formulas say it sends (see `steptime.formulas.traffic`).
        axes: Mesh axes behind each axis name in ``traffic``, where these differ.
        facts: What else a study may want to know of it.
    """

    name: str
    mesh: Mesh
    local: Callable[[Arrays], jax.Array]
    specs: Mapping[str, PartitionSpec]
    out_spec: PartitionSpec
    reference: Callable[[Arrays], jax.Array]
    inputs: Arrays
    traffic: Records
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a program gave, beside one device.

    Attributes:
        forward_error: Largest difference of the outputs, over the largest output.
        loss_error: Relative difference of a loss made from the output.
        gradient_errors: As ``forward_error``, for the gradient of each input.
        collectives: Of the forward and of the backward, as the compiler emitted them.
        saved_bytes: What one device keeps from the forward for the backward, by the
            compiler's own account: the forward's outputs less its result.
        peak_bytes: Largest of arguments + results + work space of the two programs.
    """

    forward_error: float
    loss_error: float
    gradient_errors: Mapping[str, float]
    collectives: Mapping[str, list[hlo.Collective]]
    saved_bytes: int
    peak_bytes: int

    @property
    def worst_error(self) -> float:
        """Largest of all errors."""
        return max(self.forward_error, self.loss_error, *self.gradient_errors.values())


def relative_error(got: Any, wanted: Any) -> float:
    """Return the largest difference of two arrays over the largest entry of the second."""
    scale = float(np.max(np.abs(wanted))) if np.size(wanted) else 0.0
    gap = float(np.max(np.abs(np.asarray(got) - np.asarray(wanted)))) if np.size(wanted) else 0.0
    return gap / scale if scale else gap


def run(program: Program, *, annotations_only: bool = False) -> Run:
    """Compile and run a program, forward and backward apart, and compare it with one device.

    The two passes are compiled as two programs, so that neither can hide a collective
    in the other. The loss is a fixed random average of the output.

    Args:
        program: What to run.
        annotations_only: Whether to compile the unsplit reference, with nothing but the
            cut of its inputs and outputs given, and leave the rest to the compiler.
    """
    split = program.reference if annotations_only else shard(program)
    inputs, places = placed(program)
    out = NamedSharding(program.mesh, program.out_spec)
    forward = _compiled_forward(program, split, inputs)
    output, saved = forward(inputs)
    probe = _probe(output)
    slope = devices.place(probe, out)
    kinds = {name: places[name] for name in inputs if _is_float(inputs[name])}
    backward = (
        jax.jit(lambda kept, given: kept(given)[0], out_shardings=kinds)
        .lower(saved, slope)
        .compile(QUICK)
    )
    gradients = backward(saved, slope)

    whole = (dict(program.inputs), probe)
    alone = jax.jit(lambda given, slope: _both(program.reference, given, slope)).lower(*whole)
    wanted, wanted_gradients = alone.compile(QUICK)(*whole)
    result = devices.whole(output)
    loss, wanted_loss = (float(np.sum(np.asarray(y) * probe)) for y in (result, wanted))
    return Run(
        forward_error=relative_error(result, wanted),
        loss_error=relative_error(loss, wanted_loss),
        gradient_errors={
            name: relative_error(devices.whole(slope), wanted_gradients[name])
            for name, slope in gradients.items()
        },
        collectives={
            "forward": hlo.collectives(forward.as_text() or ""),
            "backward": hlo.collectives(backward.as_text() or ""),
        },
        saved_bytes=_saved_bytes(forward, output, saved, output.sharding),
        peak_bytes=max(_peak_bytes(forward), _peak_bytes(backward)),
    )


def saved_bytes(program: Program) -> int:
    """Return what one device keeps from the forward for the backward, weights among it.

    By the compiler's own account of the forward program: its outputs less its result.

    Args:
        program: What to compile; it is not run.
    """
    inputs, _ = placed(program)
    split = shard(program)
    output, saved = jax.eval_shape(lambda given: _with_backward(split, given), inputs)
    compiled = _compiled_forward(program, split, inputs)
    return _saved_bytes(compiled, output, saved, NamedSharding(program.mesh, program.out_spec))


def placed(program: Program) -> tuple[dict[str, jax.Array], dict[str, NamedSharding]]:
    """Return the inputs on their devices, and how each is cut."""
    places = {name: NamedSharding(program.mesh, spec) for name, spec in program.specs.items()}
    inputs = {name: devices.place(value, places[name]) for name, value in program.inputs.items()}
    return inputs, places


def _compiled_forward(
    program: Program, split: Callable[[Arrays], jax.Array], inputs: dict[str, jax.Array]
) -> Any:
    out = NamedSharding(program.mesh, program.out_spec)
    forward = jax.jit(lambda given: _with_backward(split, given), out_shardings=(out, None))
    return forward.lower(inputs).compile(QUICK)


def shard(program: Program) -> Callable[[Arrays], jax.Array]:
    """Return the split computation as one function of whole arrays."""
    return jax.shard_map(
        program.local,
        mesh=program.mesh,
        in_specs=(dict(program.specs),),
        out_specs=program.out_spec,
    )


def _is_float(value: jax.Array) -> bool:
    return bool(jnp.issubdtype(value.dtype, jnp.floating))


def _with_backward(function: Callable[[Arrays], jax.Array], given: Arrays) -> Any:
    floats = {name: value for name, value in given.items() if _is_float(value)}
    return jax.vjp(lambda varied: function({**given, **varied}), floats)


def _both(function: Callable[[Arrays], jax.Array], given: Arrays, slope: Any) -> Any:
    output, backward = _with_backward(function, given)
    return output, backward(slope)[0]


def _probe(output: jax.Array) -> Any:
    generator = np.random.default_rng(0)
    return generator.uniform(0.5, 1.5, output.shape) / max(1, output.size)


def _saved_bytes(forward: Any, output: Any, saved: Any, place: Any) -> int:
    num_results = len(jax.tree.leaves(saved)) + 1
    result = int(np.prod(place.shard_shape(output.shape)) * output.dtype.itemsize)
    # A program with several results also hands out a table of pointers to them.
    pointers = 8 * num_results if num_results > 1 else 0
    return int(forward.memory_analysis().output_size_in_bytes) - result - pointers


def _peak_bytes(compiled: Any) -> int:
    stats = compiled.memory_analysis()
    return int(stats.argument_size_in_bytes + stats.output_size_in_bytes + stats.temp_size_in_bytes)
