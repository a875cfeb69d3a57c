"""What expert parallelism sends, for one mixture layer and the tokens of each device."""

from steptime.formulas.messages.record import record
from steptime.formulas.number import Number, where
from steptime.formulas.records import Message
from steptime.formulas.traffic import dispatched_bytes


def mixture(
    num_experts: Number, capacity: Number, hidden_size: Number, value_bytes: Number
) -> list[Message]:
    """Return what routed experts send: out to the experts and back, in each pass.

    Args:
        num_experts: Experts of the layer.
        capacity: Places of one expert for the tokens of one device.
        hidden_size: Width of the residual stream, h.
        value_bytes: Bytes of one number.

    References:
        lepikhin2020, Sec. 3.2.
    """
    size = dispatched_bytes(num_experts, capacity, hidden_size, value_bytes)
    return [
        record("forward", "all_to_all", "ep", 2.0, size),
        record("backward", "all_to_all", "ep", 2.0, size),
    ]


def replicated(
    hidden_size: Number, num_experts: Number, shared_width: Number, value_bytes: Number
) -> list[Message]:
    """Return what the parts on every device add: sums of their gradients, once a step.

    The router has a column of h for each expert; shared experts have two matrices.

    Args:
        hidden_size: Width of the residual stream, h.
        num_experts: Experts of the layer.
        shared_width: Width of all shared experts together; 0 if there are none.
        value_bytes: Bytes of one number.

    References:
        deepseek2024, Sec. 2.1.2.
    """
    router = hidden_size * num_experts * value_bytes
    shared = hidden_size * shared_width * value_bytes
    return [
        record("backward", "all_reduce", "ep", 1.0, router),
        record("backward", "all_reduce", "ep", where(shared_width > 0.0, 2.0, 0.0), shared),
    ]
