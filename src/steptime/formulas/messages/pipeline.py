"""What a pipeline sends in one step, by stage boundary, and what its tensor-parallel groups do."""

from steptime.formulas.messages.record import record
from steptime.formulas.number import Number
from steptime.formulas.records import Message
from steptime.formulas.traffic import (
    activation_bytes,
    pipeline_message_bytes,
    pipeline_messages_per_step,
)


def stage_sends(
    num_microbatches: Number,
    micro_batch_size: Number,
    seq_length: Number,
    hidden_size: Number,
    value_bytes: Number,
) -> list[Message]:
    """Return what crosses each stage boundary: every micro-batch once each way.

    Where tensor-parallel ranks hold whole activations, each sends all of them.

    Args:
        num_microbatches: Micro-batches per step, m.
        micro_batch_size: Sequences in each, b.
        seq_length: Tokens of one sequence, s.
        hidden_size: Width of the residual stream, h.
        value_bytes: Bytes of one number.

    References:
        huang2019, Sec. 2.3.
    """
    size = pipeline_message_bytes(micro_batch_size, seq_length, 1.0, hidden_size, 1.0, value_bytes)
    each_way = pipeline_messages_per_step(num_microbatches, 1.0) / 2.0
    return [
        record("forward", "send", "pp", each_way, size),
        record("backward", "send", "pp", each_way, size),
    ]


def slots(num_microbatches: Number, pp: Number) -> Number:
    """Return the slots of one pass, m + p - 1: in each of them every device computes.

    A single program for all devices has no idle slots: in p - 1 of them a device works
    on nothing, and its tensor-parallel all-reduces carry nothing too. That is how the
    bubble stretches them.

    Args:
        num_microbatches: Micro-batches per step, m.
        pp: Pipeline stages, p.

    References:
        huang2019, Sec. 2.3.
    """
    return num_microbatches + pp - 1.0


def tensor_in_pipeline(
    num_microbatches: Number,
    layers_per_stage: Number,
    micro_batch_size: Number,
    seq_length: Number,
    hidden_size: Number,
    pp: Number,
    value_bytes: Number,
) -> list[Message]:
    """Return the tensor-parallel all-reduces of a whole step, vocabulary included.

    Layers run once a slot; embedding and loss once, for all micro-batches together.

    Args:
        num_microbatches: Micro-batches per step, m.
        layers_per_stage: Layers of one stage, l / p.
        micro_batch_size: Sequences in each micro-batch, b.
        seq_length: Tokens of one sequence, s.
        hidden_size: Width of the residual stream, h.
        pp: Pipeline stages, p.
        value_bytes: Bytes of one number.

    References:
        shoeybi2019, Sec. 3.
    """
    one = activation_bytes(micro_batch_size, seq_length, 1.0, hidden_size, value_bytes)
    token = activation_bytes(micro_batch_size, seq_length, 1.0, 1.0, value_bytes)
    times = 2.0 * layers_per_stage * slots(num_microbatches, pp)
    return [
        record("forward", "all_reduce", "tp", times, one),
        record("backward", "all_reduce", "tp", times, one),
        record("forward", "all_reduce", "tp", 1.0, num_microbatches * one),
        record("forward", "all_reduce", "tp", 3.0, num_microbatches * token),
        record("backward", "all_reduce", "tp", 1.0, num_microbatches * one),
    ]
