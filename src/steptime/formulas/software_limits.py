"""What software counts of a layout before it runs it, beside single sizes: 0 where it does run.

`data/abilities.toml` names these, and says which software asks them and until when.
"""

from steptime.formulas.flops import num_microbatches
from steptime.formulas.number import Number, maximum, where
from steptime.formulas.ranks import shard_ranks
from steptime.formulas.records import Job
from steptime.formulas.schedule import entry_number
from steptime.formulas.validity import left_over


def _in_rounds(job: Job) -> Number:
    """Return 1 where chunks take turns in rounds of micro-batches, else 0."""
    staged = where(job.pp > 1.0, where(job.vpp > 1.0, 1.0, 0.0), 0.0)
    return staged * entry_number("whole_rounds", job.schedule)


def rounds_left_over(job: Job) -> Number:
    """Return the micro-batches that rounds of p leave over, 0 where nothing runs in rounds.

    References:
        narayanan2021, Sec. 2.2.2 (micro-batches are a multiple of p).
    """
    return _in_rounds(job) * left_over(num_microbatches(job), job.pp)


def round_lacks(job: Job) -> Number:
    """Return the micro-batches that one round of p lacks, 0 where nothing runs in rounds.

    References:
        megatronlm2026, megatron/core/pipeline_parallel/schedules.py (a group of p or more).
    """
    return _in_rounds(job) * maximum(job.pp - num_microbatches(job), 0.0)


def expert_ranks_left_over(job: Job) -> Number:
    """Return the ranks that share weights and expert parallelism leaves over.

    Copies that share nothing are no such ranks.

    References:
        torchtitan2025, torchtitan/distributed/parallel_dims.py (dp_shard cp tp over ep).
    """
    ranks = where(job.zero_stage > 1.0, shard_ranks(job), job.cp) * job.tp
    return left_over(ranks, job.ep)
