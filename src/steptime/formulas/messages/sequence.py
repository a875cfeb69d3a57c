"""What sequence parallelism sends, for one block and one micro-batch."""

from steptime.formulas.messages.record import record
from steptime.formulas.number import Number
from steptime.formulas.records import Message
from steptime.formulas.traffic import activation_bytes


def sequence_block(
    micro_batch_size: Number, seq_length: Number, hidden_size: Number, value_bytes: Number
) -> list[Message]:
    """Return what a block sends with sequence parallelism.

    Each all-reduce becomes an all-gather in and a reduce-scatter out. Keeping only its
    slice of the norm's output, each device gathers it once more in the backward. Norm
    and bias now see part of the tokens, so their gradients add up: three rows of h.

    Args:
        micro_batch_size: Sequences in the micro-batch, b.
        seq_length: Tokens of one sequence, s.
        hidden_size: Width of the residual stream, h.
        value_bytes: Bytes of one number.

    References:
        korthikanti2022, Sec. 4.2.2.
    """
    size = activation_bytes(micro_batch_size, seq_length, 1.0, hidden_size, value_bytes)
    row = hidden_size * value_bytes
    return [
        record("forward", "all_gather", "tp", 1.0, size),
        record("forward", "reduce_scatter", "tp", 1.0, size),
        record("backward", "all_gather", "tp", 2.0, size),
        record("backward", "reduce_scatter", "tp", 1.0, size),
        record("backward", "all_reduce", "tp", 3.0, row),
    ]


def recomputed_sequence_block(
    micro_batch_size: Number, seq_length: Number, hidden_size: Number, value_bytes: Number
) -> list[Message]:
    """Return what full recomputation of a sequence-parallel layer adds once compiled.

    The gathers run again in the backward anyway; of the two reduce-scatters the
    compiler drops the second, as in `recomputed_block`.

    Args:
        micro_batch_size: Sequences in the micro-batch, b.
        seq_length: Tokens of one sequence, s.
        hidden_size: Width of the residual stream, h.
        value_bytes: Bytes of one number.

    References:
        derived here, book/more-machines.md.
    """
    size = activation_bytes(micro_batch_size, seq_length, 1.0, hidden_size, value_bytes)
    return [record("backward", "reduce_scatter", "tp", 1.0, size)]
