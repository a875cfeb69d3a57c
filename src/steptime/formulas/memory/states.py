"""Bytes of weights, gradients and optimizer states, and what ZeRO divides."""

from steptime.formulas.flops import num_microbatches
from steptime.formulas.number import Number, where
from steptime.formulas.ranks import data_ranks, expert_data_ranks, expert_shard_ranks, shard_ranks
from steptime.formulas.records import Job, MemoryFacts, StateTerms, WholeTerms


def drops_weights(job: Job, facts: MemoryFacts) -> Number:
    """Return 1 where sharded weights are there for a moment only: fully sharded, and not kept.

    A pipeline of PyTorch's FSDP keeps them gathered after a backward pass.

    Args:
        facts: ``reshard_after_forward`` and ``keep_in_pipeline``.

    References:
        zhao2023, Sec. 3.3; torch2026, distributed/pipelining/stage.py.
    """
    dropped = where(job.zero_stage > 2.0, facts.reshard_after_forward, 0.0)
    return dropped * (1.0 - where(job.pp > 1.0, facts.keep_in_pipeline, 0.0))


def scatters_gradients(job: Job, facts: MemoryFacts) -> Number:
    """Return 1 where gradients are scattered after each micro-batch, so that shards are held.

    Args:
        facts: ``reduce_each_microbatch`` and ``keep_in_pipeline``.

    References:
        rajbhandari2020, Sec. 5.2; torch2026, distributed/pipelining/stage.py.
    """
    each = where(job.zero_stage > 1.0, facts.reduce_each_microbatch, 0.0)
    return each * (1.0 - where(job.pp > 1.0, facts.keep_in_pipeline, 0.0))


def freed_gradients(job: Job, facts: MemoryFacts) -> Number:
    """Return 1 where no gradient is there before the step's only backward pass makes it.

    Activations go as sharded gradients come, so the larger of both counts. With several
    micro-batches, those of the first stay.

    Args:
        facts: ``gradients_freed``: the optimizer gives them back once they are used.

    References:
        torch2026, optim/optimizer.py (zero_grad sets gradients to none).
    """
    again = num_microbatches(job)
    return facts.gradients_freed * where(again > 1.0, 0.0, scatters_gradients(job, facts))


def weight_bytes(job: Job, facts: MemoryFacts, ranks: Number) -> Number:
    """Return bytes per parameter held as weights.

    Training in 8 bits keeps its 8-bit copies (rows, and columns for the backward pass) beside them.

    Args:
        ranks: Ranks that hold the same parameter; what stage 3 drops is divided by them.

    References:
        rajbhandari2020, Sec. 5.3 (stage 3); micikevicius2022, Sec. 4.
    """
    copies = facts.weight_bytes + job.fp8 * facts.fp8_copy_bytes
    return copies / where(drops_weights(job, facts) > 0.0, ranks, 1.0)


def gradient_bytes(job: Job, facts: MemoryFacts, ranks: Number) -> Number:
    """Return bytes per parameter held as gradients: those being accumulated, and any second copy.

    A second copy is what the backward pass writes before it is reduced: stage 2 still needs it.

    Args:
        ranks: Ranks that share a parameter; what is scattered is divided by them.

    References:
        rajbhandari2020, Sec. 5.2 (stage 2); deepspeed2026, Memory Requirements.
    """
    scattered = scatters_gradients(job, facts)
    shares_all = where(job.zero_stage > 2.0, scattered, 0.0)
    added_up = facts.gradient_bytes / where(scattered > 0.0, ranks, 1.0)
    second = facts.extra_gradient_bytes / where(shares_all > 0.0, ranks, 1.0)
    return added_up + second


def exchange_bytes(facts: MemoryFacts, ranks: Number) -> Number:
    """Return bytes per parameter of the flat copy that a data-parallel exchange sends from.

    One rank exchanges nothing. Buckets of gradients stand all the time; a flat output of the
    last step's all-gather is not there at the peak, but no block of an activation is large
    enough for it, so the allocator holds both.

    Args:
        ranks: Ranks that train the same parameter.

    References:
        li2020, Sec. 4.2 (gradient bucketing); tazi2025, nanotron, distributed.py
        (all_gather_coalesced flattens what it gathers).
    """
    return where(ranks > 1.0, facts.exchange_bytes, 0.0)


def optimizer_bytes(job: Job, facts: MemoryFacts, ranks: Number) -> Number:
    """Return bytes per parameter of the 32-bit weight, Adam's two moments, and gradients for them.

    Args:
        ranks: Ranks that share a parameter; stages 1 to 3 divide by them.

    References:
        rajbhandari2020, Sec. 3.1 (12 bytes) and 5.1 (stage 1); megatronlm2026,
        dist_optimizer.md (18 bytes a parameter in all, 6 + 12/d when sharded).
    """
    held = facts.master_bytes + facts.moment_bytes + facts.update_bytes
    return held / where(job.zero_stage > 0.0, ranks, 1.0)


def unshared_bytes(job: Job, facts: MemoryFacts) -> Number:
    """Return bytes per parameter of weights, gradients and optimizer states that nobody shares.

    References:
        rajbhandari2020, Sec. 3.1 (16 bytes); megatronlm2026, dist_optimizer.md (18 bytes).
    """
    held = weight_bytes(job, facts, 1.0) + gradient_bytes(job, facts, 1.0)
    return held + optimizer_bytes(job, facts, 1.0)


def whole_terms(job: Job, facts: MemoryFacts) -> WholeTerms:
    """Return bytes per parameter of what ZeRO-2 and -3 hold whole for a moment, by kind.

    Stage 3 gathers the ``weight`` of the layer at work and the next; stages 2 and 3 hold one
    layer's ``gradient`` until it is reduced. Only parameters that some ranks share out come and
    go so: ``shared`` and, for those of experts, ``routed_shared`` are 1 there.

    References:
        rajbhandari2020, Sec. 5.2 and 5.3; zhao2023, Sec. 3.
    """
    return {
        "weight": drops_weights(job, facts) * facts.weight_bytes,
        "gradient": scatters_gradients(job, facts) * facts.gradient_bytes,
        "shared": where(shard_ranks(job) > 1.0, 1.0, 0.0),
        "routed_shared": where(expert_shard_ranks(job) > 1.0, 1.0, 0.0),
    }


def state_terms(job: Job, facts: MemoryFacts) -> StateTerms:
    """Return bytes per parameter of each kind: ``routed`` ones of experts, and all others.

    What waits in the host's memory is not counted.

    References:
        zhao2023, Sec. 4 (parameters and optimizer may be offloaded).
    """
    ranks, routed = shard_ranks(job), expert_shard_ranks(job)
    sent = exchange_bytes(facts, data_ranks(job))
    routed_sent = exchange_bytes(facts, expert_data_ranks(job))
    weight = weight_bytes(job, facts, ranks)
    gradient = gradient_bytes(job, facts, ranks) + sent
    optimizer = optimizer_bytes(job, facts, ranks)
    routed_weight = weight_bytes(job, facts, routed)
    routed_gradient = gradient_bytes(job, facts, routed) + routed_sent
    routed_optimizer = optimizer_bytes(job, facts, routed)
    here = 1.0 - facts.offloaded_states
    freed = freed_gradients(job, facts)
    return {
        "weight": weight * here,
        "gradient": gradient * here,
        "optimizer": optimizer * here,
        "freed": gradient * here * freed,
        "all": (weight + gradient + optimizer) * here,
        "routed_weight": routed_weight * here,
        "routed_gradient": routed_gradient * here,
        "routed_optimizer": routed_optimizer * here,
        "routed_freed": routed_gradient * here * freed,
        "routed_all": (routed_weight + routed_gradient + routed_optimizer) * here,
    }
