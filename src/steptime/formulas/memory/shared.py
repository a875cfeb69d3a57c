"""What does not depend on the rank, so that it is computed once for all of them."""

from steptime.formulas.memory.activations import token_bytes
from steptime.formulas.memory.buffers import (
    dispatch_bytes,
    gathered_keys_bytes,
    gathered_sequence_bytes,
    logit_bytes,
    message_bytes,
    tokens,
    work_bytes,
)
from steptime.formulas.memory.in_flight import flight_line, micro_batches
from steptime.formulas.memory.parameters import (
    dense_layer_slice,
    embedding_slice,
    expert_layer_slice,
    mixture_layer_slice,
)
from steptime.formulas.memory.stages import stage_cut
from steptime.formulas.memory.states import (
    data_ranks,
    expert_data_ranks,
    gradient_bytes,
    optimizer_bytes,
    transient_bytes,
    weight_bytes,
)
from steptime.formulas.memory.stored import layer_token_bytes
from steptime.formulas.number import Number, maximum, where


def shared_terms(job: Number, facts: Number) -> Number:
    """Return slices, bytes per parameter, bytes per token and buffers, by name.

    Args:
        job: The flat record.
        facts: Facts of the software.
    """
    per_token = token_bytes(job, facts)
    layer = layer_token_bytes(job, per_token)
    cut = stage_cut(job, facts)
    line = flight_line(job)
    ranks = data_ranks(job)
    routed = expert_data_ranks(job)
    mixture = mixture_layer_slice(job)
    expert = expert_layer_slice(job)
    states = [
        weight_bytes(job, facts, ranks),
        gradient_bytes(job, facts, ranks),
        optimizer_bytes(job, facts, ranks),
        weight_bytes(job, facts, routed),
        gradient_bytes(job, facts, routed),
        optimizer_bytes(job, facts, routed),
    ]
    return {
        "slots": cut["slots"],
        "stage_slots": cut["stage_slots"],
        "shift": cut["shift"],
        "dense_layers": cut["dense_layers"],
        "base": line["base"],
        "slope": line["slope"],
        "split": per_token["split"],
        "boundary": per_token["boundary"],
        "dense_token": layer["dense"],
        "experts_token": layer["experts"],
        "mixture_token": maximum(layer["experts"], layer["dense"]),
        "again_token": layer["again"],
        "tokens": tokens(job),
        "micro_batches": micro_batches(job),
        "dense_slice": dense_layer_slice(job),
        "mixture_slice": mixture,
        "expert_slice": expert,
        "largest_mixture": mixture + expert,
        "embedding_slice": embedding_slice(job),
        "weight": states[0],
        "gradient": states[1],
        "optimizer": states[2],
        "state": states[0] + states[1] + states[2],
        "routed_weight": states[3],
        "routed_gradient": states[4],
        "routed_optimizer": states[5],
        "routed_state": states[3] + states[4] + states[5],
        "transient": transient_bytes(job, facts),
        "logits": logit_bytes(job, facts),
        "moment": message_bytes(job, per_token["split"])
        + gathered_sequence_bytes(job)
        + gathered_keys_bytes(job),
        "dispatch": dispatch_bytes(job, facts),
        "work": work_bytes(job),
        "vee": vee_shape(job),
        "twice": where(job.schedule == 10.0, 1.0, 0.0),
    }


def vee_shape(job: Number) -> Number:
    """Return 1 for schedules shaped like a V, whose last chunk comes back to the first rank.

    Args:
        job: The flat record.

    References:
        qi2024, Sec. 4 (ZB-V, V-Half, V-Min); deepseek2024, Sec. 3.2.1 (DualPipe, cut in half).
    """
    code = job.schedule
    inner = where(code < 7.0, 0.0, where(code > 9.0, 0.0, 1.0))
    return where(code == 11.0, 1.0, inner)
