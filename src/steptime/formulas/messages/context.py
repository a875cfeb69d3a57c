"""What context parallelism sends, for one attention and one micro-batch, in its three forms.

In all of them a device keeps ``s / c`` tokens of every sequence. These are what the programs of
`steptime.parallel.context` send, which keep gathered keys and values for the backward pass and
start its ring anew. Software for training frees them and gathers again, and walks the ring back
from where it stopped: three transfers of ``(c - 1) / c`` of the whole, as
`steptime.formulas.roofline.context` has them.
"""

from steptime.formulas.messages.record import record
from steptime.formulas.number import Number
from steptime.formulas.records import Message
from steptime.formulas.traffic import activation_bytes, key_value_bytes


def gathered_attention(
    micro_batch_size: Number, seq_length: Number, key_width: Number, cp: Number, value_bytes: Number
) -> list[Message]:
    """Return what the all-gather form sends: keys and values out, their gradients back.

    Args:
        micro_batch_size: Sequences in the micro-batch, b.
        seq_length: Tokens of one sequence, s.
        key_width: Width of all key heads, k.
        cp: Context-parallel size, c; the size of the whole does not depend on it.
        value_bytes: Bytes of one number.

    References:
        grattafiori2024, Sec. 3.3.2.
    """
    size = key_value_bytes(micro_batch_size, seq_length, key_width, 1.0, value_bytes)
    return [
        record("forward", "all_gather", "cp", 1.0, size),
        record("backward", "reduce_scatter", "cp", 1.0, size),
    ]


def ring_attention(
    micro_batch_size: Number, seq_length: Number, key_width: Number, cp: Number, value_bytes: Number
) -> list[Message]:
    """Return what ring attention sends: each device's keys and values, round the ring.

    Forward, c - 1 steps. Backward, they go round once more, and their gradients with
    them, one step further since they must end where they belong.

    Args:
        micro_batch_size: Sequences in the micro-batch, b.
        seq_length: Tokens of one sequence, s.
        key_width: Width of all key heads, k.
        cp: Context-parallel size, c.
        value_bytes: Bytes of one number.

    References:
        liu2023, Sec. 3.
    """
    shard = key_value_bytes(micro_batch_size, seq_length / cp, key_width, 1.0, value_bytes)
    return [
        record("forward", "permute", "cp", cp - 1.0, shard),
        record("backward", "permute", "cp", 2.0 * cp - 1.0, shard),
    ]


def exchanged_attention(
    micro_batch_size: Number,
    seq_length: Number,
    hidden_size: Number,
    key_width: Number,
    cp: Number,
    value_bytes: Number,
) -> list[Message]:
    """Return what the all-to-all form sends: from slices of tokens to slices of heads and back.

    Queries and the result have h numbers a token, keys and values k each; the gradients
    take the same ways back.

    Args:
        micro_batch_size: Sequences in the micro-batch, b.
        seq_length: Tokens of one sequence, s.
        hidden_size: Width of all query heads, h.
        key_width: Width of all key heads, k.
        cp: Context-parallel size, c.
        value_bytes: Bytes of one number.

    References:
        jacobs2023, Sec. 3.
    """
    wide = activation_bytes(micro_batch_size, seq_length, cp, hidden_size, value_bytes)
    narrow = activation_bytes(micro_batch_size, seq_length, cp, key_width, value_bytes)
    return [
        record("forward", "all_to_all", "cp", 2.0, wide),
        record("forward", "all_to_all", "cp", 2.0, narrow),
        record("backward", "all_to_all", "cp", 2.0, wide),
        record("backward", "all_to_all", "cp", 2.0, narrow),
    ]
