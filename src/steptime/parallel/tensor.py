"""Tensor parallelism: each matrix of a layer cut over t devices.

Two operators do all the talking. Entering a split block, a value that every device
holds becomes one that each uses in its own way: free forward, an all-reduce of its
gradients backward. Leaving it, partial sums add up: an all-reduce forward, free backward.
"""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

from steptime.formulas.messages import tensor as messages
from steptime.inputs.errors import check_choice
from steptime.parallel import devices, mathematics
from steptime.parallel.program import Arrays, Program
from steptime.parallel.sizes import check_room, checked, divides

VALUE_BYTES = 8.0


def enter(x: jax.Array, axes: str | tuple[str, ...]) -> jax.Array:
    """Return ``x`` for use in a split block; its gradient is added up over ``axes``."""
    return jnp.asarray(jax.lax.pcast(x, axes, to="varying"))


def leave(x: jax.Array, axes: str | tuple[str, ...]) -> jax.Array:
    """Return the sum over ``axes`` of what each device computed of ``x``."""
    return jnp.asarray(jax.lax.psum(x, axes))


def activate(x: jax.Array, w_in: jax.Array, gated: bool) -> jax.Array:
    """Return the hidden layer: GELU of one product, or SwiGLU of two.

    Args:
        x: Shape ``(..., h)``.
        w_in: Shape ``(h, 1, f)``, or ``(h, 2, f)`` with the gate first: kept apart, so
            that a cut of f takes the same columns of both.
        gated: Whether there is a gate.
    """
    if gated:
        return jax.nn.silu(x @ w_in[:, 0]) * (x @ w_in[:, 1])
    return jax.nn.gelu(x @ w_in[:, 0], approximate=True)


@checked
def feed_forward(
    *,
    tensor_parallel_size: int,
    hidden_size: int,
    ffn_hidden_size: int,
    micro_batch_size: int = 2,
    seq_length: int = 8,
    activation: str = "gelu",
) -> Program:
    """Return the feed-forward network with its first matrix cut by columns, its second by rows.

    Args:
        tensor_parallel_size: Devices, t.
        hidden_size: Width of input and output, h.
        ffn_hidden_size: Width inside, f; t must divide it.
        micro_batch_size: Sequences, b.
        seq_length: Tokens of each, s.
        activation: gelu, or swiglu with its gate.

    Raises:
        ConfigError: If t does not divide f.

    References:
        shoeybi2019, Sec. 3.
    """
    check_choice("activation", activation, ("gelu", "swiglu"))
    divides("tensor_parallel_size", tensor_parallel_size, "ffn_hidden_size", ffn_hidden_size)
    gated = activation == "swiglu"

    def local(given: Arrays) -> jax.Array:
        hidden = activate(enter(given["x"], "tp"), given["w_in"], gated)
        return leave(hidden @ given["w_out"], "tp") + given["bias"]

    def reference(given: Arrays) -> jax.Array:
        return activate(given["x"], given["w_in"], gated) @ given["w_out"] + given["bias"]

    shapes = {
        "x": (micro_batch_size, seq_length, hidden_size),
        "w_in": (hidden_size, 2 if gated else 1, ffn_hidden_size),
        "w_out": (ffn_hidden_size, hidden_size),
        "bias": (hidden_size,),
    }
    return Program(
        name=f"feed-forward, {activation}",
        mesh=devices.mesh(tp=tensor_parallel_size),
        local=local,
        specs={"x": P(), "w_in": P(None, None, "tp"), "w_out": P("tp", None), "bias": P()},
        out_spec=P(),
        reference=reference,
        inputs=random_inputs(shapes),
        traffic=messages.tensor_block(
            float(micro_batch_size), float(seq_length), float(hidden_size), VALUE_BYTES
        ),
    )


@checked
def attention(
    *,
    tensor_parallel_size: int,
    hidden_size: int,
    num_attention_heads: int,
    num_query_groups: int,
    micro_batch_size: int = 2,
    seq_length: int = 8,
) -> Program:
    """Return causal attention with a group of heads on each device.

    With fewer K/V heads than devices the mesh is cut once more: ``tp_copies`` devices
    share each head.

    Args:
        tensor_parallel_size: Devices, t.
        hidden_size: Width of input and output, h.
        num_attention_heads: Query heads; t must divide them.
        num_query_groups: Key and value heads; t must divide them or be a multiple of them.
        micro_batch_size: Sequences, b.
        seq_length: Tokens of each, s.

    Raises:
        ConfigError: If the heads cannot be dealt out evenly.

    References:
        shoeybi2019, Sec. 3.
    """
    head_dim = divides("num_attention_heads", num_attention_heads, "hidden_size", hidden_size)
    check_room("scores", [(micro_batch_size, num_attention_heads, seq_length, seq_length)])
    copies = head_copies(tensor_parallel_size, num_attention_heads, num_query_groups)
    both = ("tp_groups", "tp_copies")

    shapes = {
        "x": (micro_batch_size, seq_length, hidden_size),
        "w_q": (hidden_size, num_attention_heads, head_dim),
        "w_k": (hidden_size, num_query_groups, head_dim),
        "w_v": (hidden_size, num_query_groups, head_dim),
        "w_o": (num_attention_heads, head_dim, hidden_size),
    }
    sizes = (float(micro_batch_size), float(seq_length), float(hidden_size), VALUE_BYTES)
    return Program(
        name=f"attention, {num_attention_heads} heads, {num_query_groups} K/V heads",
        mesh=devices.mesh(tp_groups=tensor_parallel_size // copies, tp_copies=copies),
        local=lambda given: leave(attend(given, enter(given["x"], both)), both),
        specs={
            "x": P(),
            "w_q": P(None, both),
            "w_k": P(None, "tp_groups"),
            "w_v": P(None, "tp_groups"),
            "w_o": P(both),
        },
        out_spec=P(),
        reference=lambda given: attend(given, given["x"]),
        inputs=random_inputs(shapes),
        traffic=messages.tensor_block(*sizes)
        + messages.shared_heads(
            float(tensor_parallel_size),
            float(num_query_groups),
            float(hidden_size),
            float(head_dim),
            VALUE_BYTES,
        ),
        axes={"tp": both},
    )


def attend(given: Arrays, x: jax.Array) -> jax.Array:
    """Return causal attention of the heads that are here, projected back: a partial sum.

    Args:
        given: ``w_q``, ``w_k``, ``w_v`` and ``w_o``, cut by heads or whole.
        x: Shape ``(b, s, h)``.
    """
    query, key, value = (
        jnp.einsum("bsh,hnd->bsnd", x, given[name]) for name in ("w_q", "w_k", "w_v")
    )
    places = jnp.arange(x.shape[1])
    mixed = mathematics.attention(query, key, value, mathematics.causal(places, places))
    return jnp.einsum("bsnd,ndh->bsh", mixed, given["w_o"])


def head_copies(tensor_parallel_size: int, num_attention_heads: int, num_query_groups: int) -> int:
    """Return how many devices hold each K/V head.

    Args:
        tensor_parallel_size: Devices, t.
        num_attention_heads: Query heads.
        num_query_groups: Key and value heads.

    Raises:
        ConfigError: If query or K/V heads cannot be dealt out evenly.
    """
    divides("num_query_groups", num_query_groups, "num_attention_heads", num_attention_heads)
    divides(
        "tensor_parallel_size", tensor_parallel_size, "num_attention_heads", num_attention_heads
    )
    if tensor_parallel_size <= num_query_groups:
        divides("tensor_parallel_size", tensor_parallel_size, "num_query_groups", num_query_groups)
        return 1
    return divides(
        "num_query_groups", num_query_groups, "tensor_parallel_size", tensor_parallel_size
    )


def random_inputs(shapes: Mapping[str, tuple[int, ...]], seed: int = 0) -> dict[str, jax.Array]:
    """Return arrays of normal numbers, matrices scaled so that products keep their size."""
    check_room("inputs", shapes.values())
    devices.start()
    generator = np.random.default_rng(seed)
    return {
        name: jnp.asarray(generator.normal(size=shape) / (1.0 if name == "x" else shape[0] ** 0.5))
        for name, shape in shapes.items()
    }
