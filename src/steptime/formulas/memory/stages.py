"""Which layers a pipeline rank holds, uneven stages included.

Stages are cut from a row of slots: one per layer, more for the embedding in front and for
the output head behind where the stack counts them. Rank r starts at slot ``r N / p``, unless the
layers of an end are stated.
"""

from steptime.formulas.number import Number, anywhere, ceil, floor, maximum, minimum, where
from steptime.formulas.records import EndSlots, Job, MemoryFacts, SharedTerms, StageCut, StageLayers
from steptime.formulas.stage_split import stages_before, stated_before, stated_split
from steptime.formulas.validity import ends_count


def end_slots(job: Job, facts: MemoryFacts) -> EndSlots:
    """Return ``embedding`` and ``head``: the layers that each counts for when stages are cut.

    Where p does not divide the layers but divides them plus two, both ends are one layer
    short, as in Llama 3 and BLOOM. Otherwise what the stack states holds.

    References:
        grattafiori2024, Sec. 3.3.2; bigscience2022prequel, "Rebalancing layers".
    """
    both = ends_count(job.num_layers, job.pp)
    unstated = where(facts.embedding_slots + facts.head_slots > 0.0, 0.0, both)
    return {
        "embedding": facts.embedding_slots + unstated,
        "head": facts.head_slots + unstated,
    }


def head_slots_by_cost(job: Job) -> Number:
    """Return the output head's matrix in units of one dense layer's matrices.

    References:
        tazi2025, "Pipeline parallelism" (stages balanced by compute).
    """
    q = job.num_attention_heads * job.head_dim
    layer = 2.0 * job.hidden_size * q + 2.0 * job.hidden_size * job.num_query_groups * job.head_dim
    layer = layer + (2.0 + job.gated) * job.hidden_size * job.ffn_hidden_size
    return job.vocab_size * job.hidden_size / layer


def stage_cut(job: Job, facts: MemoryFacts) -> StageCut:
    """Return what places every cut: slots per stage, shift, and the rank candidates."""
    ends = end_slots(job, facts)
    head = ends["head"] + facts.balance_by_cost * head_slots_by_cost(job)
    slots = job.num_layers + ends["embedding"] + head
    return {
        "slots": slots,
        "stage_slots": slots / job.pp,
        "shift": facts.first_stage_extra - ends["embedding"],
        "dense_layers": where(job.num_experts > 0.0, job.num_dense_layers, job.num_layers),
    }


def cut_before(job: Job, shared: SharedTerms, rank: Number) -> Number:
    """Return the layers in front of the cut between rank ``rank - 1`` and ``rank``.

    Args:
        rank: Pipeline rank, 1 to p - 1.
    """
    start = floor(rank * shared["stage_slots"] + shared["shift"])
    usual = minimum(maximum(start, 0.0), job.num_layers)
    if not anywhere(job.first_stage_layers + job.last_stage_layers > 0.0):
        return usual
    return where(stated_split(job)["stated"] > 0.0, stated_before(job, rank), usual)


def stage_layers(job: Job, shared: SharedTerms, rank: Number) -> StageLayers:
    """Return the ``layers`` of a rank and how many of them hold ``experts``.

    Args:
        rank: Pipeline rank.
    """
    start = where(rank > 0.0, cut_before(job, shared, rank), 0.0)
    after = rank + 1.0
    end = where(after < job.pp, cut_before(job, shared, after), job.num_layers)
    first = shared["dense_layers"]
    experts = maximum(end - first, 0.0) - maximum(start - first, 0.0)
    return {"layers": end - start, "experts": where(job.num_experts > 0.0, experts, 0.0)}


def held_layers(job: Job, shared: SharedTerms, rank: Number) -> StageLayers:
    """Return the layers of a rank as `stage_layers`; DualPipe's hold two stages, one each way.

    Rank r has stages r and p - 1 - r, of which the longer counts for both, with half of the
    leading dense layers that the two have.

    Args:
        rank: Pipeline rank.

    References:
        deepseek2024, Sec. 3.2.1 (both ends of the pipeline feed it).
    """
    one = stage_layers(job, shared, rank)
    other = stage_layers(job, shared, job.pp - 1.0 - rank)
    longer = maximum(one["layers"], other["layers"])
    dense = one["layers"] - one["experts"] + other["layers"] - other["experts"]
    mixed = where(job.num_experts > 0.0, longer - dense / 2.0, 0.0)
    return {
        "layers": where(shared["twice"] > 0.0, longer, one["layers"]),
        "experts": where(shared["twice"] > 0.0, mixed, one["experts"]),
    }


def candidate_ranks(job: Job, shared: SharedTerms) -> dict[str, Number]:
    """Return the ranks one of which holds the most: first, two in the middle, last.

    Micro-batches in flight never grow with the rank, so among middle ranks only two count: the
    first without a leading dense layer, and the first that rounding gives one layer more; of
    stages between stated ones that is the first.
    """
    last = job.pp - 1.0
    slots = shared["stage_slots"]
    dense = where(job.num_experts > 0.0, shared["dense_layers"], 0.0)
    full = maximum(ceil((dense - shared["shift"]) / slots), 1.0)
    rest = shared["slots"] - floor(slots) * job.pp
    part = shared["shift"] - floor(shared["shift"])
    steps = (floor(full * rest / job.pp + part) + 1.0 - part) * job.pp
    longer = where(rest > 0.0, ceil(steps / where(rest > 0.0, rest, 1.0)) - 1.0, full)
    split = stated_split(job)
    stated, between = split["stated"] > 0.0, where(split["ahead"] > 0.0, 1.0, 0.0)
    whole = maximum(split["ahead"] + stages_before(split, dense - job.first_stage_layers), between)
    return {
        "first": 0.0,
        "full": minimum(where(stated, whole, full), last),
        "longer": minimum(where(stated, between, longer), last),
        "last": last,
    }


def mixed_rank(job: Job, shared: SharedTerms) -> Number:
    """Return the last rank with a leading dense layer, of those between stated ends.

    It may be longer than the first one without, and has experts that those before it lack.

    Args:
        job: States the layers of at least one end.
    """
    split = stated_split(job)
    dense = where(job.num_experts > 0.0, shared["dense_layers"], 0.0)
    behind = split["ahead"] + stages_before(split, dense - job.first_stage_layers) - 1.0
    return minimum(maximum(behind, split["ahead"]), job.pp - 1.0)
