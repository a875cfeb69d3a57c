"""Which ranks hold the same parameter, and which of them share it out among themselves."""

from steptime.formulas.experts import expert_ranks
from steptime.formulas.number import Number, maximum, where
from steptime.formulas.records import Job
from steptime.formulas.schedule import entry_number


def weight_copies(job: Job) -> Number:
    """Return the stages whose weights a rank holds: 2 in DualPipe, where its mirror has both too.

    References:
        deepseek2024, Table 2 (DualPipe keeps two copies of the parameters).
    """
    return where(job.pp > 1.0, entry_number("copies", job.schedule), 1.0)


def data_ranks(job: Job) -> Number:
    """Return the ranks that train the same parameter outside the experts: d c, DualPipe 2 d c."""
    return job.dp * job.cp * weight_copies(job)


def shard_ranks(job: Job) -> Number:
    """Return the ranks that ZeRO shares a parameter out over: d c / r, with r copies (HSDP).

    In DualPipe a rank and its mirror share it out together.

    References:
        zhao2023, Sec. 3.2.2 (hybrid sharding).
    """
    return data_ranks(job) / job.dp_replicate


def sharding_stage(job: Job) -> Number:
    """Return what data-parallel ranks share out, 0 to 3: nothing where a rank is alone."""
    return where(shard_ranks(job) > 1.0, job.zero_stage, 0.0)


def expert_data_ranks(job: Job) -> Number:
    """Return the ranks that train an expert's parameter: t c d over `expert_ranks`.

    References:
        singh2023, Sec. 3 (a group of its own for the experts' data parallelism).
    """
    return job.tp * job.cp * job.dp / expert_ranks(job) * weight_copies(job)


def expert_shard_ranks(job: Job) -> Number:
    """Return the ranks that ZeRO shares an expert's parameter out over."""
    return maximum(expert_data_ranks(job) / job.dp_replicate, 1.0)


def stage_shared(job: Job) -> Number:
    """Return what ranks share out of anything, 0 to 3: of experts alone too, over tensor ranks.

    Args:
        job: With any way to shard.

    References:
        derived here from `sharding_stage` and `expert_shard_ranks`.
    """
    experts = where(job.num_experts > 0.0, expert_shard_ranks(job), 1.0)
    return where(experts > 1.0, job.zero_stage, sharding_stage(job))
