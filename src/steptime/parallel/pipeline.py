"""Pipeline parallelism: GPipe over point-to-point sends.

One program runs on every stage. In slot k, stage i works on micro-batch k - i; where
there is none it works on zeros, which is the bubble. Only stages that have something to
pass on send. The backward is the mirror image, made by differentiation.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

from steptime.formulas.messages import pipeline as messages
from steptime.inputs.errors import check_count
from steptime.parallel import devices
from steptime.parallel.data import block
from steptime.parallel.program import Arrays, Program
from steptime.parallel.sizes import checked, divides
from steptime.parallel.tensor import VALUE_BYTES, random_inputs


def gpipe(
    micro_batches: jax.Array,
    stage: Callable[[jax.Array], jax.Array],
    axis: str,
    num_stages: int,
) -> jax.Array:
    """Return the last stage's results for all micro-batches; zeros on the other stages.

    Args:
        micro_batches: What the first stage starts from, shape ``(m, ...)``.
        stage: This device's layers.
        axis: Mesh axis of the stages.
        num_stages: Stages, p.
    """
    place = jax.lax.axis_index(axis)
    arriving = jnp.zeros_like(micro_batches[0])
    results = []
    for slot in range(len(micro_batches) + num_stages - 1):
        first = micro_batches[min(slot, len(micro_batches) - 1)]
        out = stage(jnp.where(place == 0, first, arriving))
        if slot >= num_stages - 1:
            results.append(out)
        pairs = sending(slot, len(micro_batches), num_stages)
        if pairs:
            arriving = jax.lax.ppermute(out, axis, pairs)
    last = place == num_stages - 1
    return jnp.where(last, jnp.stack(results), 0.0)


def sending(slot: int, num_microbatches: int, num_stages: int) -> list[tuple[int, int]]:
    """Return which stages pass a micro-batch on at the end of a slot, and to which.

    Args:
        slot: Number of the slot, from 0.
        num_microbatches: Micro-batches, m.
        num_stages: Stages, p.
    """
    return [
        (stage, stage + 1)
        for stage in range(num_stages - 1)
        if 0 <= slot - stage < num_microbatches
    ]


@checked
def blocks(
    *,
    pipeline_parallel_size: int,
    num_layers: int,
    hidden_size: int,
    num_microbatches: int,
    micro_batch_size: int = 1,
    seq_length: int = 2,
) -> Program:
    """Return a stack of residual blocks, cut into stages.

    Args:
        pipeline_parallel_size: Stages, p; they must divide the blocks.
        num_layers: Blocks, l.
        hidden_size: Width of the residual stream, h.
        num_microbatches: Micro-batches, m.
        micro_batch_size: Sequences in each, b.
        seq_length: Tokens of each, s.

    Raises:
        ConfigError: If p does not divide l.

    References:
        huang2019, Sec. 2.3.
    """
    p = pipeline_parallel_size
    per_stage = divides("pipeline_parallel_size", p, "num_layers", num_layers)
    check_count("num_microbatches", num_microbatches, most=256)

    def through(x: jax.Array, layers: jax.Array) -> jax.Array:
        for weights in layers:
            x = block(x, weights)
        return x

    def local(given: Arrays) -> jax.Array:
        layers = given["layers"]
        return gpipe(given["x"][0], lambda one: through(one, layers), "pp", p)[None]

    def reference(given: Arrays) -> jax.Array:
        done = jnp.stack([through(one, given["layers"]) for one in given["x"][0]])
        return jnp.concatenate([jnp.zeros((p - 1, *done.shape)), done[None]])

    sizes = (float(micro_batch_size), float(seq_length), float(hidden_size), VALUE_BYTES)
    inputs = random_inputs(
        {
            # A place on every stage; only the first one's is used.
            "x": (p, num_microbatches, micro_batch_size, seq_length, hidden_size),
            "layers": (num_layers, 8 * hidden_size**2),
        }
    )
    return Program(
        name=f"GPipe, {p} stages of {per_stage}",
        mesh=devices.mesh(pp=p),
        local=local,
        specs={"x": P("pp"), "layers": P("pp")},
        out_spec=P("pp"),
        reference=reference,
        inputs=inputs,
        traffic=messages.stage_sends(float(num_microbatches), *sizes),
    )
