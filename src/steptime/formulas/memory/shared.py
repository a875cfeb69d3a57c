"""What does not depend on the rank, so that it is computed once for all of them."""

from steptime.formulas.flops import num_microbatches
from steptime.formulas.memory.activations import token_bytes
from steptime.formulas.memory.buffers import (
    dispatch_bytes,
    logit_bytes,
    moment_bytes,
    tokens,
    work_bytes,
)
from steptime.formulas.memory.in_flight import flight_line
from steptime.formulas.memory.parameters import (
    dense_layer_slice,
    embedding_slice,
    expert_layer_slice,
    mixture_layer_slice,
)
from steptime.formulas.memory.stages import stage_cut
from steptime.formulas.memory.states import state_terms
from steptime.formulas.memory.stored import checkpoint_token_bytes, layer_token_bytes
from steptime.formulas.number import Number, maximum, where
from steptime.formulas.ranks import weight_copies
from steptime.formulas.records import Job, MemoryFacts, SharedTerms
from steptime.formulas.schedule import entry_number


def shared_terms(job: Job, facts: MemoryFacts) -> SharedTerms:
    """Return slices, bytes per parameter, bytes per token and buffers, by name."""
    per_token = token_bytes(job, facts)
    layer = layer_token_bytes(job, per_token)
    cut = stage_cut(job, facts)
    line = flight_line(job)
    states = state_terms(job, facts)
    return {
        "slots": cut["slots"],
        "stage_slots": cut["stage_slots"],
        "shift": cut["shift"],
        "dense_layers": cut["dense_layers"],
        "base": line["base"],
        "slope": line["slope"],
        "boundary": per_token["boundary"],
        "checkpoint": checkpoint_token_bytes(job, facts, per_token),
        "embedded": facts.dropout * job.hidden_size / per_token["split"],
        "sent": facts.stage_outputs * where(job.pp > 1.0, per_token["boundary"], 0.0),
        "dense_token": layer["dense"],
        "experts_token": layer["experts"],
        "mixture_token": maximum(layer["experts"], layer["dense"]),
        "again_token": layer["again"],
        "tokens": tokens(job),
        "micro_batches": num_microbatches(job),
        "dense_slice": dense_layer_slice(job),
        "mixture_slice": mixture_layer_slice(job),
        "expert_slice": expert_layer_slice(job),
        "embedding_slice": embedding_slice(job),
        "state": states["all"],
        "routed_state": states["routed_all"],
        "freed": states["freed"],
        "routed_freed": states["routed_freed"],
        "logits": logit_bytes(job, facts),
        "moment": moment_bytes(job, facts, per_token["split"]),
        "dispatch": dispatch_bytes(job, facts),
        "work": work_bytes(job, facts),
        "vee": vee_shape(job),
        "twice": weight_copies(job) - 1.0,
    }


def vee_shape(job: Job) -> Number:
    """Return 1 for schedules shaped like a V, whose last chunk comes back to the first rank.

    References:
        qi2024, Fig. 4 (ZB-V, V-Half, V-Min); deepseek2024, Sec. 3.2.1 (DualPipe, cut in half).
    """
    return entry_number("vee", job.schedule)
