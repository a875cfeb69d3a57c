"""The pieces of a transformer that know of no device: used by every split and by its reference."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def layer_norm(x: jax.Array, scale: jax.Array, shift: jax.Array) -> jax.Array:
    """Return ``x`` with zero mean and unit variance along its last axis, scaled and shifted."""
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale + shift


def attention(query: jax.Array, key: jax.Array, value: jax.Array, visible: jax.Array) -> jax.Array:
    """Return softmax attention; key and value heads are shared by groups of query heads.

    Args:
        query: Shape ``(b, s, heads, head_dim)``.
        key: Shape ``(b, k, kv_heads, head_dim)``.
        value: As ``key``.
        visible: Shape ``(s, k)``: which keys each query may see.
    """
    batch, length, heads, width = query.shape
    grouped = query.reshape(batch, length, key.shape[2], heads // key.shape[2], width)
    scores = jnp.einsum("bqgnd,bkgd->bgnqk", grouped, key) / width**0.5
    shares = jax.nn.softmax(jnp.where(visible, scores, -jnp.inf), axis=-1)
    return jnp.einsum("bgnqk,bkgd->bqgnd", shares, value).reshape(query.shape)


def causal(queries: jax.Array, keys: jax.Array) -> jax.Array:
    """Return which keys each query sees: those at its own place in the sequence or before."""
    return queries[:, None] >= keys[None, :]


def cross_entropy(logits: jax.Array, targets: jax.Array) -> jax.Array:
    """Return minus the log-probability of each target, in the shape of ``targets``."""
    shares = jax.nn.log_softmax(logits, axis=-1)
    return -jnp.take_along_axis(shares, targets[..., None], axis=-1)[..., 0]
