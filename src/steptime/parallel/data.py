"""Data parallelism: plain, and with optimizer states, gradients or weights sharded (ZeRO).

The model is a stack of residual feed-forward blocks, each one row of a single array of
weights, so that a shard is a slice of every row.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

from steptime.formulas.messages import data as messages
from steptime.inputs.errors import check_count
from steptime.parallel import devices
from steptime.parallel.program import Arrays
from steptime.parallel.sizes import check_room, checked, divides
from steptime.parallel.tensor import VALUE_BYTES
from steptime.parallel.training import State, Training, adam, fresh_state, state_specs

NAMES = ("data parallel", "ZeRO-1", "ZeRO-2", "ZeRO-3")
SPLIT = P(None, "dp")


@checked
def training(
    *,
    data_parallel_size: int,
    num_layers: int,
    hidden_size: int,
    num_microbatches: int,
    zero_stage: int = 0,
    micro_batch_size: int = 2,
    num_steps: int = 3,
) -> Training:
    """Return a few steps of data-parallel training.

    Args:
        data_parallel_size: Devices, d; they must divide a layer's weights.
        num_layers: Blocks, l.
        hidden_size: Width of the residual stream, h; a block has 8 h² weights.
        num_microbatches: Micro-batches of each device per step, m.
        zero_stage: 0 nothing sharded, 1 optimizer states, 2 gradients too, 3 weights too.
        micro_batch_size: Rows in each.
        num_steps: Steps to take.

    Raises:
        ConfigError: If d does not divide a layer's weights.

    References:
        rajbhandari2020, Sec. 5; zhao2023, Sec. 3.
    """
    check_count("zero_stage", zero_stage, least=0, most=3)
    check_count("num_microbatches", num_microbatches, most=64)
    check_count("num_steps", num_steps, most=1000)
    size = 8 * hidden_size**2
    divides("data_parallel_size", data_parallel_size, "weights of a layer", size)
    shape = (num_microbatches, data_parallel_size * micro_batch_size, hidden_size)
    check_room("weights and batches", [(4 * num_layers, size), (2 * num_steps, *shape)])
    devices.start()
    generator = np.random.default_rng(0)
    start = {"layers": jnp.asarray(generator.normal(size=(num_layers, size)) / hidden_size**0.5)}
    batches = [
        {name: jnp.asarray(generator.normal(size=shape)) for name in ("x", "y")}
        for _ in range(num_steps)
    ]
    scale = 1.0 / np.prod(shape)
    whole = {"layers": P()}
    split = {"layers": SPLIT}
    sizes = (float(num_layers * size), float(num_layers), float(num_microbatches), VALUE_BYTES)
    specs, traffic = (
        (state_specs(whole), messages.replicated_weights(sizes[0], sizes[-1])),
        (state_specs(whole, split), messages.zero_1(sizes[0], sizes[-1])),
        (state_specs(whole, split), messages.zero_2(*sizes)),
        (state_specs(split), messages.zero_3(*sizes)),
    )[zero_stage]
    step = (_plain, _zero_1, _zero_2, _zero_3)[zero_stage]
    return Training(
        name=NAMES[zero_stage],
        mesh=devices.mesh(dp=data_parallel_size),
        step=lambda state, batch: step(state, batch, scale),
        state_specs=specs,
        batch_specs={"x": SPLIT, "y": SPLIT},
        loss_spec=P("dp"),
        reference=lambda state, batch: alone(state, batch, scale),
        state=fresh_state(start),
        batches=batches,
        traffic=traffic,
        facts={"num_parameters": num_layers * size, "zero_stage": zero_stage},
    )


def block(x: jax.Array, weights: jax.Array) -> jax.Array:
    """Return a residual feed-forward block, its two matrices in one row of weights."""
    width = x.shape[-1]
    first, second = jnp.split(weights, 2)
    return x + jnp.tanh(x @ first.reshape(width, -1)) @ second.reshape(-1, width)


def loss_of(
    layers: jax.Array, batch: Arrays, at: int | slice, scale: float, use: Callable[..., jax.Array]
) -> jax.Array:
    """Return the squared error of some micro-batches.

    Args:
        layers: Weights, one row a block, or a slice of each.
        batch: ``x`` and ``y``.
        at: Which micro-batches.
        scale: One over the number of entries in the whole batch.
        use: Applies a block to what it has of its row.
    """
    x = batch["x"][at]
    for number in range(len(layers)):
        x = use(x, layers[number], number)
    return jnp.square(x - batch["y"][at]).sum() * scale


def alone(state: State, batch: Arrays, scale: float) -> tuple[State, jax.Array]:
    """Return what one device alone makes of a step.

    Args:
        state: Weights and moments.
        batch: ``x`` and ``y``.
        scale: One over the number of entries in the whole batch.
    """

    def loss(layers: jax.Array) -> jax.Array:
        return loss_of(layers, batch, slice(None), scale, lambda x, row, _: block(x, row))

    value, slope = jax.value_and_grad(loss)(state["weights"]["layers"])
    weights, rest = adam(state, state["weights"], {"layers": slope})
    return {"weights": weights, **rest}, value[None]


def accumulated(
    batch: Arrays, scale: float, start: jax.Array, use: Callable[..., jax.Array]
) -> tuple[jax.Array, jax.Array]:
    """Return the loss and gradients of this device's micro-batches, one after the other.

    Args:
        batch: ``x`` and ``y``.
        scale: One over the number of entries in the whole batch.
        start: Weights.
        use: Applies a block to what it has of its row.
    """
    value, slope = jnp.zeros(()), jnp.zeros_like(start)
    for number in range(len(batch["x"])):
        one, more = jax.value_and_grad(loss_of)(start, batch, number, scale, use)
        value, slope = value + one, slope + more
    return value[None], slope


def _plain(state: State, batch: Arrays, scale: float) -> tuple[State, jax.Array]:
    own = jax.lax.pcast(state["weights"]["layers"], "dp", to="varying")
    value, slope = accumulated(batch, scale, own, lambda x, row, _: block(x, row))
    with jax.named_scope("gradients"):
        total = jax.lax.psum(slope, "dp")
    weights, rest = adam(state, state["weights"], {"layers": total})
    return {"weights": weights, **rest}, value


def _zero_1(state: State, batch: Arrays, scale: float) -> tuple[State, jax.Array]:
    own = jax.lax.pcast(state["weights"]["layers"], "dp", to="varying")
    value, slope = accumulated(batch, scale, own, lambda x, row, _: block(x, row))
    with jax.named_scope("gradients"):
        shard = jax.lax.psum_scatter(slope, "dp", scatter_dimension=1, tiled=True)
    return update_shard(state, shard), value


def _zero_2(state: State, batch: Arrays, scale: float) -> tuple[State, jax.Array]:
    whole = jax.lax.pcast(state["weights"]["layers"], "dp", to="varying")
    mine = jnp.zeros_like(state["mean"]["layers"])

    def use(x: jax.Array, shard: jax.Array, number: int) -> jax.Array:
        return block(x, _lent(whole[number], shard))

    value, slope = accumulated(batch, scale, mine, use)
    return update_shard(state, slope), value


def _zero_3(state: State, batch: Arrays, scale: float) -> tuple[State, jax.Array]:
    # Forgotten after use, so gathered anew in the backward; its gradients scatter by themselves.
    @jax.checkpoint
    def use(x: jax.Array, shard: jax.Array) -> jax.Array:
        return block(x, jax.lax.all_gather(shard, "dp", axis=0, tiled=True))

    mine = state["weights"]["layers"]
    value, slope = accumulated(batch, scale, mine, lambda x, row, _: use(x, row))
    weights, rest = adam(state, state["weights"], {"layers": slope})
    return {"weights": weights, **rest}, value


def update_shard(state: State, slope: jax.Array) -> State:
    """Return the state after a device has updated its shard and all have gathered the weights.

    Args:
        state: Weights whole, moments of the shard.
        slope: Gradients of the shard.
    """
    whole = state["weights"]["layers"]
    width = slope.shape[1]
    with jax.named_scope("update"):
        first = jax.lax.axis_index("dp") * width
        mine = jax.lax.dynamic_slice_in_dim(whole, first, width, 1)
        new, rest = adam(state, {"layers": mine}, {"layers": slope})
        gathered = _gathered_alike(new["layers"])
    return {"weights": {"layers": gathered}, **rest}


def _gathered_alike(shard: jax.Array) -> jax.Array:
    """Return the whole of an array from its shards, known to be the same on every device."""
    return jnp.asarray(jax.lax.all_gather(shard, "dp", axis=1, tiled=True, to="invarying"))


@jax.custom_vjp
def _lent(whole: jax.Array, shard: jax.Array) -> jax.Array:
    """Return ``whole``; its gradient goes to ``shard``, summed and cut as soon as it exists."""
    return whole


def _lent_forward(whole: jax.Array, shard: jax.Array) -> tuple[jax.Array, None]:
    return whole, None


def _lent_backward(_: None, slope: jax.Array) -> tuple[jax.Array, jax.Array]:
    mine = jax.lax.psum_scatter(slope, "dp", scatter_dimension=0, tiled=True)
    return jnp.zeros_like(slope), mine


_lent.defvjp(_lent_forward, _lent_backward)
