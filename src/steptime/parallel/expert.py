"""Expert parallelism: experts on different devices, tokens sent to them and back."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

from steptime.formulas import traffic
from steptime.formulas.messages import expert as messages
from steptime.inputs.errors import ConfigError, check_choice
from steptime.parallel import devices, routing
from steptime.parallel.program import Arrays, Program, placed
from steptime.parallel.routing import Router
from steptime.parallel.sizes import check_room, checked, divides
from steptime.parallel.tensor import VALUE_BYTES, random_inputs


@checked
def mixture(
    *,
    kind: str,
    expert_parallel_size: int,
    num_experts: int,
    hidden_size: int,
    expert_ffn_hidden_size: int,
    tokens_per_device: int,
    top_k: int = 0,
    num_shared_experts: int = 0,
    capacity_factor: float = 1.25,
    skew: float = 0.0,
) -> Program:
    """Return a mixture-of-experts layer, its experts spread over the devices.

    Args:
        kind: switch (top 1), gshard (top 2) or deepseek (``top_k``, never dropping).
        expert_parallel_size: Devices; they must divide the experts.
        num_experts: Routed experts.
        hidden_size: Width of the residual stream, h.
        expert_ffn_hidden_size: Width inside an expert.
        tokens_per_device: Tokens that each device starts with.
        top_k: Experts of each token, for deepseek.
        num_shared_experts: Experts that every token goes to, held by every device.
        capacity_factor: Room in an expert over its fair share, for switch and gshard.
        skew: How unevenly tokens choose; 0 leaves it to the random router.

    Raises:
        ConfigError: If the experts cannot be dealt out, or there are fewer than ``top_k``.

    References:
        fedus2021, Sec. 2; lepikhin2020, Sec. 2; deepseek2024, Sec. 2.1.2.
    """
    divides("expert_parallel_size", expert_parallel_size, "num_experts", num_experts)
    router = _router(kind, num_experts, top_k, tokens_per_device, capacity_factor, skew)
    boxes = (expert_parallel_size, num_experts, router.capacity, hidden_size)
    check_room("boxes", [boxes])
    shared = num_shared_experts * expert_ffn_hidden_size
    shapes: dict[str, tuple[int, ...]] = {
        "x": (expert_parallel_size * tokens_per_device, hidden_size),
        "router": (hidden_size, num_experts),
        "w_in": (num_experts, hidden_size, expert_ffn_hidden_size),
        "w_out": (num_experts, expert_ffn_hidden_size, hidden_size),
    }
    specs = {"x": P("ep"), "router": P(), "w_in": P("ep"), "w_out": P("ep")}
    if shared:
        shapes |= {"shared_in": (hidden_size, shared), "shared_out": (shared, hidden_size)}
        specs |= {"shared_in": P(), "shared_out": P()}
    sizes = (float(hidden_size), float(num_experts))
    return Program(
        name=f"{kind}, {router.top_k} of {num_experts} experts, {num_shared_experts} shared",
        mesh=devices.mesh(ep=expert_parallel_size),
        local=lambda given: _local(router, given),
        specs=specs,
        out_spec=P("ep"),
        reference=lambda given: _reference(router, expert_parallel_size, given),
        inputs=random_inputs(shapes),
        traffic=messages.mixture(float(num_experts), float(router.capacity), sizes[0], VALUE_BYTES)
        + messages.replicated(*sizes, float(shared), VALUE_BYTES),
        facts={"router": router},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Where the tokens went.

    Attributes:
        chosen: Tokens of each device that chose each expert, shape ``(ep, num_experts)``.
        kept: Those that found a place, same shape.
        capacity: Places of an expert for one device's tokens.
    """

    chosen: np.ndarray
    kept: np.ndarray
    capacity: int

    @property
    def dropped(self) -> int:
        """Choices that found no place."""
        return int((self.chosen - self.kept).sum())

    @property
    def dropped_by_formula(self) -> int:
        """The same, from the counts alone."""
        return sum(
            int(traffic.dropped_tokens(float(count), float(self.capacity)))
            for count in self.chosen.reshape(-1)
        )


def load(program: Program) -> Load:
    """Return how many tokens each device sent to each expert, counted on the devices.

    Args:
        program: What `mixture` returned.
    """
    router: Router = program.facts["router"]

    def count(given: Arrays) -> tuple[jax.Array, jax.Array]:
        expert, _ = routing.choose(router, given["x"], given["router"])
        found = routing.places(router, expert) < router.capacity
        each = jax.nn.one_hot(expert, router.num_experts, dtype=jnp.int32)
        return each.sum((0, 1))[None], (each * found[..., None]).sum((0, 1))[None]

    inputs, _ = placed(program)
    counted = jax.shard_map(
        count, mesh=program.mesh, in_specs=(dict(program.specs),), out_specs=P("ep")
    )
    chosen, kept = jax.jit(counted)(inputs)
    return Load(chosen=np.asarray(chosen), kept=np.asarray(kept), capacity=router.capacity)


def _router(
    kind: str, num_experts: int, top_k: int, tokens: int, capacity_factor: float, skew: float
) -> Router:
    check_choice("kind", kind, routing.KINDS)
    if kind == "deepseek":
        # A token chooses an expert once at most: with a place for each, none is dropped.
        return Router(kind=kind, num_experts=num_experts, top_k=top_k, capacity=tokens, skew=skew)
    choices = {"switch": 1, "gshard": 2}[kind]
    if top_k not in (0, choices):
        raise ConfigError(f"{kind} sends each token to {choices} experts; leave out top_k={top_k}")
    capacity = traffic.expert_capacity(
        float(tokens), float(choices), float(num_experts), capacity_factor
    )
    return Router(
        kind=kind, num_experts=num_experts, top_k=choices, capacity=int(capacity), skew=skew
    )


def _local(router: Router, given: Arrays) -> jax.Array:
    """Send this device's tokens out, run its experts on what comes in, and send back."""
    x = given["x"]
    expert, share = routing.choose(router, x, given["router"])
    place = routing.places(router, expert)
    width = x.shape[-1]
    boxes = jnp.zeros((router.num_experts, router.capacity, width), x.dtype)
    copies = jnp.broadcast_to(x[:, None], (*expert.shape, width))
    # A place past the capacity is out of bounds: such a copy is not written.
    boxes = jax.lax.pcast(boxes, "ep", to="varying").at[expert, place].set(copies, mode="drop")
    arrived = jax.lax.all_to_all(boxes, "ep", split_axis=0, concat_axis=1, tiled=True)
    hidden = jax.nn.gelu(jnp.einsum("ech,ehf->ecf", arrived, given["w_in"]), approximate=True)
    done = jnp.einsum("ecf,efh->ech", hidden, given["w_out"])
    back = jax.lax.all_to_all(done, "ep", split_axis=1, concat_axis=0, tiled=True)
    found = back.at[expert, place].get(mode="fill", fill_value=0.0)
    return jnp.asarray((found * share[..., None]).sum(1) + _shared(given, x))


def _shared(given: Arrays, x: jax.Array) -> jax.Array | float:
    if "shared_in" not in given:
        return 0.0
    return jax.nn.gelu(x @ given["shared_in"], approximate=True) @ given["shared_out"]


def _reference(router: Router, num_groups: int, given: Arrays) -> jax.Array:
    """Run every expert on every token and weigh with zero what was not chosen or not kept."""
    groups = given["x"].reshape(num_groups, -1, given["x"].shape[-1])
    hidden = jnp.einsum("gth,ehf->gtef", groups, given["w_in"])
    every = jnp.einsum("gtef,efh->gteh", jax.nn.gelu(hidden, approximate=True), given["w_out"])
    weights = jnp.stack([_kept_weights(router, x, given["router"]) for x in groups])
    mixed = jnp.einsum("gteh,gte->gth", every, weights).reshape(given["x"].shape)
    return mixed + _shared(given, given["x"])


def _kept_weights(router: Router, x: jax.Array, weights: jax.Array) -> jax.Array:
    expert, share = routing.choose(router, x, weights)
    total = jnp.zeros((len(x), router.num_experts))
    taken = jnp.zeros(router.num_experts)
    for choice in range(router.top_k):
        wanted = (expert[:, choice, None] == jnp.arange(router.num_experts)).astype(x.dtype)
        earlier = jnp.tril(jnp.ones((len(x), len(x))), -1) @ wanted + taken
        kept = wanted * (earlier < router.capacity)
        total = total + kept * share[:, choice, None]
        taken = taken + wanted.sum(0)
    return total
