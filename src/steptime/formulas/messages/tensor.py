"""What tensor parallelism sends, for one block and one micro-batch."""

from steptime.formulas.messages.record import record
from steptime.formulas.number import Number, where
from steptime.formulas.records import Message
from steptime.formulas.traffic import activation_bytes


def tensor_block(
    micro_batch_size: Number, seq_length: Number, hidden_size: Number, value_bytes: Number
) -> list[Message]:
    """Return what a block split by columns then rows sends: one all-reduce each way.

    True of the feed-forward network, gated or not, and of attention with its heads in
    groups: forward, the partial outputs add up; backward, the gradients of the input do.

    Args:
        micro_batch_size: Sequences in the micro-batch, b.
        seq_length: Tokens of one sequence, s.
        hidden_size: Width of the residual stream, h.
        value_bytes: Bytes of one number.

    References:
        shoeybi2019, Sec. 3.
    """
    size = activation_bytes(micro_batch_size, seq_length, 1.0, hidden_size, value_bytes)
    return [
        record("forward", "all_reduce", "tp", 1.0, size),
        record("backward", "all_reduce", "tp", 1.0, size),
    ]


def recomputed_block(
    micro_batch_size: Number, seq_length: Number, hidden_size: Number, value_bytes: Number
) -> list[Message]:
    """Return what full recomputation of a tensor-parallel layer adds once compiled.

    Running the forward again means two more all-reduces, and Megatron-LM pays both. A
    compiler sees that nothing in the backward needs the layer's own output, so it drops
    the second.

    Args:
        micro_batch_size: Sequences in the micro-batch, b.
        seq_length: Tokens of one sequence, s.
        hidden_size: Width of the residual stream, h.
        value_bytes: Bytes of one number.

    References:
        derived here, book/more-machines.md.
    """
    size = activation_bytes(micro_batch_size, seq_length, 1.0, hidden_size, value_bytes)
    return [record("backward", "all_reduce", "tp", 1.0, size)]


def shared_heads(
    tp: Number, num_query_groups: Number, hidden_size: Number, head_dim: Number, value_bytes: Number
) -> list[Message]:
    """Return what keys and values add when there are more devices than K/V heads.

    ``tp / num_query_groups`` devices then hold the same head, and the gradients of its
    two matrices must be added up over them.

    Args:
        tp: Tensor-parallel size, t.
        num_query_groups: Key and value heads.
        hidden_size: Width of the residual stream, h.
        head_dim: Width of one head.
        value_bytes: Bytes of one number.

    References:
        derived here, book/more-machines.md.
    """
    copied = where(tp > num_query_groups, 1.0, 0.0)
    size = hidden_size * head_dim * value_bytes
    return [record("backward", "all_reduce", "tp_copies", 2.0 * copied, size)]


def vocabulary_embedding(
    micro_batch_size: Number, seq_length: Number, hidden_size: Number, value_bytes: Number
) -> list[Message]:
    """Return what an embedding split over the vocabulary sends: one all-reduce, forward.

    Each device looks up the tokens it holds and leaves zeros for the others.

    Args:
        micro_batch_size: Sequences in the micro-batch, b.
        seq_length: Tokens of one sequence, s.
        hidden_size: Width of the residual stream, h.
        value_bytes: Bytes of one number.

    References:
        shoeybi2019, Sec. 3.
    """
    size = activation_bytes(micro_batch_size, seq_length, 1.0, hidden_size, value_bytes)
    return [record("forward", "all_reduce", "tp", 1.0, size)]


def vocabulary_loss(
    micro_batch_size: Number, seq_length: Number, hidden_size: Number, value_bytes: Number
) -> list[Message]:
    """Return what a cross-entropy over a split vocabulary sends.

    Forward, three numbers a token: the largest logit, the sum of exponentials and the
    target's logit, never the logits themselves. Backward, the gradients of the input.

    Args:
        micro_batch_size: Sequences in the micro-batch, b.
        seq_length: Tokens of one sequence, s.
        hidden_size: Width of the residual stream, h.
        value_bytes: Bytes of one number.

    References:
        shoeybi2019, Sec. 3.
    """
    per_token = activation_bytes(micro_batch_size, seq_length, 1.0, 1.0, value_bytes)
    size = activation_bytes(micro_batch_size, seq_length, 1.0, hidden_size, value_bytes)
    return [
        record("forward", "all_reduce", "tp", 3.0, per_token),
        record("backward", "all_reduce", "tp", 1.0, size),
    ]
