"""Which experts a token goes to, and which of its places it finds."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from steptime.inputs.errors import check_choice, check_count, check_number

KINDS = ("switch", "gshard", "deepseek")


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    """How tokens choose.

    Attributes:
        kind: switch: one expert, its softmax share as weight. gshard: two, weights
            normalised. deepseek: ``top_k`` by sigmoid scores, normalised.
        num_experts: Experts to choose from.
        top_k: Experts of each token: 1 for switch, 2 for gshard.
        capacity: Places of an expert for the tokens of one device.
        skew: How unevenly they choose: expert i loses ``skew * log(1 + i)`` of its logit.
    """

    kind: str
    num_experts: int
    top_k: int
    capacity: int
    skew: float = 0.0

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        check_count("num_experts", self.num_experts)
        check_count("top_k", self.top_k, most=self.num_experts)
        check_count("capacity", self.capacity)
        check_number("skew", self.skew, above=-1e-300)


def choose(router: Router, x: jax.Array, weights: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return each token's experts and their weights, both of shape ``(tokens, top_k)``.

    Args:
        router: How tokens choose.
        x: Shape ``(tokens, h)``.
        weights: The router's matrix, shape ``(h, num_experts)``.
    """
    logits = x @ weights - router.skew * jnp.log1p(jnp.arange(router.num_experts))
    scores = jax.nn.sigmoid(logits) if router.kind == "deepseek" else jax.nn.softmax(logits, -1)
    share, expert = jax.lax.top_k(scores, router.top_k)
    if router.kind != "switch":
        share = share / share.sum(-1, keepdims=True)
    return expert, share


def places(router: Router, expert: jax.Array) -> jax.Array:
    """Return each choice's place in its expert's queue, from 0; first choices come first.

    Args:
        router: Gives the number of experts.
        expert: Shape ``(tokens, top_k)``.

    Returns:
        Shape ``(tokens, top_k)``. A place of ``capacity`` or more does not exist: dropped.
    """
    # All first choices stand in the queue before any second one.
    queue = jax.nn.one_hot(expert.T.reshape(-1), router.num_experts, dtype=jnp.int32)
    before = jnp.cumsum(queue, axis=0) - queue
    return (before * queue).sum(-1).reshape(expert.T.shape).T
