"""The sum of a rank's memory by part, and the rank that needs the most."""

from steptime.formulas.memory.activations import token_bytes
from steptime.formulas.memory.buffers import (
    dispatch_bytes,
    gathered_keys_bytes,
    gathered_sequence_bytes,
    gathered_weight_bytes,
    logit_bytes,
    message_bytes,
    tokens,
    work_bytes,
)
from steptime.formulas.memory.in_flight import in_flight
from steptime.formulas.memory.parameters import (
    dense_layer_slice,
    embedding_copies,
    embedding_slice,
    expert_layer_slice,
    mixture_layer_slice,
)
from steptime.formulas.memory.stages import candidate_ranks, stage_cut, stage_layers
from steptime.formulas.memory.states import (
    data_ranks,
    expert_data_ranks,
    gradient_bytes,
    optimizer_bytes,
    weight_bytes,
)
from steptime.formulas.memory.stored import (
    at_work_token_bytes,
    layer_token_bytes,
    stored_token_bytes,
)
from steptime.formulas.number import Number, maximum, where

PARTS = ("weights", "gradients", "optimizer", "activations", "logits", "buffers", "reserve")


def shared_terms(job: Number, facts: Number) -> Number:
    """Return all that does not depend on the rank, so that it is computed once.

    Args:
        job: The flat record.
        facts: Facts of the software.
    """
    per_token = token_bytes(job, facts)
    layer = layer_token_bytes(job, per_token)
    cut = stage_cut(job, facts)
    ranks = data_ranks(job)
    expert_ranks = expert_data_ranks(job)
    return {
        "slots": cut["slots"],
        "shift": cut["shift"],
        "split": per_token["split"],
        "boundary": per_token["boundary"],
        "dense_token": layer["dense"],
        "experts_token": layer["experts"],
        "again_token": layer["again"],
        "tokens": tokens(job),
        "dense_slice": dense_layer_slice(job),
        "mixture_slice": mixture_layer_slice(job),
        "expert_slice": expert_layer_slice(job),
        "embedding_slice": embedding_slice(job),
        "weight": weight_bytes(job, facts, ranks),
        "gradient": gradient_bytes(job, facts, ranks),
        "optimizer": optimizer_bytes(job, facts, ranks),
        "expert_weight": weight_bytes(job, facts, expert_ranks),
        "expert_gradient": gradient_bytes(job, facts, expert_ranks),
        "expert_optimizer": optimizer_bytes(job, facts, expert_ranks),
        "logits": logit_bytes(job, facts),
        "messages": message_bytes(job, per_token["split"]),
        "gathered": gathered_sequence_bytes(job) + gathered_keys_bytes(job),
        "dispatch": dispatch_bytes(job, facts),
        "work": work_bytes(job),
    }


def rank_ends(job: Number, rank: Number) -> Number:
    """Return whether a rank embeds (``first``) and has the output head (``last``).

    Schedules shaped like a V bring the last chunk back to the first rank; DualPipe puts
    both ends on both end ranks.

    Args:
        job: The flat record.
        rank: Pipeline rank.

    References:
        qi2024b, Sec. 4 (V shape); deepseek2024v3, Sec. 3.2.1.
    """
    at_first = where(rank > 0.0, 0.0, 1.0)
    at_last = where(rank < job.pp - 1.0, 0.0, 1.0)
    both = maximum(at_first, at_last)
    code = job.schedule
    vee = where(code == 7.0, 1.0, where(code == 8.0, 1.0, where(code == 9.0, 1.0, 0.0)))
    vee = where(code == 11.0, 1.0, vee)
    twice = where(code == 10.0, 1.0, 0.0)
    return {
        "first": where(twice > 0.0, both, at_first),
        "last": where(twice > 0.0, both, where(vee > 0.0, at_first, at_last)),
        "copies": 1.0 + twice,
    }


def rank_parameters(job: Number, shared: Number, stage: Number, ends: Number) -> Number:
    """Return a rank's parameters: ``routed`` ones of experts, and all ``other`` ones.

    Args:
        job: The flat record.
        shared: From `shared_terms`.
        stage: From `stages.stage_layers`.
        ends: From `rank_ends`.

    References:
        deepseek2024v3, Table 2 (DualPipe holds two copies).
    """
    dense = stage["layers"] - stage["experts"]
    other = dense * shared["dense_slice"] + stage["experts"] * shared["mixture_slice"]
    copies = embedding_copies(job, ends["first"], ends["last"])
    positions = ends["first"] * job.learned_positions * job.hidden_size
    norm = ends["last"] * job.hidden_size
    return {
        "other": ends["copies"] * other + copies * shared["embedding_slice"] + positions + norm,
        "routed": ends["copies"] * stage["experts"] * shared["expert_slice"],
    }


def rank_activations(
    job: Number, facts: Number, shared: Number, stage: Number, ends: Number, held: Number
) -> Number:
    """Return a rank's activation bytes by part.

    Args:
        job: The flat record.
        facts: Facts of the software.
        shared: From `shared_terms`.
        stage: From `stages.stage_layers`.
        ends: From `rank_ends`.
        held: Micro-batches in flight.

    References:
        korthikanti2022, Sec. 4 to 5 and Appendix B.
    """
    stored = stored_token_bytes(job, facts, shared, stage)
    again = at_work_token_bytes(job, facts, shared, stage, stored["share"])
    boundary = shared["boundary"]
    sent = facts.stage_outputs * where(job.pp > 1.0, boundary, 0.0)
    edge = ends["first"] * facts.dropout * boundary / 2.0 + sent
    tok = shared["tokens"]
    return {
        "layers": tok * held * stored["layers"],
        "checkpoints": tok * held * stored["checkpoints"],
        "edges": tok * (held * edge + ends["last"] * 2.0 * boundary),
        "recomputed": tok * again,
    }


def rank_buffers(job: Number, facts: Number, shared: Number, stage: Number, ends: Number) -> Number:
    """Return the bytes that a rank holds for a moment, logits apart.

    Args:
        job: The flat record.
        facts: Facts of the software.
        shared: From `shared_terms`.
        stage: From `stages.stage_layers`.
        ends: From `rank_ends`.
    """
    mixture = shared["mixture_slice"] + shared["expert_slice"]
    layer = where(stage["experts"] > 0.0, mixture, shared["dense_slice"])
    ends_matrix = maximum(ends["first"], ends["last"]) * shared["embedding_slice"]
    gathered = gathered_weight_bytes(job, facts, maximum(layer, ends_matrix))
    dispatch = where(stage["experts"] > 0.0, shared["dispatch"], 0.0)
    return shared["messages"] + shared["gathered"] + gathered + dispatch


def rank_memory_bytes(job: Number, facts: Number, rank: Number) -> Number:
    """Return the memory of one pipeline rank by part, and its ``total``.

    Logits and the work space of a feed-forward network's backward pass are never there
    together, so the larger counts.

    Args:
        job: The flat record.
        facts: Facts of the software: a record of `MemoryFacts`' fields.
        rank: Pipeline rank, 0 is the first.
    """
    return parts_at(job, facts, shared_terms(job, facts), rank)


def parts_at(job: Number, facts: Number, shared: Number, rank: Number) -> Number:
    """Return what `rank_memory_bytes` does, from terms already computed.

    Args:
        job: The flat record.
        facts: Facts of the software.
        shared: From `shared_terms`.
        rank: Pipeline rank.
    """
    ends = rank_ends(job, rank)
    stage = stage_layers(job, shared, rank)
    held = in_flight(job, rank)
    count = rank_parameters(job, shared, stage, ends)
    kept = rank_activations(job, facts, shared, stage, ends, held)
    activations = kept["layers"] + kept["checkpoints"] + kept["edges"] + kept["recomputed"]
    weights = count["other"] * shared["weight"] + count["routed"] * shared["expert_weight"]
    gradients = count["other"] * shared["gradient"] + count["routed"] * shared["expert_gradient"]
    optimizer = count["other"] * shared["optimizer"] + count["routed"] * shared["expert_optimizer"]
    logits = ends["last"] * shared["logits"]
    work = maximum(shared["work"] - logits, 0.0)
    buffers = rank_buffers(job, facts, shared, stage, ends) + work
    moving = activations + logits + buffers
    reserve = facts.reserve_bytes + facts.fragmentation * moving
    return {
        "rank": rank,
        "parameters": count["other"] + count["routed"],
        "num_layers": stage["layers"],
        "in_flight": held,
        "weights": weights,
        "gradients": gradients,
        "optimizer": optimizer,
        "activations": activations,
        "logits": logits,
        "buffers": buffers,
        "reserve": reserve,
        "total": weights + gradients + optimizer + moving + reserve,
    }


def worst_rank(job: Number, facts: Number) -> Number:
    """Return the ``rank`` that needs the most memory and its ``total`` bytes.

    Args:
        job: The flat record.
        facts: Facts of the software.
    """
    shared = shared_terms(job, facts)
    ranks = candidate_ranks(job, shared)
    worst = ranks[0]
    total = parts_at(job, facts, shared, worst)["total"]
    for rank in ranks:
        other = parts_at(job, facts, shared, rank)["total"]
        worst = where(other > total, rank, worst)
        total = maximum(other, total)
    return {"rank": worst, "total": total}


def memory_total_bytes(job: Number, facts: Number) -> Number:
    """Return the bytes on the fullest rank: what a search compares with the limit.

    Args:
        job: The flat record.
        facts: Facts of the software.
    """
    return worst_rank(job, facts)["total"]


def memory_bytes(job: Number, facts: Number) -> Number:
    """Return the memory of the fullest pipeline rank by part, with its ``rank`` and ``total``.

    Args:
        job: The flat record.
        facts: Facts of the software.
    """
    return rank_memory_bytes(job, facts, worst_rank(job, facts)["rank"])
