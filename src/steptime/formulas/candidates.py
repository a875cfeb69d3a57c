"""Which rows of a search may be tried, and which settings of their switches are layouts apart.

The command asks arrays of them, the page one after another: both count alike.
"""

from steptime.formulas.flops import num_microbatches
from steptime.formulas.number import Number, maximum, where
from steptime.formulas.ranks import expert_shard_ranks, shard_ranks
from steptime.formulas.records import Job
from steptime.formulas.schedule_rules import schedule_rule
from steptime.formulas.validity import layout_rule, leaves_rest

UNFIT = 12.0
"""Number of the rule that comes after those of `steptime.formulas.validity`."""


def row_rule(job: Job) -> Number:
    """Return the number of the first rule that a row breaks, 0 if none.

    Args:
        job: Switches are not read.
    """
    micro = num_microbatches(job)
    unfit = where(schedule_rule(job.schedule, job.pp, micro, job.vpp) > 0.0, UNFIT, 0.0)
    rule = layout_rule(job)
    return where(rule > 0.0, rule, unfit)


def own_sequence(job: Job, place: Number, choices: Number) -> Number:
    """Return 1 where a setting of sequence parallelism is a layout of its own, else 0.

    It means nothing without tensor ranks and needs a sequence that they divide. Of settings
    alike the one without it stands for all, or the only one that is asked for.

    Args:
        job: With that setting.
        place: Of the setting among those that are tried, from 0.
        choices: How many are tried.
    """
    cut = where(job.tp > 1.0, 1.0 - leaves_rest(job.seq_length, job.cp * job.tp), 0.0)
    alone = where(place > 0.0, 0.0, where(choices > 1.0, 0.0, 1.0))
    return where(job.sequence_parallel > 0.0, maximum(cut, alone), 1.0)


def own_sharding(job: Job, place: Number) -> Number:
    """Return 1 where a way to shard is a layout of its own, else 0.

    It means nothing to a rank that nobody shares a parameter with, an expert's included. Of
    ways alike the first stands for all.

    Args:
        job: With any way to shard.
        place: Of the way among those that are tried, from 0.
    """
    experts = where(job.num_experts > 0.0, expert_shard_ranks(job), 1.0)
    shared = where(maximum(shard_ranks(job), experts) > 1.0, 1.0, 0.0)
    return where(place > 0.0, shared, 1.0)
