"""Activations that a layer keeps for its backward: the compiler's account and the formula's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding

from steptime.formulas.memory import activations
from steptime.formulas.records import MemoryFacts
from steptime.inputs.job import job
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.model import ModelShape
from steptime.inputs.presets import accelerator
from steptime.parallel import layer, program
from steptime.parallel.sizes import checked

MATRICES = ("norm_1", "norm_2", "w_qkv", "w_o", "w_in", "w_out")
UNFUSED = MemoryFacts(flash=0.0, dropout=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What one device keeps of one layer and micro-batch.

    Attributes:
        tensor_parallel_size: Devices, t.
        sequence_parallel: Whether norms and dropout are cut over the sequence.
        recompute: none or selective.
        formula_bytes: By the memory model.
        compiled_bytes: By the compiler, weights taken off.
    """

    tensor_parallel_size: int
    sequence_parallel: bool
    recompute: str
    formula_bytes: float
    compiled_bytes: int

    @property
    def equal(self) -> bool:
        """Whether both are the same to the byte."""
        return self.formula_bytes == self.compiled_bytes


@checked
def kept(
    *,
    tensor_parallel_size: int,
    hidden_size: int,
    num_attention_heads: int,
    sequence_parallel: bool,
    recompute: str,
    micro_batch_size: int,
    seq_length: int,
) -> Kept:
    """Return both accounts for a layer of a GPT in bf16, with dropout and without flash attention.

    Args:
        tensor_parallel_size: Devices, t.
        hidden_size: Width of the residual stream, h.
        num_attention_heads: Heads.
        sequence_parallel: Whether norms and dropout are cut over the sequence.
        recompute: none or selective.
        micro_batch_size: Sequences, b.
        seq_length: Tokens of each, s.

    Raises:
        ConfigError: If the sizes cannot be cut so.

    References:
        korthikanti2022, Sec. 4.
    """
    built = layer.layer(
        tensor_parallel_size=tensor_parallel_size,
        hidden_size=hidden_size,
        num_attention_heads=num_attention_heads,
        sequence_parallel=sequence_parallel,
        recompute=recompute,
        micro_batch_size=micro_batch_size,
        seq_length=seq_length,
    )
    half = replace(
        built, inputs={name: value.astype(jnp.bfloat16) for name, value in built.inputs.items()}
    )
    shape = ModelShape(
        name="one layer",
        num_layers=1,
        hidden_size=hidden_size,
        ffn_hidden_size=4 * hidden_size,
        num_attention_heads=num_attention_heads,
        num_query_groups=num_attention_heads,
        vocab_size=1,
    )
    record = job(
        shape,
        accelerator("a100-80gb"),
        Layout(tp=tensor_parallel_size, sequence_parallel=sequence_parallel, recompute=recompute),
        Batch(
            global_batch_size=micro_batch_size,
            micro_batch_size=micro_batch_size,
            seq_length=seq_length,
        ),
    )
    tokens = float(micro_batch_size * seq_length)
    return Kept(
        tensor_parallel_size=tensor_parallel_size,
        sequence_parallel=sequence_parallel,
        recompute=recompute,
        formula_bytes=tokens * layer_token_bytes(record),
        compiled_bytes=program.saved_bytes(half) - _weight_bytes(half),
    )


def layer_token_bytes(record: Any) -> float:
    """Return the memory model's bytes per token of one dense layer.

    Args:
        record: The flat record of a job.
    """
    parts = activations.token_bytes(record, UNFUSED)
    core = 0.0 if record.recompute_selective else parts["scores"]
    return float(parts["attention"] + core + parts["norms"] + parts["feed_forward"])


def _weight_bytes(built: program.Program) -> int:
    """Return the bytes of weights that the backward multiplies by again, on one device."""
    total = 0
    for name in MATRICES:
        value = built.inputs[name]
        shard = NamedSharding(built.mesh, built.specs[name]).shard_shape(value.shape)
        total += int(np.prod(shard)) * value.dtype.itemsize
    return total
