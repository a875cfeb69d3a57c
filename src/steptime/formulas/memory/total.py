"""The sum of a rank's memory by part, and the rank that needs the most."""

from steptime.formulas.memory.in_flight import in_flight
from steptime.formulas.memory.parameters import embedding_copies
from steptime.formulas.memory.shared import shared_terms
from steptime.formulas.memory.stages import candidate_ranks, held_layers, mixed_rank
from steptime.formulas.memory.states import state_terms, whole_terms
from steptime.formulas.memory.stored import at_work_token_bytes, stored_token_bytes
from steptime.formulas.number import Number, anywhere, maximum, minimum, where
from steptime.formulas.records import (
    Job,
    MemoryFacts,
    MemoryParts,
    RankEnds,
    RankParameters,
    RankTerms,
    SharedTerms,
    StageLayers,
    WholeTerms,
    WorstRank,
)
from steptime.formulas.stage_split import stated_split

PARTS = ("weights", "gradients", "optimizer", "activations", "logits", "buffers", "reserve")


def rank_ends(job: Job, shared: SharedTerms, rank: Number) -> RankEnds:
    """Return whether a rank embeds (``first``) and has the output head (``last``).

    A V brings the head back to the first rank; DualPipe puts both ends on both end ranks.

    Args:
        rank: Pipeline rank.

    References:
        qi2024, Fig. 4; deepseek2024, Sec. 3.2.1.
    """
    at_first = where(rank > 0.0, 0.0, 1.0)
    at_last = where(rank < job.pp - 1.0, 0.0, 1.0)
    either = maximum(at_first, at_last)
    head = where(shared["vee"] > 0.0, at_first, at_last)
    return {
        "first": where(shared["twice"] > 0.0, either, at_first),
        "last": where(shared["twice"] > 0.0, either, head),
    }


def rank_parameters(
    job: Job, shared: SharedTerms, stage: StageLayers, ends: RankEnds
) -> RankParameters:
    """Return a rank's parameters: ``routed`` ones of experts, and all ``other`` ones.

    References:
        deepseek2024, Table 2 (DualPipe holds two copies).
    """
    dense = stage["layers"] - stage["experts"]
    layers = dense * shared["dense_slice"] + stage["experts"] * shared["mixture_slice"]
    matrices = embedding_copies(job, ends["first"], ends["last"]) * shared["embedding_slice"]
    vectors = (ends["first"] * job.learned_positions + ends["last"]) * job.hidden_size
    copies = 1.0 + shared["twice"]
    return {
        "other": copies * layers + matrices + vectors,
        "routed": copies * stage["experts"] * shared["expert_slice"],
    }


def rank_activations(
    job: Job,
    facts: MemoryFacts,
    shared: SharedTerms,
    stage: StageLayers,
    ends: RankEnds,
    held: Number,
) -> Number:
    """Return a rank's activation bytes.

    Each micro-batch in flight keeps its layers and the stage's own edges; one at work also has
    the layers that are recomputed, and on the last stage the final norm.

    Args:
        held: Micro-batches in flight.

    References:
        korthikanti2022, Sec. 4 to 5 and Appendix B.
    """
    stored = stored_token_bytes(job, facts, shared, stage)
    again = at_work_token_bytes(job, facts, shared, stage, stored["share"])
    one = stored["layers"] + stored["checkpoints"]
    one = one + (ends["first"] * shared["embedded"] + shared["sent"])
    normed = ends["last"] * (2.0 * shared["boundary"])
    return shared["tokens"] * (held * one + again + normed)


def whole_bytes(
    facts: MemoryFacts,
    shared: SharedTerms,
    whole: WholeTerms,
    stage: StageLayers,
    ends: RankEnds,
    count: RankParameters,
) -> Number:
    """Return the bytes of weights and gradients that ZeRO-2 and -3 hold whole for a moment.

    The largest thing that is gathered counts, a layer or a vocabulary matrix, and never more
    weights than the rank shares out at all. Experts that no other rank has are always whole.

    Args:
        count: The rank's parameters.

    References:
        rajbhandari2020, Sec. 5.2 and 5.3; zhao2023, Sec. 3.
    """
    if not anywhere(whole["weight"] + whole["gradient"] > 0.0):
        return 0.0
    others, routed = whole["shared"], whole["routed_shared"]
    mixture = others * shared["mixture_slice"] + routed * shared["expert_slice"]
    layer = maximum(
        where(stage["experts"] > 0.0, mixture, 0.0),
        where(stage["layers"] > stage["experts"], others * shared["dense_slice"], 0.0),
    )
    matrix = maximum(ends["first"], ends["last"]) * shared["embedding_slice"]
    largest = maximum(layer, others * matrix)
    held = others * count["other"] + routed * count["routed"]
    weights = minimum(facts.gathered_layers * largest, held)
    return whole["weight"] * weights + whole["gradient"] * largest


def rank_buffers(
    shared: SharedTerms, stage: StageLayers, logits: Number, gathered: Number
) -> Number:
    """Return the bytes that a rank holds for a moment: messages, gathered weights, work space.

    Logits and a layer's work space are never there together, so the larger counts.

    Args:
        logits: Bytes of the rank's logits, 0 if it has no head.
        gathered: From `whole_bytes`.
    """
    exchanged = where(stage["experts"] > 0.0, shared["dispatch"], 0.0)
    work = maximum(shared["work"] - logits, 0.0)
    return shared["moment"] + gathered + exchanged + work


def rank_terms(
    job: Job, facts: MemoryFacts, shared: SharedTerms, whole: WholeTerms, rank: Number
) -> RankTerms:
    """Return what a rank's parts are made of, and their ``total``.

    Args:
        whole: From `steptime.formulas.memory.states.whole_terms`.
        rank: Pipeline rank.
    """
    ends = rank_ends(job, shared, rank)
    stage = held_layers(job, shared, rank)
    held = in_flight(shared, rank)
    count = rank_parameters(job, shared, stage, ends)
    activations = rank_activations(job, facts, shared, stage, ends, held)
    logits = ends["last"] * shared["logits"]
    gathered = whole_bytes(facts, shared, whole, stage, ends, count)
    buffers = rank_buffers(shared, stage, logits, gathered)
    moving = activations + logits + buffers
    state = count["other"] * shared["state"] + count["routed"] * shared["routed_state"]
    freed = count["other"] * shared["freed"] + count["routed"] * shared["routed_freed"]
    spared = minimum(freed, activations + logits)
    reserve = facts.reserve_bytes + facts.fragmentation * moving
    return {
        "num_layers": stage["layers"],
        "in_flight": held,
        "other": count["other"],
        "routed": count["routed"],
        "activations": activations,
        "logits": logits,
        "buffers": buffers,
        "reserve": reserve,
        "spared": spared,
        "total": state - spared + moving + reserve,
    }


def rank_memory_bytes(job: Job, facts: MemoryFacts, rank: Number) -> MemoryParts:
    """Return the memory of one pipeline rank by part, and its ``total``.

    Args:
        rank: Pipeline rank, 0 is the first.
    """
    shared = shared_terms(job, facts)
    terms = rank_terms(job, facts, shared, whole_terms(job, facts), rank)
    states = state_terms(job, facts)
    other = terms["other"]
    routed = terms["routed"]
    return {
        "rank": rank,
        "parameters": other + routed,
        "num_layers": terms["num_layers"],
        "in_flight": terms["in_flight"],
        "weights": other * states["weight"] + routed * states["routed_weight"],
        "gradients": other * states["gradient"]
        + routed * states["routed_gradient"]
        - terms["spared"],
        "optimizer": other * states["optimizer"] + routed * states["routed_optimizer"],
        "activations": terms["activations"],
        "logits": terms["logits"],
        "buffers": terms["buffers"],
        "reserve": terms["reserve"],
        "total": terms["total"],
    }


def rank_totals(job: Job, facts: MemoryFacts) -> list[WorstRank]:
    """Return ranks, one of which holds the most, each with its ``total`` bytes.

    What every layout has counted already is not counted again: without a pipeline all are one.
    """
    shared = shared_terms(job, facts)
    whole = whole_terms(job, facts)
    ranks = candidate_ranks(job, shared)
    first, full, longer, last = ranks["first"], ranks["full"], ranks["longer"], ranks["last"]
    totals: list[WorstRank] = [
        {"rank": first, "total": rank_terms(job, facts, shared, whole, first)["total"]}
    ]
    if anywhere(full - first != 0.0):
        totals.append({"rank": full, "total": rank_terms(job, facts, shared, whole, full)["total"]})
    if anywhere((longer - first) * (longer - full) != 0.0):
        total = rank_terms(job, facts, shared, whole, longer)["total"]
        totals.append({"rank": longer, "total": total})
    if anywhere((last - first) * (last - full) * (last - longer) != 0.0):
        totals.append({"rank": last, "total": rank_terms(job, facts, shared, whole, last)["total"]})
    if anywhere(stated_split(job)["stated"] > 0.0):
        mixed = mixed_rank(job, shared)
        totals.append(
            {"rank": mixed, "total": rank_terms(job, facts, shared, whole, mixed)["total"]}
        )
    return totals


def worst_rank(job: Job, facts: MemoryFacts) -> WorstRank:
    """Return the ``rank`` that needs the most memory and its ``total`` bytes."""
    totals = rank_totals(job, facts)
    worst = totals[0]["rank"]
    total = totals[0]["total"]
    for one in totals:
        worst = where(one["total"] > total, one["rank"], worst)
        total = maximum(one["total"], total)
    return {"rank": worst, "total": total}


def memory_total_bytes(job: Job, facts: MemoryFacts) -> Number:
    """Return the bytes on the fullest rank: what a search compares with the limit."""
    return worst_rank(job, facts)["total"]


def memory_bytes(job: Job, facts: MemoryFacts) -> MemoryParts:
    """Return the memory of the fullest pipeline rank by part, with its ``rank`` and ``total``."""
    return rank_memory_bytes(job, facts, worst_rank(job, facts)["rank"])
