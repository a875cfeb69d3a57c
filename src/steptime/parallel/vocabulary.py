"""The two ends of a model, cut over the vocabulary: embedding and cross-entropy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

from steptime.formulas.messages import tensor as messages
from steptime.parallel import devices, mathematics
from steptime.parallel.program import Arrays, Program
from steptime.parallel.sizes import check_room, checked, divides
from steptime.parallel.tensor import VALUE_BYTES, enter, leave, random_inputs


def look_up(tokens: jax.Array, table: jax.Array, axis: str) -> jax.Array:
    """Return the embeddings of tokens from a table cut over the vocabulary.

    Args:
        tokens: Shape ``(b, s)``, the same on every device.
        table: This device's rows, shape ``(V / t, h)``.
        axis: Mesh axis that the rows are cut over.
    """
    here, mine = _own(tokens, table.shape[0], axis)
    return leave(jnp.where(mine[..., None], table[here], 0.0), axis)


def split_cross_entropy(
    x: jax.Array, weights: jax.Array, targets: jax.Array, axis: str
) -> jax.Array:
    """Return minus the log-probability of each target; no device sees all logits.

    Args:
        x: Shape ``(b, s, h)``, the same on every device.
        weights: This device's columns of the output matrix, shape ``(h, V / t)``.
        targets: Shape ``(b, s)``.
        axis: Mesh axis that the columns are cut over.
    """
    logits = enter(x, axis) @ weights
    # The shift is for safety only and cancels out, so no gradient goes through it.
    top = jnp.asarray(jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), axis))
    total = leave(jnp.exp(logits - top[..., None]).sum(-1), axis)
    here, mine = _own(targets, logits.shape[-1], axis)
    picked = jnp.take_along_axis(logits, here[..., None], axis=-1)[..., 0]
    return jnp.log(total) + top - leave(jnp.where(mine, picked, 0.0), axis)


@checked
def embedding(
    *,
    tensor_parallel_size: int,
    vocab_size: int,
    hidden_size: int,
    micro_batch_size: int = 2,
    seq_length: int = 8,
) -> Program:
    """Return an embedding whose rows are cut over the devices.

    Args:
        tensor_parallel_size: Devices, t; it must divide the vocabulary.
        vocab_size: Rows, V.
        hidden_size: Width, h.
        micro_batch_size: Sequences, b.
        seq_length: Tokens of each, s.

    Raises:
        ConfigError: If t does not divide V.

    References:
        shoeybi2019, Sec. 3.
    """
    divides("tensor_parallel_size", tensor_parallel_size, "vocab_size", vocab_size)
    inputs = random_inputs({"table": (vocab_size, hidden_size)})
    inputs["tokens"] = random_tokens(micro_batch_size, seq_length, vocab_size)
    return Program(
        name="vocabulary-parallel embedding",
        mesh=devices.mesh(tp=tensor_parallel_size),
        local=lambda given: look_up(given["tokens"], given["table"], "tp"),
        specs={"table": P("tp", None), "tokens": P()},
        out_spec=P(),
        reference=lambda given: given["table"][given["tokens"]],
        inputs=inputs,
        traffic=messages.vocabulary_embedding(
            float(micro_batch_size), float(seq_length), float(hidden_size), VALUE_BYTES
        ),
    )


@checked
def loss(
    *,
    tensor_parallel_size: int,
    vocab_size: int,
    hidden_size: int,
    micro_batch_size: int = 2,
    seq_length: int = 8,
) -> Program:
    """Return the output matrix and cross-entropy, cut over the vocabulary.

    Args:
        tensor_parallel_size: Devices, t; it must divide the vocabulary.
        vocab_size: Columns, V.
        hidden_size: Width, h.
        micro_batch_size: Sequences, b.
        seq_length: Tokens of each, s.

    Raises:
        ConfigError: If t does not divide V.

    References:
        shoeybi2019, Sec. 3.
    """
    divides("tensor_parallel_size", tensor_parallel_size, "vocab_size", vocab_size)
    inputs = random_inputs(
        {"x": (micro_batch_size, seq_length, hidden_size), "weights": (hidden_size, vocab_size)}
    )
    inputs["targets"] = random_tokens(micro_batch_size, seq_length, vocab_size)

    def local(given: Arrays) -> jax.Array:
        return split_cross_entropy(given["x"], given["weights"], given["targets"], "tp")

    def reference(given: Arrays) -> jax.Array:
        return mathematics.cross_entropy(given["x"] @ given["weights"], given["targets"])

    return Program(
        name="vocabulary-parallel cross-entropy",
        mesh=devices.mesh(tp=tensor_parallel_size),
        local=local,
        specs={"x": P(), "weights": P(None, "tp"), "targets": P()},
        out_spec=P(),
        reference=reference,
        inputs=inputs,
        traffic=messages.vocabulary_loss(
            float(micro_batch_size), float(seq_length), float(hidden_size), VALUE_BYTES
        ),
    )


def random_tokens(micro_batch_size: int, seq_length: int, vocab_size: int) -> jax.Array:
    """Return tokens drawn evenly, shape ``(b, s)``."""
    check_room("tokens", [(micro_batch_size, seq_length)])
    devices.start()
    generator = np.random.default_rng(1)
    return jnp.asarray(generator.integers(0, vocab_size, (micro_batch_size, seq_length)))


def _own(tokens: jax.Array, rows: int, axis: str) -> tuple[jax.Array, jax.Array]:
    here = tokens - jax.lax.axis_index(axis) * rows
    return jnp.clip(here, 0, rows - 1), (here >= 0) & (here < rows)
