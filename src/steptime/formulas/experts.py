"""How routed experts are shared out over ranks: what every other formula asks of it."""

from steptime.formulas.number import Number
from steptime.formulas.records import Job


def expert_ranks(job: Job) -> Number:
    """Return the ranks that hold every expert of a layer once: e of them, or more where cut.

    References:
        lepikhin2020, Sec. 3.2: experts divide over the ranks, and each expert's width too.
    """
    return job.ep * job.etp


def expert_width(job: Job) -> Number:
    """Return the inner width of an expert that one rank holds."""
    return job.expert_ffn_hidden_size / job.etp


def of_copies(values: Number, job: Job) -> Number:
    """Return what one rank holds of what token copies have, evenly routed.

    Tensor ranks split the tokens; ranks that share each expert's width all take the copies of all
    of them.

    Args:
        values: Rows, bytes or values of the copies of all tokens of a micro-batch.
    """
    return values * job.etp / job.tp
