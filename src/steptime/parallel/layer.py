"""A whole transformer layer: tensor parallelism, with or without sequence parallelism.

What is kept for the backward is chosen by name, as Megatron-LM keeps it: the input of
every norm and every matrix product, and the dropout masks. So the compiler's own
account of memory can be held against the published formula.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import PartitionSpec as P

from steptime.formulas.messages import sequence, tensor
from steptime.inputs.errors import check_choice
from steptime.parallel import devices, mathematics
from steptime.parallel.program import Arrays, Program
from steptime.parallel.sizes import check_room, checked, divides
from steptime.parallel.tensor import VALUE_BYTES, enter, leave, random_inputs

DROPOUT = 0.1
ATTENTION_CORE = ("shares", "shares_kept", "shares_dropped")
NAMED = ("norm_in", "norm_out", "qkv", "mixed", "gelu_in", "gelu_out", "kept", *ATTENTION_CORE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Where a device's slices begin, and how it goes in and out of split blocks.

    Attributes:
        enter: Into a block that is cut by heads or columns.
        leave: Out of it, adding partial sums.
        first_token: Place in the sequence of this device's first token, outside blocks.
        first_head: Number of its first head.
    """

    enter: Callable[[jax.Array], jax.Array]
    leave: Callable[[jax.Array], jax.Array]
    first_token: jax.Array | int = 0
    first_head: jax.Array | int = 0


def transformer_layer(given: Arrays, x: jax.Array, cut: Cut) -> jax.Array:
    """Return the output of one layer, from this device's slices.

    Args:
        given: Weights: ``norm_1``, ``w_qkv``, ``w_o``, ``bias_o``, ``norm_2``, ``w_in``,
            ``w_out``, ``bias_out``.
        x: Shape ``(b, s, h)``, or a slice of the sequence.
        cut: How this device is placed.
    """
    x = checkpoint_name(x, "norm_in")
    mixed = _attention(given, cut.enter(_norm(x, given["norm_1"])), cut)
    x = x + _dropout(cut.leave(mixed) + given["bias_o"], 1, (0, cut.first_token, 0))
    x = checkpoint_name(x, "norm_in")
    hidden = checkpoint_name(cut.enter(_norm(x, given["norm_2"])) @ given["w_in"], "gelu_in")
    hidden = checkpoint_name(jax.nn.gelu(hidden, approximate=True), "gelu_out")
    out = cut.leave(hidden @ given["w_out"]) + given["bias_out"]
    return x + _dropout(out, 2, (0, cut.first_token, 0))


@checked
def layer(
    *,
    tensor_parallel_size: int,
    hidden_size: int,
    num_attention_heads: int,
    sequence_parallel: bool = False,
    recompute: str = "none",
    micro_batch_size: int = 2,
    seq_length: int = 8,
) -> Program:
    """Return one layer of a GPT, its feed-forward width four times its hidden size.

    Args:
        tensor_parallel_size: Devices, t; it must divide the heads, and the sequence too
            with sequence parallelism.
        hidden_size: Width of the residual stream, h.
        num_attention_heads: Heads.
        sequence_parallel: Whether norms and dropout work on slices of the sequence.
        recompute: none, selective (the attention core) or full.
        micro_batch_size: Sequences, b.
        seq_length: Tokens of each, s.

    Raises:
        ConfigError: If something does not divide.

    References:
        korthikanti2022, Sec. 4.
    """
    check_choice("recompute", recompute, ("none", "selective", "full"))
    head_dim = divides("num_attention_heads", num_attention_heads, "hidden_size", hidden_size)
    heads = divides(
        "tensor_parallel_size", tensor_parallel_size, "num_attention_heads", num_attention_heads
    )
    check_room("scores", [(micro_batch_size, num_attention_heads, seq_length, seq_length)])
    if sequence_parallel:
        divides("tensor_parallel_size", tensor_parallel_size, "seq_length", seq_length)

    def body(given: Arrays, x: jax.Array) -> jax.Array:
        place = jax.lax.axis_index("tp")
        cut = sequence_cut(place, seq_length // tensor_parallel_size, heads)
        return transformer_layer(given, x, cut if sequence_parallel else tensor_cut(place, heads))

    def local(given: Arrays) -> jax.Array:
        return remembered(body, recompute)(given, given["x"])

    alone = Cut(enter=lambda x: x, leave=lambda x: x)
    split = P(None, "tp", None) if sequence_parallel else P()
    sizes = (float(micro_batch_size), float(seq_length), float(hidden_size), VALUE_BYTES)
    sends = sequence.sequence_block if sequence_parallel else tensor.tensor_block
    traffic_records = 2 * sends(*sizes)
    if recompute == "full":
        again = sequence.recomputed_sequence_block if sequence_parallel else tensor.recomputed_block
        traffic_records += again(*sizes)
    return Program(
        name=f"layer, {'sequence' if sequence_parallel else 'tensor'} parallel, {recompute}",
        mesh=devices.mesh(tp=tensor_parallel_size),
        local=local,
        specs={"x": split} | LAYER_SPECS,
        out_spec=split,
        reference=lambda given: transformer_layer(given, given["x"], alone),
        inputs=random_inputs(
            {"x": (micro_batch_size, seq_length, hidden_size)}
            | layer_shapes(hidden_size, num_attention_heads, head_dim)
        ),
        traffic=traffic_records,
    )


LAYER_SPECS = {
    "norm_1": P(),
    "w_qkv": P(None, None, "tp"),
    "w_o": P("tp"),
    "bias_o": P(),
    "norm_2": P(),
    "w_in": P(None, "tp"),
    "w_out": P("tp"),
    "bias_out": P(),
}


def layer_shapes(
    hidden_size: int, num_attention_heads: int, head_dim: int
) -> dict[str, tuple[int, ...]]:
    """Return the shape of each weight of a layer."""
    return {
        "norm_1": (2, hidden_size),
        "w_qkv": (hidden_size, 3, num_attention_heads, head_dim),
        "w_o": (num_attention_heads, head_dim, hidden_size),
        "bias_o": (hidden_size,),
        "norm_2": (2, hidden_size),
        "w_in": (hidden_size, 4 * hidden_size),
        "w_out": (4 * hidden_size, hidden_size),
        "bias_out": (hidden_size,),
    }


def tensor_cut(place: jax.Array, heads: int) -> Cut:
    """Return the cut of tensor parallelism alone: all-reduce out, and back in the gradients."""
    return Cut(
        enter=lambda x: enter(x, "tp"),
        leave=lambda x: leave(x, "tp"),
        first_head=place * heads,
    )


def sequence_cut(place: jax.Array, tokens: int, heads: int) -> Cut:
    """Return the cut of sequence parallelism: all-gather in, reduce-scatter out."""
    return Cut(
        enter=lambda x: jax.lax.all_gather(x, "tp", axis=1, tiled=True),
        leave=lambda x: jax.lax.psum_scatter(x, "tp", scatter_dimension=1, tiled=True),
        first_token=place * tokens,
        first_head=place * heads,
    )


def remembered(
    function: Callable[[Arrays, jax.Array], jax.Array], recompute: str
) -> Callable[[Arrays, jax.Array], jax.Array]:
    """Return ``function`` with the choice of what it keeps for the backward."""
    names = {"none": NAMED, "selective": tuple(n for n in NAMED if n not in ATTENTION_CORE)}
    policy = jax.checkpoint_policies.save_only_these_names(*names.get(recompute, ()))
    kept: Callable[[Arrays, jax.Array], jax.Array] = jax.checkpoint(function, policy=policy)
    return kept


def _norm(x: jax.Array, scale_and_shift: jax.Array) -> jax.Array:
    scale, shift = 1.0 + scale_and_shift[0], scale_and_shift[1]
    return jnp.asarray(checkpoint_name(mathematics.layer_norm(x, scale, shift), "norm_out"))


def _attention(given: Arrays, x: jax.Array, cut: Cut) -> jax.Array:
    qkv = checkpoint_name(jnp.einsum("bsh,hcnd->cbnsd", x, given["w_qkv"]), "qkv")
    places = jnp.arange(x.shape[1])
    scores = qkv[0] @ qkv[1].swapaxes(-1, -2) / qkv.shape[-1] ** 0.5
    hidden = jnp.where(mathematics.causal(places, places), scores, -jnp.inf)
    shares = _dropout(_softmax(hidden), 3, (0, cut.first_head, 0, 0), "shares_kept")
    mixed = checkpoint_name(checkpoint_name(shares, "shares_dropped") @ qkv[2], "mixed")
    return jnp.einsum("bnsd,ndh->bsh", mixed, given["w_o"])


@jax.custom_vjp
def _softmax(scores: jax.Array) -> jax.Array:
    return jax.nn.softmax(scores, axis=-1)


def _softmax_forward(scores: jax.Array) -> tuple[jax.Array, jax.Array]:
    # Its backward needs its own result and nothing else: that is what is kept.
    shares = checkpoint_name(jax.nn.softmax(scores, axis=-1), "shares")
    return shares, shares


def _softmax_backward(shares: jax.Array, slope: jax.Array) -> tuple[jax.Array]:
    return (shares * (slope - (shares * slope).sum(-1, keepdims=True)),)


_softmax.defvjp(_softmax_forward, _softmax_backward)


def _dropout(
    x: jax.Array, seed: int, first: tuple[jax.Array | int, ...], name: str = "kept"
) -> jax.Array:
    """Return ``x`` with a share of its entries at zero, chosen by their place in the whole.

    Each entry's place is hashed, so any cut of the array drops the same ones.
    """
    bits = jnp.full(x.shape, seed, jnp.uint32)
    for axis, start in enumerate(first):
        place = jax.lax.broadcasted_iota(jnp.uint32, x.shape, axis)
        bits = (bits + place + jnp.asarray(start, jnp.uint32)) * jnp.uint32(0x9E3779B1)
        bits = (bits ^ (bits >> 15)) * jnp.uint32(0x85EBCA77)
    kept = checkpoint_name((bits ^ (bits >> 16)) >= jnp.uint32(DROPOUT * 2**32), name)
    return jnp.where(kept, x / (1.0 - DROPOUT), 0.0)
