"""What a search must not overlook: uneven stages, and the price of sharding more.

The baseline spreads layers evenly whatever their number and sends gradients once a step
whatever is sharded. A search would find just those layouts for which that is wrong.
"""

from steptime.formulas.number import Number, ceil_div, maximum, where
from steptime.formulas.ranks import sharding_stage
from steptime.formulas.records import Job
from steptime.formulas.stage_split import stated_pace, stated_split
from steptime.formulas.validity import leaves_rest


def stage_imbalance(job: Job) -> Number:
    """Return the layers of the longest chunk over the mean: 1 where all are equal.

    With one stage chunks mean nothing. Stages are also equal where embedding and output head
    count as a layer each, as in Llama 3, which then has one layer fewer at both ends.

    References:
        grattafiori2024, Sec. 3.3.2; derived here, book/search.md.
    """
    chunks = job.pp * job.vpp
    longest = ceil_div(job.num_layers, chunks) * chunks / job.num_layers
    uneven = where(leaves_rest(job.num_layers + 2.0, chunks) > 0.0, longest, 1.0)
    staged = where(job.pp > 1.0, uneven, 1.0)
    usual = where(leaves_rest(job.num_layers, chunks) > 0.0, staged, 1.0)
    return where(stated_split(job)["stated"] > 0.0, stated_pace(job), usual)


def sharding_rounds(job: Job, num_microbatches: Number) -> Number:
    """Return the gradient synchronisation's cost in units of one all-reduce.

    An all-reduce is a reduce-scatter and an all-gather, so sharded optimizer states (stage 1)
    cost the same. Stage 2 scatters gradients after each micro-batch. Stage 3 also gathers the
    weights in each forward and each backward pass.

    Args:
        num_microbatches: Micro-batches per step, m.

    References:
        rajbhandari2020, Sec. 7; derived here, book/search.md.
    """
    m, stage = num_microbatches, sharding_stage(job)
    gradients = where(stage > 1.0, (m + 1.0) / 2.0, 1.0)
    return where(stage > 2.0, 1.5 * m, gradients)


def key_value_width(job: Job, ranks: Number) -> Number:
    """Return the mean of the widths of all keys and of all values, as ranks hold them together.

    Ranks beyond the number of key and value heads hold copies of them. Latent attention's are
    expanded to all heads, and its keys carry positions beside.

    Args:
        ranks: That share the heads.

    References:
        deepseek2024, Sec. 2.1.1; derived here for copies of shared heads.
    """
    ordinary = maximum(job.num_query_groups, ranks) * job.head_dim
    latent = 0.5 * (job.qk_nope_head_dim + job.qk_rope_head_dim + job.v_head_dim)
    return where(job.kv_lora_rank > 0.0, job.num_attention_heads * latent, ordinary)
