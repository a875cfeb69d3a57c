"""What data parallelism and the optimizer add to a step."""

from steptime.formulas.number import Number, maximum, where
from steptime.formulas.ranks import data_ranks, shard_ranks, sharding_stage
from steptime.formulas.records import Constants, Job, Passes, TimeFacts
from steptime.formulas.roofline.attention import output_width
from steptime.formulas.roofline.experts import mixture_share
from steptime.formulas.roofline.layer import crosses_servers, input_outputs
from steptime.formulas.roofline.links import gather_s, reduce_s, shown_s
from steptime.formulas.roofline.rates import ranks_inside


def shared_layer_parameters(job: Job) -> Number:
    """Return the parameters of one average layer on one device, routed experts apart."""
    share = mixture_share(job)
    shared = share * job.num_shared_experts * job.expert_ffn_hidden_size
    width = job.ffn_hidden_size * (1.0 - share) + shared
    attention = input_outputs(job) + output_width(job)
    return (attention + (2.0 + job.gated) * width) * job.hidden_size / job.tp


def routed_layer_parameters(job: Job) -> Number:
    """Return the parameters of routed experts of one average layer on one device."""
    one = (2.0 + job.gated) * job.expert_ffn_hidden_size * job.hidden_size
    return mixture_share(job) * job.num_experts / (job.ep * job.etp) * one


def copies_s(job: Job, constants: Constants, size_bytes: Number) -> Number:
    """Return the time to add up what is sharded over its copies: 0 with one copy.

    Ranks that share out lie next to each other, copies beyond them.

    Args:
        size_bytes: Before it was scattered over the ranks that share it.

    References:
        zhao2023, Sec. 3.2.2 (a reduce-scatter inside a group, an all-reduce over the groups).
    """
    ranks = shard_ranks(job)
    inside = ranks_inside(job, job.dp_replicate, job.tp * ranks)
    return reduce_s(job, constants, size_bytes / ranks, job.dp_replicate, inside)


def gathered_weights_s(
    job: Job, stack: TimeFacts, constants: Constants, forward_s: Number, backward_s: Number
) -> Passes:
    """Return the exposed time of gathering a layer's weights and sharing its gradients.

    Only with fully sharded weights. A message hides behind the layer that computes
    meanwhile, but slows it: a share of the hidden time shows all the same.

    Args:
        job: ``zero_stage`` 3 shards weights.
        stack: ``sent_gradient_bytes``.
        constants: ``contention`` is that share.
        forward_s: What a layer's forward computes for one micro-batch.
        backward_s: The same of the part of its backward that may not be put off.

    Returns:
        ``forward`` and ``backward``.

    References:
        zhao2023, Sec. 3.3; rajbhandari2020, Sec. 7.
    """
    ranks = shard_ranks(job)
    inside = ranks_inside(job, ranks, job.tp)
    own = shared_layer_parameters(job)
    gather = gather_s(job, constants, 2.0 * own, ranks, inside)
    size = stack.sent_gradient_bytes * own
    scatter = gather_s(job, constants, size, ranks, inside) + copies_s(job, constants, size)
    shared = where(sharding_stage(job) > 2.0, 1.0, 0.0)
    return {
        "forward": shared * shown_s(constants, gather, forward_s),
        "backward": shared * shown_s(constants, gather + scatter, backward_s),
    }


def stage_parameters(job: Job, layers: Number) -> Number:
    """Return the parameters on a device of a stage with an embedding or a head.

    Args:
        layers: Of the stage.
    """
    layer = shared_layer_parameters(job) + routed_layer_parameters(job)
    return layers * layer + job.vocab_size * job.hidden_size / job.tp


def gradients_s(
    job: Job,
    stack: TimeFacts,
    constants: Constants,
    layers: Number,
    forward_s: Number,
    backward_s: Number,
) -> Number:
    """Return the exposed time of sharing gradients once a step, and gathering new weights.

    Overlapped, only what outlasts the last micro-batch's backward shows (and the next first
    forward, where weights are gathered), and at least the last layer's part.

    Args:
        job: ``zero_stage`` 1 and 2 shard the optimizer.
        stack: ``overlap_dp``, and ``overlap_plain_dp`` for one stage and nothing sharded;
            ``sent_gradient_bytes``; ``gradient_all_reduce`` is 1 where sharded optimizers still
            add up whole gradients; ``bucket_bytes`` is the size of a message with gradients, or
            with new weights where the optimizer is sharded.
        constants: ``hop_s`` for each domain that each bucket passes.
        layers: Of the stage.
        forward_s: Time of the stage's forward for one micro-batch.
        backward_s: The same of its backward.

    References:
        rajbhandari2020, Sec. 7; li2020, Sec. 3.2 (buckets).
    """
    ranks, sharing = data_ranks(job), shard_ranks(job)
    inside = ranks_inside(job, ranks, job.tp)
    near = ranks_inside(job, sharing, job.tp)
    own = stage_parameters(job, layers)
    sharded = where(sharding_stage(job) > 0.0, 1.0, 0.0)
    size = stack.sent_gradient_bytes * own
    scatter = gather_s(job, constants, size, sharing, near) + copies_s(job, constants, size)
    gather = gather_s(job, constants, 2.0 * own, sharing, near)
    whole = reduce_s(job, constants, size, ranks, inside)
    shared = where(stack.gradient_all_reduce > 0.0, whole, scatter) + gather
    domains = where(ranks > inside, ranks / inside, 0.0)
    buckets = where(sharded > 0.0, 2.0 * own, size) / stack.bucket_bytes
    all_s = where(sharded > 0.0, shared, whole) + buckets * domains * constants.hop_s
    hiding = backward_s + sharded * forward_s
    shown = maximum(all_s - hiding, all_s / maximum(layers, 1.0))
    plain = where(job.pp > 1.0, 0.0, stack.overlap_plain_dp * (1.0 - sharded))
    exposed = where(maximum(stack.overlap_dp, plain) > 0.0, shown, all_s)
    # Fully sharded: the last layer's gradients and the first layer's weights still show.
    layer = shared_layer_parameters(job)
    grads = stack.sent_gradient_bytes * layer
    edge = gather_s(job, constants, 2.0 * layer, sharing, near)
    edge = edge + gather_s(job, constants, grads, sharing, near) + copies_s(job, constants, grads)
    return where(sharding_stage(job) > 2.0, 2.0 * edge, exposed)


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
    split = where(job.zero_stage > 0.0, shard_ranks(job), 1.0)
    states = 2.0 * (4.0 + 4.0 + 4.0) + 2.0
    moved = (states + 2.0 * stack.sent_gradient_bytes) * stage_parameters(job, layers) / split
    return moved / (job.hbm_bytes_per_s * constants.hbm_efficiency)
