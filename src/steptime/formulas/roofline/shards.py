"""What data parallelism sends with each micro-batch, and the groups that it sends over."""

from steptime.formulas.experts import expert_ranks
from steptime.formulas.number import Number, anywhere, maximum, where
from steptime.formulas.ranks import (
    data_ranks,
    expert_data_ranks,
    expert_shard_ranks,
    shard_ranks,
    sharding_stage,
    weight_copies,
)
from steptime.formulas.records import (
    Constants,
    Exchanges,
    Job,
    LayerMessages,
    Passes,
    Rounds,
    TimeFacts,
)
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
    return mixture_share(job) * job.num_experts / expert_ranks(job) * one


def near_ranks(job: Job, ranks: Number, inner: Number) -> Number:
    """Return how many of the ranks that hold the same parameter share an NVLink domain.

    A mirror (DualPipe) lies at the other end of the pipeline.

    Args:
        ranks: Ranks of the group.
        inner: Ranks of the groups that are placed before it, side by side.
    """
    here = where(crosses_servers(job) > 0.0, ranks / weight_copies(job), ranks)
    return ranks_inside(job, maximum(here, 1.0), inner)


def exchanges_s(
    job: Job, constants: Constants, value_bytes: Number, common: Number, routed: Number
) -> Exchanges:
    """Return the times to share parameters, or their gradients, over data-parallel ranks.

    Routed experts have groups of their own, which lie beyond the ranks that share experts out.
    Ranks that share out what is sharded lie next to each other, its copies beyond them.

    Args:
        value_bytes: Of each parameter.
        common: Parameters on a device, routed experts apart.
        routed: Those of routed experts.

    Returns:
        ``shards``: one gather or scatter over the ranks that share out; ``copies``: adding up
        over the copies of what is sharded, after a scatter; ``whole``: adding up over all.

    References:
        singh2023, Sec. 3 (the experts' groups); zhao2023, Sec. 3.2.2 (copies: a reduce-scatter
        inside a group, an all-reduce over the groups).
    """
    first = _group_s(
        job, constants, value_bytes * common, data_ranks(job), shard_ranks(job), job.tp
    )
    ranks, sharing = maximum(expert_data_ranks(job), 1.0), expert_shard_ranks(job)
    inner = expert_ranks(job)
    second = _group_s(job, constants, value_bytes * routed, ranks, sharing, inner)
    return {
        "shards": first["shards"] + second["shards"],
        "copies": first["copies"] + second["copies"],
        "whole": first["whole"] + second["whole"],
    }


def _group_s(
    job: Job,
    constants: Constants,
    size_bytes: Number,
    ranks: Number,
    sharing: Number,
    inner: Number,
) -> Exchanges:
    """Return the three times for one group of ranks; nothing is sent where there is nothing."""
    if not anywhere(size_bytes > 0.0):
        return {"shards": 0.0, "copies": 0.0, "whole": 0.0}
    some = where(size_bytes > 0.0, 1.0, 0.0)
    near = near_ranks(job, sharing, inner)
    copies = ranks / sharing
    beyond = ranks_inside(job, copies, inner * sharing)
    whole = reduce_s(job, constants, size_bytes, ranks, near_ranks(job, ranks, inner))
    return {
        "shards": some * gather_s(job, constants, size_bytes, sharing, near),
        "copies": some * reduce_s(job, constants, size_bytes / sharing, copies, beyond),
        "whole": some * whole,
    }


def microbatch_rounds(job: Job, stack: TimeFacts) -> Rounds:
    """Return what of fully sharded weights and sharded gradients moves with each micro-batch.

    Stage 3 gathers weights before either pass, or keeps them between the two; where gradients
    alone are sharded, weights are whole or dropped after the backward pass (FSDP). Gradients of
    stages 2 and 3 are scattered after each backward pass. In a pipeline PyTorch's FSDP drops no
    weights after a backward pass and adds whole gradients up until the last.

    Args:
        job: ``zero_stage``.
        stack: ``reshard_after_forward``, ``gather_each_microbatch``,
            ``reduce_each_microbatch`` and ``keep_in_pipeline``.

    Returns:
        ``forward`` and ``backward``: gathers before each pass; ``scatter``: 1 where gradients
        are scattered each time; ``kept``: 1 where the pipeline keeps them.

    References:
        rajbhandari2020, Sec. 7; zhao2023, Sec. 3.3; torch2026, distributed/pipelining/stage.py;
        megatronlm2026, distributed/fsdp (sharded gradients are reduced in every backward pass).
    """
    stage = sharding_stage(job)
    kept = where(job.pp > 1.0, where(stage > 1.0, stack.keep_in_pipeline, 0.0), 0.0)
    dropped = where(stage > 2.0, 1.0, where(stage > 1.0, stack.gather_each_microbatch, 0.0))
    return {
        "forward": dropped * (1.0 - kept),
        "backward": where(stage > 2.0, stack.reshard_after_forward, 0.0),
        "scatter": where(stage > 1.0, stack.reduce_each_microbatch * (1.0 - kept), 0.0),
        "kept": kept,
    }


def layer_messages_s(job: Job, stack: TimeFacts, constants: Constants) -> LayerMessages:
    """Return the times to ``gather`` a layer's weights and to ``scatter`` its gradients.

    Args:
        stack: ``sent_gradient_bytes`` and ``gathered_weight_bytes``; ``copies_each_microbatch``
            is 1 where gradients are added up over the copies of what is sharded each time.
        constants: As in `exchanges_s`.
    """
    shared, routed = shared_layer_parameters(job), routed_layer_parameters(job)
    grads = exchanges_s(job, constants, stack.sent_gradient_bytes, shared, routed)
    weights = exchanges_s(job, constants, stack.gathered_weight_bytes, shared, routed)
    return {
        "gather": weights["shards"],
        "scatter": grads["shards"] + stack.copies_each_microbatch * grads["copies"],
    }


def gathered_weights_s(
    job: Job, stack: TimeFacts, constants: Constants, forward_s: Number, backward_s: Number
) -> Passes:
    """Return the exposed time of gathering a layer's weights and sharing its gradients.

    A message hides behind the layer that computes meanwhile, but slows it: a share of the
    hidden time shows all the same.

    Args:
        job: ``zero_stage`` 3 shards weights, 2 gradients.
        stack: As in `layer_messages_s` and `microbatch_rounds`.
        constants: ``contention`` is that share.
        forward_s: What a layer's forward computes for one micro-batch.
        backward_s: The same of the part of its backward that may not be put off.

    Returns:
        ``forward`` and ``backward``.

    References:
        zhao2023, Sec. 3.3; rajbhandari2020, Sec. 7.
    """
    if not anywhere(sharding_stage(job) > 1.0):
        return {"forward": 0.0, "backward": 0.0}
    rounds = microbatch_rounds(job, stack)
    one = layer_messages_s(job, stack, constants)
    back = rounds["backward"] * one["gather"] + rounds["scatter"] * one["scatter"]
    return {
        "forward": shown_s(constants, rounds["forward"] * one["gather"], forward_s),
        "backward": shown_s(constants, back, backward_s),
    }
