"""What data parallelism sends in one step, plain and with each stage of ZeRO."""

from steptime.formulas.messages.record import record
from steptime.formulas.number import Number
from steptime.formulas.records import Message
from steptime.formulas.traffic import gradient_bytes


def replicated_weights(num_parameters: Number, value_bytes: Number) -> list[Message]:
    """Return what plain data parallelism sends: one all-reduce of the gradients.

    Args:
        num_parameters: Parameters of the model, P.
        value_bytes: Bytes of one number.

    References:
        rajbhandari2020, Sec. 7.1.
    """
    size = gradient_bytes(num_parameters, 1.0, 1.0, value_bytes)
    return [record("backward", "all_reduce", "dp", 1.0, size)]


def zero_1(num_parameters: Number, value_bytes: Number) -> list[Message]:
    """Return what sharded optimizer states send: gradients to their owner, weights back.

    Args:
        num_parameters: Parameters of the model, P.
        value_bytes: Bytes of one number.

    References:
        rajbhandari2020, Sec. 7.2.1.
    """
    size = gradient_bytes(num_parameters, 1.0, 1.0, value_bytes)
    return [
        record("backward", "reduce_scatter", "dp", 1.0, size),
        record("update", "all_gather", "dp", 1.0, size),
    ]


def zero_2(
    num_parameters: Number, num_layers: Number, num_microbatches: Number, value_bytes: Number
) -> list[Message]:
    """Return what sharded gradients send: each layer's as soon as it is there.

    No device may keep them whole, so every micro-batch sends them: m times the bytes of
    ZeRO-1 where m micro-batches add up.

    Args:
        num_parameters: Parameters of the model, P, in layers of equal size.
        num_layers: Layers, l.
        num_microbatches: Micro-batches per step, m.
        value_bytes: Bytes of one number.

    References:
        rajbhandari2020, Sec. 7.2.1.
    """
    whole = gradient_bytes(num_parameters, 1.0, 1.0, value_bytes)
    layer = gradient_bytes(num_parameters / num_layers, 1.0, 1.0, value_bytes)
    return [
        record("backward", "reduce_scatter", "dp", num_microbatches * num_layers, layer),
        record("update", "all_gather", "dp", 1.0, whole),
    ]


def zero_3(
    num_parameters: Number, num_layers: Number, num_microbatches: Number, value_bytes: Number
) -> list[Message]:
    """Return what sharded weights send: each layer gathered before each use.

    Args:
        num_parameters: Parameters of the model, P, in layers of equal size.
        num_layers: Layers, l.
        num_microbatches: Micro-batches per step, m.
        value_bytes: Bytes of one number.

    References:
        rajbhandari2020, Sec. 7.2.2; zhao2023, Sec. 3.
    """
    layer = gradient_bytes(num_parameters / num_layers, 1.0, 1.0, value_bytes)
    times = num_microbatches * num_layers
    return [
        record("forward", "all_gather", "dp", times, layer),
        record("backward", "all_gather", "dp", times, layer),
        record("backward", "reduce_scatter", "dp", times, layer),
    ]


def stage_gradients(
    num_layers: Number,
    hidden_size: Number,
    vocab_size: Number,
    tp: Number,
    pp: Number,
    value_bytes: Number,
) -> list[Message]:
    """Return the all-reduces of one device's gradients in a GPT cut by layers and matrices.

    Matrices are cut over t, norms and biases are not; an embedding, an output matrix
    and a last norm stand on every stage here.

    Args:
        num_layers: Layers of the model, l.
        hidden_size: Width of the residual stream, h.
        vocab_size: Entries of the vocabulary, V.
        tp: Tensor-parallel size, t.
        pp: Pipeline stages, p.
        value_bytes: Bytes of one number.

    References:
        derived here, book/more-machines.md.
    """
    h = hidden_size
    square = gradient_bytes(num_layers * h * h, tp, pp, value_bytes)
    row = gradient_bytes(num_layers * h, 1.0, pp, value_bytes)
    ends = gradient_bytes(vocab_size * h, tp, 1.0, value_bytes)
    last_norm = gradient_bytes(2.0 * h, 1.0, 1.0, value_bytes)
    return [
        record("backward", "all_reduce", "dp", 1.0, 3.0 * square),
        record("backward", "all_reduce", "dp", 1.0, square),
        record("backward", "all_reduce", "dp", 2.0, 4.0 * square),
        record("backward", "all_reduce", "dp", 2.0, 2.0 * row),
        record("backward", "all_reduce", "dp", 2.0, row),
        record("backward", "all_reduce", "dp", 2.0, ends),
        record("backward", "all_reduce", "dp", 1.0, last_norm),
    ]
