"""A GPT trained with tensor, pipeline and data parallelism at once.

Each of the three is used as in its own file: layers cut by heads and columns, GPipe over
the stages, gradients added up over the replicas.
"""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

from steptime.formulas.messages import data as data_messages
from steptime.formulas.messages import pipeline as pipeline_messages
from steptime.inputs.errors import check_count
from steptime.parallel import devices, mathematics
from steptime.parallel.layer import LAYER_SPECS, Cut, layer_shapes, tensor_cut, transformer_layer
from steptime.parallel.pipeline import gpipe
from steptime.parallel.program import Arrays
from steptime.parallel.sizes import check_room, checked, divides
from steptime.parallel.tensor import VALUE_BYTES
from steptime.parallel.training import State, Training, adam, fresh_state, state_specs
from steptime.parallel.vocabulary import look_up, split_cross_entropy

# Every stage has a place for both ends; the first uses the embedding, the last the rest.
END_SPECS = {
    "embedding": P("pp", "tp", None),
    "last_norm": P("pp"),
    "head": P("pp", None, "tp"),
}
SPECS = {name: P("pp", *spec) for name, spec in LAYER_SPECS.items()} | END_SPECS
ALONE = Cut(enter=lambda x: x, leave=lambda x: x)


@checked
def training(
    *,
    tensor_parallel_size: int,
    pipeline_parallel_size: int,
    data_parallel_size: int,
    num_layers: int,
    hidden_size: int,
    num_attention_heads: int,
    vocab_size: int,
    num_microbatches: int,
    micro_batch_size: int = 1,
    seq_length: int = 8,
    num_steps: int = 3,
) -> Training:
    """Return a few steps of training over t × p × d devices.

    Args:
        tensor_parallel_size: t; it must divide the heads and the vocabulary.
        pipeline_parallel_size: p; it must divide the layers.
        data_parallel_size: d.
        num_layers: Layers, l.
        hidden_size: Width of the residual stream, h.
        num_attention_heads: Heads.
        vocab_size: Entries of the vocabulary, V.
        num_microbatches: Micro-batches of each replica per step, m.
        micro_batch_size: Sequences in each, b.
        seq_length: Tokens of each, s.
        num_steps: Steps to take.

    Raises:
        ConfigError: If something does not divide.

    References:
        narayanan2021, Sec. 2.
    """
    t, p, d = tensor_parallel_size, pipeline_parallel_size, data_parallel_size
    head_dim = divides("num_attention_heads", num_attention_heads, "hidden_size", hidden_size)
    heads = divides("tensor_parallel_size", t, "num_attention_heads", num_attention_heads)
    divides("tensor_parallel_size", t, "vocab_size", vocab_size)
    per_stage = divides("pipeline_parallel_size", p, "num_layers", num_layers)
    check_count("num_microbatches", num_microbatches, most=256)
    check_count("num_steps", num_steps, most=1000)
    shapes = {
        name: (num_layers, *shape)
        for name, shape in layer_shapes(hidden_size, num_attention_heads, head_dim).items()
    } | {
        "embedding": (p, vocab_size, hidden_size),
        "last_norm": (p, 2, hidden_size),
        "head": (p, hidden_size, vocab_size),
    }
    batch = (num_microbatches, d * micro_batch_size, seq_length)
    scale = 1.0 / float(np.prod(batch))
    b, s, h = float(micro_batch_size), float(seq_length), float(hidden_size)
    m, layers, w = float(num_microbatches), float(per_stage), VALUE_BYTES
    traffic = (
        pipeline_messages.stage_sends(m, b, s, h, w)
        + pipeline_messages.tensor_in_pipeline(m, layers, b, s, h, float(p), w)
        + data_messages.stage_gradients(
            float(num_layers), h, float(vocab_size), float(t), float(p), w
        )
    )
    return Training(
        name=f"transformer, t={t}, p={p}, d={d}",
        mesh=devices.mesh(dp=d, pp=p, tp=t),
        step=lambda state, given: _step(state, given, heads, p, scale),
        state_specs=state_specs(SPECS),
        batch_specs={"tokens": P(None, "dp"), "targets": P(None, "dp")},
        loss_spec=P(("dp", "pp")),
        reference=lambda state, given: _alone(state, given, d, scale),
        state=fresh_state(_start(shapes)),
        batches=[_tokens(batch, vocab_size, number) for number in range(num_steps)],
        traffic=traffic,
    )


def _step(
    state: State, batch: Arrays, heads: int, num_stages: int, scale: float
) -> tuple[State, jax.Array]:
    # Made this replica's own first, so that its gradients stay apart until all are there.
    own = {n: jax.lax.pcast(w, "dp", to="varying") for n, w in state["weights"].items()}
    value, slopes = jax.value_and_grad(_loss)(own, batch, heads, num_stages, scale)
    with jax.named_scope("gradients"):
        total = {name: jax.lax.psum(slope, "dp") for name, slope in slopes.items()}
    weights, rest = adam(state, state["weights"], total)
    return {"weights": weights, **rest}, value[None]


def _loss(weights: Arrays, batch: Arrays, heads: int, num_stages: int, scale: float) -> jax.Array:
    cut = tensor_cut(jax.lax.axis_index("tp"), heads)

    def stage(x: jax.Array) -> jax.Array:
        for number in range(len(weights["w_in"])):
            x = transformer_layer({n: weights[n][number] for n in LAYER_SPECS}, x, cut)
        return x

    started = look_up(batch["tokens"], weights["embedding"][0], "tp")
    done = gpipe(started, stage, "pp", num_stages)
    done = _norm(weights["last_norm"][0], done)
    losses = split_cross_entropy(done, weights["head"][0], batch["targets"], "tp")
    last = jax.lax.axis_index("pp") == num_stages - 1
    return jnp.where(last, losses.sum() * scale, 0.0)


def _alone(state: State, batch: Arrays, num_replicas: int, scale: float) -> tuple[State, jax.Array]:
    """Take the step with whole matrices, layer after layer, one micro-batch at a time."""

    def pieces(rows: jax.Array) -> jax.Array:
        return rows.reshape(-1, rows.shape[1] // num_replicas, rows.shape[2])

    def loss(weights: Arrays) -> jax.Array:
        each = jax.lax.map(
            lambda piece: _one_loss(weights, *piece),
            (pieces(batch["tokens"]), pieces(batch["targets"])),
        )
        return jnp.asarray(each.sum() * scale)

    value, slopes = jax.value_and_grad(loss)(state["weights"])
    weights, rest = adam(state, state["weights"], slopes)
    return {"weights": weights, **rest}, value


def _one_loss(weights: Arrays, tokens: jax.Array, targets: jax.Array) -> jax.Array:
    x = weights["embedding"][0][tokens]
    for number in range(len(weights["w_in"])):
        x = transformer_layer({n: weights[n][number] for n in LAYER_SPECS}, x, ALONE)
    logits = _norm(weights["last_norm"][-1], x) @ weights["head"][-1]
    return mathematics.cross_entropy(logits, targets).sum()


def _norm(scale_and_shift: jax.Array, x: jax.Array) -> jax.Array:
    return mathematics.layer_norm(x, 1.0 + scale_and_shift[0], scale_and_shift[1])


def _start(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, jax.Array]:
    check_room("weights", shapes.values())
    devices.start()
    generator = np.random.default_rng(0)
    return {name: jnp.asarray(0.2 * generator.normal(size=shape)) for name, shape in shapes.items()}


def _tokens(shape: tuple[int, ...], vocab_size: int, seed: int) -> dict[str, jax.Array]:
    check_room("tokens", [shape])
    generator = np.random.default_rng(seed + 1)
    drawn = generator.integers(0, vocab_size, (*shape[:-1], shape[-1] + 1))
    return {"tokens": jnp.asarray(drawn[..., :-1]), "targets": jnp.asarray(drawn[..., 1:])}
