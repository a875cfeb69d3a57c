"""Which ranks hold the same parameter, and which of them share it out among themselves."""

from steptime.formulas.number import Number, maximum, where
from steptime.formulas.records import Job


def data_ranks(job: Job) -> Number:
    """Return the ranks that train the same parameter outside the experts: d c."""
    return job.dp * job.cp


def shard_ranks(job: Job) -> Number:
    """Return the ranks that ZeRO shares a parameter out over: d c / r, with r copies (HSDP).

    References:
        zhao2023, Sec. 3.2.2 (hybrid sharding).
    """
    return job.dp * job.cp / job.dp_replicate


def sharding_stage(job: Job) -> Number:
    """Return what data-parallel ranks share out, 0 to 3: nothing where a rank is alone."""
    return where(shard_ranks(job) > 1.0, job.zero_stage, 0.0)


def expert_data_ranks(job: Job) -> Number:
    """Return the ranks that train an expert's parameter: t c d / (ep etp).

    References:
        singh2023, Sec. 3 (a group of its own for the experts' data parallelism).
    """
    return job.tp * job.cp * job.dp / (job.ep * job.etp)


def expert_shard_ranks(job: Job) -> Number:
    """Return the ranks that ZeRO shares an expert's parameter out over."""
    return maximum(expert_data_ranks(job) / job.dp_replicate, 1.0)
