"""Ring attention: keys and values go round, and the softmax is built up as they pass.

Nothing of the size of a score matrix outlives a step, in the forward or the backward:
the backward has the keys and values sent round again.
"""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

import jax
import jax.numpy as jnp

from steptime.parallel import mathematics

Kept: TypeAlias = tuple[jax.Array, jax.Array, jax.Array, jax.Array, jax.Array]


@partial(jax.custom_vjp, nondiff_argnums=(3, 4))
def attention(
    query: jax.Array, key_value: jax.Array, places: jax.Array, axis: str, size: int
) -> jax.Array:
    """Return causal attention over the whole sequence for this device's queries.

    Args:
        query: Shape ``(b, s / c, heads, head_dim)``.
        key_value: Keys and values, shape ``(2, b, s / c, kv_heads, head_dim)``.
        places: Place in the sequence of each token, by device, shape ``(c, s / c)``.
        axis: Mesh axis of the ring.
        size: Devices on it, c.
    """
    return _forward(query, key_value, places, axis, size)[0]


def onward(x: jax.Array, axis: str, size: int) -> jax.Array:
    """Return what the device before this one on the ring had."""
    return jnp.asarray(jax.lax.ppermute(x, axis, [(i, (i + 1) % size) for i in range(size)]))


def _forward(
    query: jax.Array, key_value: jax.Array, places: jax.Array, axis: str, size: int
) -> tuple[jax.Array, Kept]:
    grouped = _grouped(query, key_value.shape[3])
    passing = key_value
    for step in range(size):
        scores = _scores(grouped, passing[0], places, axis, size, step)
        if step == 0:
            # A token sees itself, so no maximum is ever minus infinity.
            top = scores.max(-1)
            weights = jnp.exp(scores - top[..., None])
            total, mixed = weights.sum(-1), _mixed(weights, passing[1])
        else:
            higher = jnp.maximum(top, scores.max(-1))
            weights, shrink = jnp.exp(scores - higher[..., None]), jnp.exp(top - higher)
            total = total * shrink + weights.sum(-1)
            mixed = mixed * shrink[..., None] + _mixed(weights, passing[1])
            top = higher
        if step + 1 < size:
            passing = onward(passing, axis, size)
    result = _flat(mixed / total[..., None], query.shape)
    return result, (query, key_value, places, result, top + jnp.log(total))


def _backward(axis: str, size: int, kept: Kept, slope: jax.Array) -> tuple[jax.Array | None, ...]:
    query, key_value, places, result, log_total = kept
    groups = key_value.shape[3]
    grouped, slopes, results = (_grouped(x, groups) for x in (query, slope, result))
    mean = jnp.einsum("bqgnd,bqgnd->bgnq", slopes, results)
    passing = key_value
    of_query, of_passing = jnp.zeros_like(grouped), jnp.zeros_like(key_value)
    for step in range(size):
        scores = _scores(grouped, passing[0], places, axis, size, step)
        shares = jnp.exp(scores - log_total[..., None])
        of_shares = jnp.einsum("bqgnd,bkgd->bgnqk", slopes, passing[1])
        of_scores = shares * (of_shares - mean[..., None]) / query.shape[-1] ** 0.5
        of_query += jnp.einsum("bgnqk,bkgd->bqgnd", of_scores, passing[0])
        of_key = jnp.einsum("bgnqk,bqgnd->bkgd", of_scores, grouped)
        of_value = jnp.einsum("bgnqk,bqgnd->bkgd", shares, slopes)
        # The gradients travel with what they belong to, and one step more: home.
        of_passing = onward(of_passing + jnp.stack([of_key, of_value]), axis, size)
        if step + 1 < size:
            passing = onward(passing, axis, size)
    return of_query.reshape(query.shape), of_passing, None


attention.defvjp(_forward, _backward)


def _scores(
    grouped: jax.Array, key: jax.Array, places: jax.Array, axis: str, size: int, step: int
) -> jax.Array:
    scores = jnp.einsum("bqgnd,bkgd->bgnqk", grouped, key) / grouped.shape[-1] ** 0.5
    return jnp.where(visible(places, axis, size, step), scores, -jnp.inf)


def visible(places: jax.Array, axis: str, size: int, step: int) -> jax.Array:
    """Return which of the keys that are here in a step each of this device's queries sees.

    Args:
        places: Place in the sequence of each token, by device, shape ``(c, s / c)``.
        axis: Mesh axis of the ring.
        size: Devices on it, c.
        step: How often keys and values have been passed on.
    """
    rank = jax.lax.axis_index(axis)
    return mathematics.causal(places[rank], places[(rank - step) % size])


def _grouped(x: jax.Array, groups: int) -> jax.Array:
    return x.reshape(*x.shape[:2], groups, x.shape[2] // groups, x.shape[3])


def _mixed(weights: jax.Array, value: jax.Array) -> jax.Array:
    return jnp.einsum("bgnqk,bkgd->bgnqd", weights, value)


def _flat(mixed: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    return mixed.transpose(0, 3, 1, 2, 4).reshape(shape)
