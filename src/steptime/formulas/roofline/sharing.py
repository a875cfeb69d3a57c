"""What data parallelism and the optimizer add to a step, once."""

from steptime.formulas.flops import num_microbatches
from steptime.formulas.number import Number, anywhere, maximum, where
from steptime.formulas.ranks import (
    data_ranks,
    expert_shard_ranks,
    shard_ranks,
    sharding_stage,
    weight_copies,
)
from steptime.formulas.records import Constants, Job, Parameters, Rounds, TimeFacts
from steptime.formulas.roofline.layer import crosses_servers
from steptime.formulas.roofline.links import reduce_s
from steptime.formulas.roofline.shards import (
    exchanges_s,
    layer_messages_s,
    microbatch_rounds,
    near_ranks,
    routed_layer_parameters,
    shared_layer_parameters,
)
from steptime.formulas.schedule import chunk_run


def stage_parameters(job: Job, layers: Number) -> Parameters:
    """Return the parameters on a device of a stage with an embedding or a head.

    Args:
        layers: Of the stage.

    Returns:
        ``shared`` by all data-parallel ranks, and ``routed`` ones of experts; of both stages
        where a rank holds two.
    """
    matrix = job.vocab_size * job.hidden_size / job.tp
    copies = weight_copies(job)
    return {
        "shared": copies * (layers * shared_layer_parameters(job) + matrix),
        "routed": copies * layers * routed_layer_parameters(job),
    }


def gradients_s(
    job: Job,
    stack: TimeFacts,
    constants: Constants,
    layers: Number,
    forward_s: Number,
    backward_s: Number,
) -> Number:
    """Return the exposed time of sharing gradients once a step, and gathering new weights.

    Overlapped, what outlasts the passes left shows, see `behind_chunks_s` (those of the next
    first micro-batches too, where weights are gathered), with a share of what hides, and at
    least the last layer's part. Of what moves with each micro-batch, the last layer's gradients
    and the first layer's weights show.

    Args:
        job: ``zero_stage`` 1 to 3 shard the optimizer.
        stack: ``overlap_dp``, and ``overlap_plain_dp`` for one stage and nothing sharded;
            ``sent_gradient_bytes`` and ``gathered_weight_bytes``; ``gradient_all_reduce`` is 1
            where sharded optimizers still add up whole gradients; ``bucket_bytes`` is the size of
            a message with gradients, or with new weights where the optimizer is sharded; and as
            in `microbatch_rounds`.
        constants: ``hop_s`` for each domain that each bucket passes; ``contention`` is the
            share of what hides that shows all the same.
        layers: Of the stage.
        forward_s: Time of the stage's forward for one micro-batch.
        backward_s: The same of its backward.

    References:
        rajbhandari2020, Sec. 7; li2020, Sec. 3.2 (buckets).
    """
    rounds = microbatch_rounds(job, stack)
    one = stage_parameters(job, layers)
    sent = stack.sent_gradient_bytes
    grads = exchanges_s(job, constants, sent, one["shared"], one["routed"])
    weights = exchanges_s(job, constants, stack.gathered_weight_bytes, one["shared"], one["routed"])
    gather = weights["shards"]
    sharded = where(sharding_stage(job) > 0.0, 1.0, 0.0)
    fresh = sharded * where(rounds["forward"] + rounds["backward"] > 0.0, 0.0, 1.0)
    each_copies = rounds["scatter"] * (1.0 - stack.copies_each_microbatch) * grads["copies"]
    scatter = where(
        stack.gradient_all_reduce > 0.0, grads["whole"], grads["shards"] + grads["copies"]
    )
    scatter = where(rounds["scatter"] > 0.0, each_copies, scatter)
    reduced = where(sharded > 0.0, scatter, grads["whole"])
    all_s = reduced + fresh * gather + hops_s(job, stack, constants, one, fresh)
    # What a pipeline kept back is scattered after its last backward pass.
    once = (1.0 - rounds["scatter"]) * (1.0 - rounds["kept"])
    hiding = once * backward_s + fresh * forward_s
    beyond = maximum(behind_chunks_s(job, all_s, hiding), 0.0)
    shown = maximum(beyond + constants.contention * (all_s - beyond), all_s / maximum(layers, 1.0))
    plain = where(job.pp > 1.0, 0.0, stack.overlap_plain_dp * (1.0 - sharded))
    exposed = where(maximum(stack.overlap_dp, plain) > 0.0, shown, all_s)
    return exposed + edges_s(job, stack, constants, rounds)


def behind_chunks_s(job: Job, all_s: Number, passes_s: Number) -> Number:
    """Return what shows of messages that each chunk of a rank sends when its last pass is done.

    A chunk's share of the messages hides behind its own last pass and behind the passes of the
    chunks that still follow, each of which runs a round of micro-batches, see `chunk_run`. With
    one chunk that is the last pass alone; without a pipeline there are no chunks.

    Args:
        all_s: All of the messages, alike for each chunk and one after another.
        passes_s: What they hide behind of all chunks, for one micro-batch.

    References:
        megatronlm2026, pipeline_parallel/schedules.py (grad_sync_func of each chunk); derived
        here.
    """
    run = chunk_run(job.schedule, job.pp, num_microbatches(job))
    chunks = where(job.pp > 1.0, job.vpp, 1.0)
    one_s = passes_s / chunks
    queued_s = all_s - ((chunks - 1.0) * run + 1.0) * one_s
    return maximum(queued_s, all_s / chunks - one_s)


def hops_s(
    job: Job, stack: TimeFacts, constants: Constants, one: Parameters, fresh: Number
) -> Number:
    """Return what the domains passed cost the messages that share a stage once a step.

    Args:
        stack: ``bucket_bytes`` is the size of a message, ``gathered_weight_bytes`` and
            ``sent_gradient_bytes`` are those of a value.
        constants: ``hop_s`` for each domain that each of them passes.
        one: Parameters of the stage.
        fresh: 1 where new weights are gathered once a step; else gradients count where nothing
            is sharded.
    """
    ranks = data_ranks(job)
    inside = near_ranks(job, ranks, job.tp)
    domains = where(ranks > inside, ranks / inside, 0.0)
    plain = where(sharding_stage(job) > 0.0, 0.0, stack.sent_gradient_bytes)
    value_bytes = where(fresh > 0.0, stack.gathered_weight_bytes, plain)
    buckets = value_bytes * (one["shared"] + one["routed"]) / stack.bucket_bytes
    return buckets * domains * constants.hop_s


def edges_s(job: Job, stack: TimeFacts, constants: Constants, rounds: Rounds) -> Number:
    """Return what shows of the first and the last layer of fully sharded messages.

    Nothing computes yet, or any more, that they could hide behind.

    Args:
        stack: As in `layer_messages_s`.
        rounds: From `microbatch_rounds`.
    """
    if not anywhere(sharding_stage(job) > 1.0):
        return 0.0
    one = layer_messages_s(job, stack, constants)
    return 2.0 * (rounds["forward"] * one["gather"] + rounds["scatter"] * one["scatter"])


def tied_s(job: Job, stack: TimeFacts, constants: Constants) -> Number:
    """Return the time to add up the gradients of an embedding that is also the output head.

    Its two copies lie on the first and on the last stage: 0 with one stage.

    Args:
        job: ``tied`` is 1 or 0.
        stack: ``sent_gradient_bytes``.
        constants: As in `reduce_s`.

    References:
        shoeybi2019, Sec. 3 (the embedding is shared with the head).
    """
    size = stack.sent_gradient_bytes * job.vocab_size * job.hidden_size / job.tp
    inside = where(crosses_servers(job) > 0.0, 1.0, 2.0)
    return job.tied * where(job.pp > 1.0, reduce_s(job, constants, size, 2.0, inside), 0.0)


def optimizer_s(job: Job, stack: TimeFacts, constants: Constants, layers: Number) -> Number:
    """Return the time of the optimizer.

    Adam reads and writes a 32-bit copy of each parameter and two moments, reads the gradient,
    twice with the norm, and writes the 16-bit parameter.

    Args:
        stack: ``sent_gradient_bytes``.
        constants: ``hbm_efficiency`` is used.
        layers: Of the stage.

    References:
        rajbhandari2020, Sec. 3.1 (what mixed-precision Adam keeps).
    """
    sharded = job.zero_stage > 0.0
    one = stage_parameters(job, layers)
    shared = one["shared"] / where(sharded, shard_ranks(job), 1.0)
    routed = one["routed"] / where(sharded, expert_shard_ranks(job), 1.0)
    states = 2.0 * (4.0 + 4.0 + 4.0) + 2.0
    moved = (states + 2.0 * stack.sent_gradient_bytes) * (shared + routed)
    return moved / (job.hbm_bytes_per_s * constants.hbm_efficiency)
