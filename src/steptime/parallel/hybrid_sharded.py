"""Hybrid sharding (HSDP): weights or states sharded inside a copy, summed up over the copies."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

from steptime.formulas.messages import hybrid as messages
from steptime.inputs.errors import ConfigError, check_count
from steptime.parallel import devices
from steptime.parallel.data import SPLIT, accumulated, alone, block, update_shard
from steptime.parallel.program import Arrays, Program
from steptime.parallel.sizes import checked, divides
from steptime.parallel.tensor import VALUE_BYTES, random_inputs
from steptime.parallel.training import State, Training, fresh_state, state_specs

BOTH = ("copies", "dp")
BATCH = P(None, BOTH)


def _check(data_parallel_size: int, copies: int, weights: int) -> int:
    """Return the ranks of a copy.

    Raises:
        ConfigError: If the copies do not divide the ranks, or these a layer's weights.
    """
    if data_parallel_size % copies:
        raise ConfigError(
            f"copies={copies} does not divide data_parallel_size={data_parallel_size}"
        )
    sharing = data_parallel_size // copies
    divides("data_parallel_size / copies", sharing, "weights of a layer", weights)
    return sharing


@checked
def training(
    *,
    data_parallel_size: int,
    copies: int,
    num_layers: int,
    hidden_size: int,
    num_microbatches: int,
    micro_batch_size: int = 2,
    num_steps: int = 3,
) -> Training:
    """Return a few steps of training with optimizer states sharded inside each copy.

    Args:
        data_parallel_size: Devices, d.
        copies: Groups that each hold all states among them, r.
        num_layers: Blocks, l.
        hidden_size: Width of the residual stream, h; a block has 8 h² weights.
        num_microbatches: Micro-batches of each device per step, m.
        micro_batch_size: Rows in each.
        num_steps: Steps to take.

    Raises:
        ConfigError: If the sizes do not divide.

    References:
        zhao2023, Sec. 3.2.2; megatronlm2026, --num-distributed-optimizer-instances.
    """
    check_count("num_microbatches", num_microbatches, most=64)
    check_count("num_steps", num_steps, most=1000)
    size = 8 * hidden_size**2
    sharing = _check(data_parallel_size, copies, size)
    shape = (num_microbatches, data_parallel_size * micro_batch_size, hidden_size)
    devices.start()
    generator = np.random.default_rng(0)
    start = {"layers": jnp.asarray(generator.normal(size=(num_layers, size)) / hidden_size**0.5)}
    batches = [
        {name: jnp.asarray(generator.normal(size=shape)) for name in ("x", "y")}
        for _ in range(num_steps)
    ]
    scale = 1.0 / float(np.prod(shape))
    return Training(
        name="HSDP, optimizer states",
        mesh=devices.mesh(copies=copies, dp=sharing),
        step=lambda state, batch: _step(state, batch, scale),
        state_specs=state_specs({"layers": P()}, {"layers": SPLIT}),
        batch_specs={"x": BATCH, "y": BATCH},
        loss_spec=P(BOTH),
        reference=lambda state, batch: alone(state, batch, scale),
        state=fresh_state(start),
        batches=batches,
        traffic=messages.hybrid_1(float(num_layers * size), float(sharing), VALUE_BYTES),
        facts={"num_parameters": num_layers * size, "sharing": sharing},
    )


def _step(state: State, batch: Arrays, scale: float) -> tuple[State, jax.Array]:
    own = jax.lax.pcast(state["weights"]["layers"], BOTH, to="varying")
    value, slope = accumulated(batch, scale, own, lambda x, row, _: block(x, row))
    with jax.named_scope("gradients"):
        shard = jax.lax.psum_scatter(slope, "dp", scatter_dimension=1, tiled=True)
        shard = jax.lax.psum(shard, "copies")
    return update_shard(state, shard), value


@checked
def blocks(
    *,
    data_parallel_size: int,
    copies: int,
    num_layers: int,
    hidden_size: int,
    rows_per_device: int = 2,
) -> Program:
    """Return a stack of residual blocks with weights sharded inside each copy, one micro-batch.

    Args:
        data_parallel_size: Devices, d.
        copies: Groups that each hold all weights among them, r.
        num_layers: Blocks, l.
        hidden_size: Width of the residual stream, h; a block has 8 h² weights.
        rows_per_device: Rows of the batch on each device.

    Raises:
        ConfigError: If the sizes do not divide.

    References:
        zhao2023, Sec. 3.2.2.
    """
    size = 8 * hidden_size**2
    sharing = _check(data_parallel_size, copies, size)
    names = [f"layer_{number}" for number in range(num_layers)]

    @jax.checkpoint
    def gathered(x: jax.Array, shard: jax.Array) -> jax.Array:
        # Told apart before it is gathered: then its gradient is scattered first, summed after.
        own = jax.lax.pcast(shard, "copies", to="varying")
        return block(x, jax.lax.all_gather(own, "dp", axis=0, tiled=True))

    def local(given: Arrays) -> jax.Array:
        x = given["x"]
        for name in names:
            x = gathered(x, given[name])
        return x

    def reference(given: Arrays) -> jax.Array:
        x = given["x"]
        for name in names:
            x = block(x, given[name])
        return x

    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(names, (size,))
    count = float(num_layers * size)
    return Program(
        name="HSDP, weights, one micro-batch",
        mesh=devices.mesh(copies=copies, dp=sharing),
        local=local,
        specs=dict.fromkeys(names, P("dp")) | {"x": P(BOTH)},
        out_spec=P(BOTH),
        reference=reference,
        inputs=random_inputs(shapes | {"x": (data_parallel_size * rows_per_device, hidden_size)}),
        traffic=messages.hybrid_3(count, float(num_layers), 1.0, float(sharing), VALUE_BYTES),
    )
