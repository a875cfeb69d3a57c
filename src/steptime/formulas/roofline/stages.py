"""Which stage of the pipeline sets the pace, and what the others leave idle."""

from steptime.formulas.layout_terms import stage_imbalance
from steptime.formulas.number import Number, ceil_div, floor, maximum, minimum, where
from steptime.formulas.ranks import weight_copies
from steptime.formulas.records import Constants, EndRank, Floors, Job, Longest, Pace, TimeFacts
from steptime.formulas.roofline.attention import output_width
from steptime.formulas.roofline.layer import crosses_servers, input_outputs
from steptime.formulas.roofline.matmul import gradient_products_s, product_s
from steptime.formulas.roofline.rates import ceiling_flop_per_s
from steptime.formulas.schedule import entry_number, runs_pairs
from steptime.formulas.stage_split import stated_longest, stated_most, stated_split
from steptime.formulas.validity import ends_count


def head_s(job: Job, stack: TimeFacts, constants: Constants, tokens: Number) -> Number:
    """Return the time of the logits and their loss for one micro-batch, both passes.

    Args:
        stack: ``loss_bytes`` are moved for each logit by the cross-entropy.
        tokens: Of a micro-batch on this device.
    """
    rate = ceiling_flop_per_s(job, stack, constants)
    logits, h = job.vocab_size / job.tp, job.hidden_size
    products = product_s(job, constants, tokens, logits, h, rate)
    products = products + gradient_products_s(job, constants, tokens, logits, h, rate)
    moved = stack.loss_bytes * tokens * logits
    return products + moved / (job.hbm_bytes_per_s * constants.hbm_efficiency)


def cut_by_cost(job: Job) -> Longest:
    """Return the layers of the longest stage and of the last, cut by parameters.

    A block that would take a stage beyond its share goes to the next, so stage r begins at
    ``floor(r share)`` and the head, which counts for as many layers as it has parameters, is
    on the last.

    Returns:
        ``first`` and ``middle``, the longest stage but for the last, and ``last``.

    References:
        tazi2025, "Pipeline parallelism" (blocks are placed by their cost).
    """
    layer = input_outputs(job) + output_width(job) + (2.0 + job.gated) * job.ffn_hidden_size
    share = (job.num_layers + job.vocab_size / layer) / job.pp
    before = floor((job.pp - 1.0) * share)
    one_more = where(before > (job.pp - 1.0) * floor(share), 1.0, 0.0)
    most = minimum(floor(share) + one_more, job.num_layers)
    return {
        "first": most,
        "middle": most,
        "last": maximum(job.num_layers - before, 0.0),
    }


def longest(job: Job, stack: TimeFacts) -> Longest:
    """Return the layers of the first stage, of the longest between, and of the last.

    They are as stated; else layers are cut evenly, or so that embedding and head count as a
    layer each, or so that the head counts for as many layers as it has parameters. The first
    stage then counts as long as the longest.

    Args:
        stack: ``edges_count`` and ``balance_by_cost`` are 1 where software cuts that way.

    Returns:
        ``first``, ``middle`` and ``last``.

    References:
        narayanan2021, Sec. 2.2; grattafiori2024, Sec. 3.3.2 (one layer less at both ends).
    """
    p, layers = job.pp, job.num_layers
    even = ceil_div(layers, p)
    short = where(even * p > layers, 1.0, 0.0)
    by_cost = cut_by_cost(job)
    edges = (layers + 2.0) / p
    ends = stack.edges_count * ends_count(layers, p * job.vpp)
    usual = where(ends > 0.0, edges, even)
    last_usual = where(ends > 0.0, edges - 1.0, even - short)
    middle = where(stack.balance_by_cost > 0.0, by_cost["middle"], usual)
    last = where(stack.balance_by_cost > 0.0, by_cost["last"], last_usual)
    stated, own = stated_split(job)["stated"] > 0.0, stated_longest(job)
    return {
        "first": where(stated, own["first"], middle),
        "middle": where(stated, own["middle"], middle),
        "last": where(stated, own["last"], last),
    }


def end_rank(job: Job, cut: Longest) -> EndRank:
    """Return what the rank with the output head works on for each micro-batch.

    In DualPipe that rank holds the first stage and the last one, and half of the micro-batches
    pass either. A V comes back to the first rank, which counts where its layers are stated. Else
    it holds the last one alone.

    Args:
        cut: From `longest`.

    Returns:
        ``layers``, ``heads`` and ``embeddings``, and the ``others``' embeddings.

    References:
        deepseek2024, Sec. 3.2.1 (both ends of the pipeline feed it); qi2024, Fig. 4; derived here.
    """
    twice = weight_copies(job) > 1.0
    vee = stated_split(job)["stated"] * entry_number("vee", job.schedule) > 0.0
    alone = where(vee, cut["first"], cut["last"])
    return {
        "layers": where(twice, 0.5 * (cut["first"] + cut["last"]), alone),
        "heads": where(twice, 0.5, 1.0),
        "embeddings": where(twice, 0.5, where(vee, 1.0, 0.0)),
        "others": where(twice, 0.0, where(vee, 0.0, 1.0)),
    }


def pace(
    job: Job,
    stack: TimeFacts,
    layer_s: Number,
    first_s: Number,
    head_time_s: Number,
    floors: Floors,
) -> Pace:
    """Return the layers and ends of the slowest rank, and what the rest of them leaves.

    Args:
        layer_s: Time of a layer for one micro-batch.
        first_s: Time of the embedding's messages for one micro-batch.
        head_time_s: Time of the head for one micro-batch, its messages included.
        floors: Least times of a layer: ``staged`` while stages send and receive in turn,
            ``host`` while they fill and drain.

    Returns:
        ``layers``, ``embeddings`` and ``heads`` of the slowest rank, ``held_s``: what the host
        or waits add to it for one micro-batch, ``others_s``: the time of all other ranks, and
        ``most``: the layers of the stage with the most, whose parameters take longest to share.
    """
    cut, layers, staged = longest(job, stack), job.num_layers, floors["staged"]
    end = end_rank(job, cut)
    each_s = maximum(layer_s, staged)
    front_s, middle_s = cut["first"] * each_s + end["others"] * first_s, cut["middle"] * each_s
    at_front = front_s >= middle_s
    ahead_s = where(at_front, front_s, middle_s)
    embeds = where(at_front, end["others"], 0.0)
    last_s = maximum(end["layers"] * layer_s + end["heads"] * head_time_s, end["layers"] * staged)
    last_s = last_s + end["embeddings"] * first_s
    at_end = where(last_s > ahead_s, 1.0, 0.0)
    ahead = where(at_front, cut["first"], cut["middle"])
    staged_layers = where(at_end > 0.0, end["layers"], ahead)
    most = where(job.pp > 1.0, staged_layers, layers)
    heads = where(job.pp > 1.0, at_end * end["heads"], 1.0)
    firsts = at_end * end["embeddings"] + (1.0 - at_end) * embeds
    firsts = where(job.pp > 1.0, firsts, 1.0)
    held_s = maximum(most * staged - most * layer_s - heads * head_time_s, 0.0)
    rest_s = (layers - most) * maximum(layer_s, floors["host"]) + (1.0 - heads) * head_time_s
    rest_s = rest_s + (1.0 - firsts) * first_s
    longest_all = maximum(maximum(cut["first"], cut["middle"]), cut["last"])
    return {
        "layers": most,
        "embeddings": firsts,
        "heads": heads,
        "held_s": held_s,
        "others_s": where(job.pp > 1.0, rest_s, 0.0),
        "most": where(job.pp > 1.0, longest_all, layers),
    }


def longer_chunks(job: Job) -> Number:
    """Return how much longer the longest chunks make a stage than its layers alone: 1 or more.

    Chunks of unlike length run at the pace of the longest.

    References:
        derived here, book/search.md.
    """
    even = ceil_div(job.num_layers, job.pp)
    most = where(stated_split(job)["stated"] > 0.0, stated_most(job), even)
    stages = most * job.pp / job.num_layers
    return maximum(stage_imbalance(job) / stages, 1.0)


def stages_side_by_side(job: Job) -> Number:
    """Return how many stages of a pipeline lie in one NVLink domain: 1 or more.

    Args:
        job: ``data_inside`` is 1 where data-parallel ranks are nearer than the pipeline's.
    """
    ranks = job.tp * job.cp * where(job.data_inside > 0.0, job.dp, 1.0)
    return maximum(floor(job.nvlink_domain / ranks), 1.0)


def sends_s(
    job: Job, stack: TimeFacts, constants: Constants, tokens: Number, num_microbatches: Number
) -> Number:
    """Return the exposed time of the messages between stages: 0 with one stage.

    A rank exchanges with both neighbours for each micro-batch and waits for either. Stages side
    by side in one domain talk over NVLink, so the ranks at a domain's end have one slow edge of
    two and set the pace; filling and draining pass each edge once.

    Args:
        stack: ``scattered_sends`` is 1 where each tensor-parallel rank sends its part only,
            ``overlap_sends`` where sending and computing go on together, which takes more
            chunks than one or a schedule that pairs passes: then only those that fill and drain
            the pipeline show.
        constants: ``link_efficiency``, ``network_efficiency`` and ``hop_s``.
        tokens: Of a micro-batch on this device.
        num_microbatches: Per step and data-parallel rank.

    References:
        narayanan2021, Sec. 4.1; megatronlm2026, pipeline_parallel/p2p_communication.py (an
        exchange is waited for); deepseek2024, Sec. 3.2.1 (pairs hide what stages send).
    """
    split = where(stack.scattered_sends + job.sequence_parallel > 0.0, job.tp, 1.0)
    size = tokens * job.hidden_size * 2.0 / split
    far = size / (constants.network_efficiency * job.network_bytes_per_s) + constants.hop_s
    linked = size / (constants.link_efficiency * job.nvlink_bytes_per_s) + constants.hop_s
    # Cards without NVLink may have a link between them that is slower than their adapter.
    near = minimum(linked, far)
    side = stages_side_by_side(job)
    leaving = where(crosses_servers(job) > 0.0, ceil_div(job.pp, side) - 1.0, 0.0)
    others = where(job.vpp > 1.0, 1.0, runs_pairs(job.schedule, job.vpp))
    hides = stack.overlap_sends * others
    steady = where(hides > 0.0, 0.0, num_microbatches * job.vpp)
    ahead = where(leaving > 0.0, far, near)
    behind = where(side > 1.0, near, ahead)
    filling = leaving * far + (job.pp - 1.0 - leaving) * near
    return where(job.pp > 1.0, steady * (ahead + behind) + 2.0 * filling, 0.0)
