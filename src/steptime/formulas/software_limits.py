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


def zigzag_left_over(job: Job) -> Number:
    """Return the tokens of a sequence that 2 cp equal parts leave over, 0 without context ranks.

    Each rank has a part from both ends, so that all have as much of a causal mask.

    References:
        megatronlm2026, megatron/training/arguments.py (a multiple of 2 * context-parallel-size).
    """
    return where(job.cp > 1.0, left_over(job.seq_length, 2.0 * job.cp), 0.0)


def tokens_left_over(job: Job) -> Number:
    """Return the tokens of a micro-batch that 2 cp parts leave over, 0 without context ranks.

    References:
        torchtitan2025, torchtitan/trainer.py (tokens of a micro-batch over 2 cp).
    """
    tokens = job.micro_batch_size * job.seq_length
    return where(job.cp > 1.0, left_over(tokens, 2.0 * job.cp), 0.0)


def parts_left_over(job: Job) -> Number:
    """Return the tokens of a sequence that tp, and 2 cp of several context ranks, leave over.

    References:
        torchtitan2025, torchtitan/models/llama3/parallelize.py (seq_len over tp and cp).
    """
    return left_over(job.seq_length, job.tp * where(job.cp > 1.0, 2.0 * job.cp, 1.0))


def sequence_ranks_left_over(job: Job) -> Number:
    """Return the tokens of a sequence that cp tp ranks leave over, 0 where tp do not cut it.

    References:
        megatronlm2026, megatron/core/tensor_parallel/mappings.py (the first dimension over tp).
    """
    cut = where(job.sequence_parallel > 0.0, where(job.tp > 1.0, 1.0, 0.0), 0.0)
    return cut * left_over(job.seq_length, job.cp * job.tp)
