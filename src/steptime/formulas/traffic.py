"""What each parallelism sends: how many collectives, and how large each of them is.

A size here is the whole buffer of one collective, as `steptime.formulas.collectives`
wants it; the bytes that cross a link follow from there. ``value_bytes`` is the width of
one number: 2 in bf16.
"""

from steptime.formulas.number import Number, ceil, maximum


def activation_bytes(
    micro_batch_size: Number,
    seq_length: Number,
    cp: Number,
    hidden_size: Number,
    value_bytes: Number,
) -> Number:
    """Return the size of one micro-batch's activations between two blocks, ``b s/c h``.

    It is what tensor parallelism adds up in each of its all-reduces.

    Args:
        micro_batch_size: Sequences in the micro-batch, b.
        seq_length: Tokens of one sequence, s.
        cp: Context-parallel size, c.
        hidden_size: Width of the residual stream, h.
        value_bytes: Bytes of one number.

    References:
        shoeybi2019, Sec. 3.
    """
    return micro_batch_size * (seq_length / cp) * hidden_size * value_bytes


def tensor_all_reduces_per_layer(recompute_full: Number) -> Number:
    """Return the all-reduces of one layer and micro-batch, forward and backward.

    Two blocks, one forward and one backward each; full recomputation runs the two of
    the forward again.

    Args:
        recompute_full: 1 if the layer's forward runs again in the backward, else 0.

    References:
        shoeybi2019, Sec. 3.
    """
    return 4.0 + 2.0 * recompute_full


def key_value_bytes(
    micro_batch_size: Number,
    seq_length: Number,
    key_width: Number,
    tp: Number,
    value_bytes: Number,
) -> Number:
    """Return the size of one layer's keys and values over the whole sequence, ``2 b s k/t``.

    It is what context parallelism gathers, and what its gradients come back from.

    Args:
        micro_batch_size: Sequences in the micro-batch, b.
        seq_length: Tokens of one sequence, s.
        key_width: Width of all key heads, k = key heads x head width.
        tp: Tensor-parallel size, t, over which the heads are already spread.
        value_bytes: Bytes of one number.

    References:
        grattafiori2024, Sec. 3.3.2.
    """
    return 2.0 * micro_batch_size * key_width * seq_length * value_bytes / tp


def context_gathers_per_layer() -> Number:
    """Return the gathers of keys and values per layer and micro-batch: out, and gradients back."""
    return 2.0


def pipeline_message_bytes(
    micro_batch_size: Number,
    seq_length: Number,
    cp: Number,
    hidden_size: Number,
    tp: Number,
    value_bytes: Number,
) -> Number:
    """Return the size of one message between pipeline stages, ``b s/c h / t``.

    Each tensor-parallel rank sends its own t-th part to its twin in the next stage.

    Args:
        micro_batch_size: Sequences in the micro-batch, b.
        seq_length: Tokens of one sequence, s.
        cp: Context-parallel size, c.
        hidden_size: Width of the residual stream, h.
        tp: Tensor-parallel size, t.
        value_bytes: Bytes of one number.

    References:
        narayanan2021, Sec. 4.1.
    """
    return micro_batch_size * (seq_length / cp) * hidden_size * value_bytes / tp


def pipeline_messages_per_step(num_microbatches: Number, vpp: Number) -> Number:
    """Return the messages a middle stage sends in a step: activations on, gradients back.

    Args:
        num_microbatches: Micro-batches per step, m.
        vpp: Model chunks a device holds, v.

    References:
        narayanan2021, Sec. 2.2.2.
    """
    return 2.0 * num_microbatches * vpp


def gradient_bytes(num_parameters: Number, tp: Number, pp: Number, value_bytes: Number) -> Number:
    """Return the size of one device's gradients, which data parallelism adds up.

    Args:
        num_parameters: Parameters of the whole model, P.
        tp: Tensor-parallel size, t.
        pp: Pipeline stages, p.
        value_bytes: Bytes of one gradient.
    """
    return value_bytes * num_parameters / (tp * pp)


def expert_capacity(
    num_tokens: Number, top_k: Number, num_experts: Number, capacity_factor: Number
) -> Number:
    """Return the tokens that one device may send to one expert: the fair share, and some room.

    Args:
        num_tokens: Tokens of the device.
        top_k: Experts that each token goes to.
        num_experts: Experts of the layer.
        capacity_factor: Room over the fair share: 1 is none.

    References:
        fedus2021, Sec. 2.2.
    """
    return ceil(capacity_factor * (top_k * num_tokens / num_experts))


def dispatched_bytes(
    num_experts: Number, capacity: Number, hidden_size: Number, value_bytes: Number
) -> Number:
    """Return what one device holds in each all-to-all: every expert's places, filled or not.

    Args:
        num_experts: Experts of the layer.
        capacity: Places of one expert for the tokens of one device.
        hidden_size: Width of the residual stream, h.
        value_bytes: Bytes of one number.

    References:
        lepikhin2020, Sec. 3.1.
    """
    return num_experts * capacity * hidden_size * value_bytes


def dropped_tokens(chosen: Number, capacity: Number) -> Number:
    """Return how many of the tokens that chose an expert find no place in it.

    Args:
        chosen: Tokens of one device that chose the expert.
        capacity: Places of the expert for that device.

    References:
        fedus2021, Sec. 2.2.
    """
    return maximum(chosen - capacity, 0.0)
