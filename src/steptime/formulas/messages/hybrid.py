"""What hybrid sharding (HSDP) sends: sharded inside a copy, gradients added up over the copies."""

from steptime.formulas.messages.data import zero_1, zero_3
from steptime.formulas.messages.record import record
from steptime.formulas.number import Number
from steptime.formulas.records import Message


def hybrid_1(num_parameters: Number, sharing_ranks: Number, value_bytes: Number) -> list[Message]:
    """Return what optimizer states send that are sharded in several copies.

    Args:
        num_parameters: Parameters of the model, P.
        sharing_ranks: Ranks of a copy, which share it out.
        value_bytes: Bytes of one number.

    References:
        zhao2023, Sec. 3.2.2; megatronlm2026, --num-distributed-optimizer-instances.
    """
    inside = zero_1(num_parameters, value_bytes)
    share = num_parameters * value_bytes / sharing_ranks
    return [inside[0], record("backward", "all_reduce", "copies", 1.0, share), inside[1]]


def hybrid_3(
    num_parameters: Number,
    num_layers: Number,
    num_microbatches: Number,
    sharing_ranks: Number,
    value_bytes: Number,
) -> list[Message]:
    """Return what weights send that are sharded in several copies.

    Args:
        num_parameters: Parameters of the model, P, in layers of equal size.
        num_layers: Layers, l.
        num_microbatches: Micro-batches per step, m.
        sharing_ranks: Ranks of a copy, which share it out.
        value_bytes: Bytes of one number.

    References:
        zhao2023, Sec. 3.2.2.
    """
    inside = zero_3(num_parameters, num_layers, num_microbatches, value_bytes)
    share = num_parameters * value_bytes / (num_layers * sharing_ranks)
    times = num_microbatches * num_layers
    summed = record("backward", "all_reduce", "copies", times, share)
    return [inside[0], inside[1], inside[2], summed]
