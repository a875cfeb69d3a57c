"""Context parallelism: the tokens of each sequence cut over c devices, attention included."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

from steptime.formulas.messages import context as messages
from steptime.inputs.errors import ConfigError, check_choice, check_count
from steptime.parallel import devices, mathematics, ring
from steptime.parallel.program import Arrays, Program
from steptime.parallel.sizes import LARGEST_SIZE, check_room, checked, divides
from steptime.parallel.tensor import VALUE_BYTES, random_inputs

FORMS = ("ring", "all-gather", "all-to-all")
ORDERS = ("contiguous", "zigzag")
Local: TypeAlias = Callable[[Arrays], jax.Array]


def token_order(order: str, seq_length: int, context_parallel_size: int) -> np.ndarray:
    """Return the place in the sequence of each token, by device, shape ``(c, s / c)``.

    Args:
        order: contiguous: one stretch a device. zigzag: cut in 2 c, device r holds
            pieces r and 2 c - 1 - r.
        seq_length: Tokens, s.
        context_parallel_size: Devices, c.

    Raises:
        ConfigError: If the sequence cannot be cut so.
    """
    check_choice("order", order, ORDERS)
    check_count("seq_length", seq_length, most=LARGEST_SIZE)
    divides("context_parallel_size", context_parallel_size, "seq_length", seq_length)
    places = np.arange(seq_length)
    if order == "contiguous":
        return places.reshape(context_parallel_size, -1)
    if seq_length % (2 * context_parallel_size):
        raise ConfigError(
            f"zigzag cuts seq_length={seq_length} in 2 x context_parallel_size="
            f"{2 * context_parallel_size} pieces; use a multiple of that"
        )
    pieces = places.reshape(2 * context_parallel_size, -1)
    return np.concatenate(
        [pieces[:context_parallel_size], pieces[: -context_parallel_size - 1 : -1]], 1
    )


@checked
def attention(
    *,
    form: str,
    order: str,
    context_parallel_size: int,
    num_attention_heads: int,
    num_query_groups: int,
    head_dim: int,
    micro_batch_size: int = 1,
    seq_length: int = 16,
) -> Program:
    """Return causal attention over a sequence that is cut over the devices.

    Args:
        form: ring, all-gather or all-to-all.
        order: contiguous or zigzag.
        context_parallel_size: Devices, c.
        num_attention_heads: Query heads; the all-to-all form cuts them over c.
        num_query_groups: Key and value heads; the same.
        head_dim: Width of a head.
        micro_batch_size: Sequences, b.
        seq_length: Tokens of each, s.

    Raises:
        ConfigError: If tokens or heads cannot be cut so.

    References:
        liu2023, Sec. 3; grattafiori2024, Sec. 3.3.2; jacobs2023, Sec. 3.
    """
    check_choice("form", form, FORMS)
    divides("num_query_groups", num_query_groups, "num_attention_heads", num_attention_heads)
    if form == "all-to-all":
        divides(
            "context_parallel_size", context_parallel_size, "num_query_groups", num_query_groups
        )
    check_room("scores", [(micro_batch_size, num_attention_heads, seq_length, seq_length)])
    places = token_order(order, seq_length, context_parallel_size)
    shapes = {
        "query": (micro_batch_size, seq_length, num_attention_heads, head_dim),
        "key": (micro_batch_size, seq_length, num_query_groups, head_dim),
        "value": (micro_batch_size, seq_length, num_query_groups, head_dim),
    }
    sizes = (float(micro_batch_size), float(seq_length))
    cut = (float(num_query_groups * head_dim), float(context_parallel_size), VALUE_BYTES)
    local, traffic = {
        "ring": (_ring(places), messages.ring_attention(*sizes, *cut)),
        "all-gather": (_gathered(places), messages.gathered_attention(*sizes, *cut)),
        "all-to-all": (
            _exchanged(places),
            messages.exchanged_attention(*sizes, float(num_attention_heads * head_dim), *cut),
        ),
    }[form]
    split = P(None, "cp")
    return Program(
        name=f"{form}, {order}",
        mesh=devices.mesh(cp=context_parallel_size),
        local=local,
        specs=dict.fromkeys(shapes, split),
        out_spec=split,
        reference=_reference(places),
        inputs=random_inputs(shapes),
        traffic=traffic,
    )


def pairs_by_step(order: str, seq_length: int, context_parallel_size: int) -> np.ndarray:
    """Return the (query, key) pairs each device works on in each ring step, as it counts them.

    Args:
        order: contiguous or zigzag.
        seq_length: Tokens, s.
        context_parallel_size: Devices, c.

    Returns:
        Shape ``(c, c)``, devices first.
    """
    devices.start()
    places = jnp.asarray(token_order(order, seq_length, context_parallel_size))
    size = context_parallel_size

    def count() -> jax.Array:
        steps = [ring.visible(places, "cp", size, step).sum() for step in range(size)]
        return jnp.stack(steps)[None]

    counted = jax.shard_map(count, mesh=devices.mesh(cp=size), in_specs=(), out_specs=P("cp", None))
    return np.asarray(jax.jit(counted)())


def _ring(places: np.ndarray) -> Local:
    def local(given: Arrays) -> jax.Array:
        both = jnp.stack([given["key"], given["value"]])
        return ring.attention(given["query"], both, jnp.asarray(places), "cp", len(places))

    return local


def _gathered(places: np.ndarray) -> Local:
    def local(given: Arrays) -> jax.Array:
        both = jnp.stack([given["key"], given["value"]])
        key, value = jax.lax.all_gather(both, "cp", axis=2, tiled=True)
        everywhere = jnp.asarray(places)
        mine = everywhere[jax.lax.axis_index("cp")]
        visible = mathematics.causal(mine, everywhere.reshape(-1))
        return mathematics.attention(given["query"], key, value, visible)

    return local


def _exchanged(places: np.ndarray) -> Local:
    def local(given: Arrays) -> jax.Array:
        heads = [
            jax.lax.all_to_all(given[name], "cp", split_axis=2, concat_axis=1, tiled=True)
            for name in ("query", "key", "value")
        ]
        everywhere = jnp.asarray(places).reshape(-1)
        query, key, value = heads
        visible = mathematics.causal(everywhere, everywhere)
        mixed = mathematics.attention(query, key, value, visible)
        back = jax.lax.all_to_all(mixed, "cp", split_axis=1, concat_axis=2, tiled=True)
        return jnp.asarray(back)

    return local


def _reference(places: np.ndarray) -> Local:
    laid_out = places.reshape(-1)
    in_order = np.argsort(laid_out)

    def reference(given: Arrays) -> jax.Array:
        query, key, value = (given[name][:, in_order] for name in ("query", "key", "value"))
        every = jnp.arange(len(laid_out))
        mixed = mathematics.attention(query, key, value, mathematics.causal(every, every))
        return mixed[:, laid_out]

    return reference
