"""What context parallelism sends for one layer and micro-batch, and what attention hides of it."""

from steptime.formulas.layout_terms import key_value_width
from steptime.formulas.number import Number, floor, maximum, minimum, where
from steptime.formulas.records import Constants, Job, Passes, TimeFacts
from steptime.formulas.roofline.attention import output_width, query_width
from steptime.formulas.roofline.links import all_ranks_exchange_s, gather_s, ring_s, shown_s
from steptime.formulas.roofline.modules import full_share
from steptime.formulas.roofline.rates import ranks_inside
from steptime.formulas.traffic import activation_bytes, key_value_bytes
from steptime.formulas.validity import leaves_rest


def key_heads(job: Job) -> Number:
    """Return the heads of keys and values that a tensor-parallel rank holds, copies included."""
    heads = where(job.kv_lora_rank > 0.0, job.num_attention_heads, job.num_query_groups)
    return maximum(heads / job.tp, 1.0)


def head_ranks(job: Job, stack: TimeFacts) -> Number:
    """Return over how many of the context-parallel ranks attention is cut by heads: 1 for none.

    Args:
        stack: ``cp_head_ranks``; 0 stands for as many as share an NVLink domain and can each
            have a head of keys and values.
    """
    near = minimum(floor(ranks_inside(job, job.cp, job.tp)), key_heads(job))
    usual = where(leaves_rest(key_heads(job), near) > 0.0, 1.0, near)
    stated = minimum(stack.cp_head_ranks, job.cp)
    return maximum(where(stack.cp_head_ranks > 0.0, stated, usual), 1.0)


def heads_left_over(job: Job, stack: TimeFacts) -> Number:
    """Return 1 where the heads of a tensor-parallel rank do not fall to its context ranks, else 0.

    Args:
        stack: ``cp_copies_heads`` is 1 where ranks beyond the heads of keys and values get copies.

    References:
        transformerengine2026, attention/dot_product_attention/context_parallel.py (heads of
        queries, keys and values are all whole multiples); deepspeed2026, ulysses_sp.py (copies).
    """
    ranks, keys = head_ranks(job, stack), key_heads(job)
    copied = where(leaves_rest(ranks, keys) > 0.0, 0.0, stack.cp_copies_heads)
    keys_left = minimum(leaves_rest(keys, ranks), 1.0 - copied)
    left = maximum(leaves_rest(job.num_attention_heads / job.tp, ranks), keys_left)
    # One rank has them all, even where tensor ranks share a head of keys and values.
    return where(ranks > 1.0, left, 0.0)


def moved_s(
    job: Job, stack: TimeFacts, constants: Constants, size_bytes: Number, heads: Number
) -> Number:
    """Return the time in which keys and values, or their gradients, have been everywhere.

    Args:
        stack: ``cp_ring`` is 1 where they go round a ring, 0 where one collective moves them.
        constants: As in `ring_s` and `gather_s`.
        size_bytes: Of the whole sequence, for the heads of one rank.
        heads: From `head_ranks`.
    """
    ranks = maximum(job.cp / heads, 1.0)
    inside = ranks_inside(job, ranks, job.tp * heads)
    round_s = ring_s(job, constants, size_bytes, ranks, inside)
    return where(stack.cp_ring > 0.0, round_s, gather_s(job, constants, size_bytes, ranks, inside))


def heads_s(job: Job, constants: Constants, heads: Number) -> Number:
    """Return the time to turn slices of tokens into slices of heads and back, in one pass.

    Queries, keys and values go, the result comes back; gradients take the same ways. Nothing
    hides it: attention waits for its inputs, and what follows for its result.

    Args:
        constants: As in `all_ranks_exchange_s`.
        heads: From `head_ranks`.

    References:
        jacobs2023, Sec. 3.
    """
    inside = ranks_inside(job, heads, job.tp)
    ordinary = job.num_attention_heads * job.head_dim
    queries = where(job.kv_lora_rank > 0.0, query_width(job), ordinary)
    wide = activation_bytes(
        job.micro_batch_size, job.seq_length, job.cp, queries + output_width(job), 2.0
    )
    keys = key_value_bytes(
        job.micro_batch_size,
        job.seq_length / job.cp,
        key_value_width(job, job.tp * heads),
        job.tp,
        2.0,
    )
    return all_ranks_exchange_s(job, constants, wide / job.tp + keys, heads, inside)


def context_s(job: Job, stack: TimeFacts, constants: Constants, core: Passes) -> Passes:
    """Return the exposed time of context parallelism's messages: 0 on one rank.

    Keys and values are freed between the passes, so they travel three times: forward, again
    backward, and then their gradients. A ring computes with each block while the next is under
    way, all but the last; one collective leaves the device its own block to compute with. A
    forward pass of attention that runs again sends again.

    Args:
        stack: ``cp_head_ranks``, ``cp_ring``, ``overlap_cp`` (1 where messages and attention
            go on together), ``cp_gradient_bytes``; ``recompute_per_op`` keeps attention's result.
        constants: ``contention`` of what is hidden shows all the same.
        core: Forward and backward time of the attention core.

    Returns:
        ``forward`` and ``backward``.

    References:
        liu2023, Sec. 3; transformerengine2026, attention/dot_product_attention/
        context_parallel.py (rings of c - 1 steps, keys and values in both passes).
    """
    heads = head_ranks(job, stack)
    ranks = maximum(job.cp / heads, 1.0)
    width = key_value_width(job, job.tp * heads)
    size = key_value_bytes(job.micro_batch_size, job.seq_length, width, job.tp * heads, 2.0)
    out_s = moved_s(job, stack, constants, size, heads)
    back_s = moved_s(job, stack, constants, size * stack.cp_gradient_bytes / 2.0, heads)
    blocks = where(stack.cp_ring > 0.0, ranks - 1.0, 1.0) / ranks
    beside = stack.overlap_cp * blocks
    turned_s = heads_s(job, constants, heads)
    forward = shown_s(constants, out_s, beside * core["forward"]) + turned_s
    backward = shown_s(constants, out_s + back_s, beside * core["backward"]) + turned_s
    again = full_share(job, stack) + job.recompute_selective * (1.0 - stack.recompute_per_op)
    return {"forward": forward, "backward": backward + again * forward}
