"""Layers that somebody states for the first and the last pipeline rank, and the rest between.

Embedding and head take time and memory too, so their ranks run lighter with a layer less. What is
stated of neither is cut as the software cuts, see `steptime.formulas.roofline.stages`.
"""

from steptime.formulas.number import Number, ceil_div, floor, maximum, minimum, where
from steptime.formulas.records import Job, Longest, StatedSplit


def stated_split(job: Job) -> StatedSplit:
    """Return how many stages share the layers that are not stated, and how many each has.

    Of stages that come out unlike, the first ones have a layer more.

    Returns:
        ``stated`` and ``ahead``: 1 where a rank's layers are stated, and the first's; ``stages``,
        ``rest``, ``each`` and ``longer`` of what is between.

    References:
        megatronlm2026, --decoder-first-pipeline-num-layers and --decoder-last-pipeline-num-layers.
    """
    ahead = where(job.first_stage_layers > 0.0, 1.0, 0.0)
    behind = where(job.last_stage_layers > 0.0, 1.0, 0.0)
    stages = maximum(job.pp - ahead - behind, 0.0)
    rest = job.num_layers - job.first_stage_layers - job.last_stage_layers
    shared = maximum(stages, 1.0)
    each = floor(rest / shared)
    return {
        "stated": maximum(ahead, behind),
        "ahead": ahead,
        "stages": stages,
        "rest": rest,
        "each": each,
        "longer": rest - each * shared,
    }


def split_fault(job: Job) -> Number:
    """Return 1 where stated layers cannot be: no pipeline, too many, or too few between; else 0.

    Args:
        job: Only counts of the model and the layout are read.
    """
    split = stated_split(job)
    left = where(split["stages"] > 0.0, 0.0, split["rest"])
    lacking = where(split["rest"] < split["stages"], 1.0, where(left > 0.0, 1.0, 0.0))
    return split["stated"] * where(job.pp > 1.0, lacking, 1.0)


def stated_longest(job: Job) -> Longest:
    """Return the layers of the first rank, of the longest between, and of the last, where stated.

    Args:
        job: States the layers of at least one of them.
    """
    split = stated_split(job)
    most = split["each"] + where(split["longer"] > 0.0, 1.0, 0.0)
    middle = where(split["stages"] > 0.0, most, 0.0)
    return {
        "first": where(job.first_stage_layers > 0.0, job.first_stage_layers, middle),
        "middle": middle,
        "last": where(job.last_stage_layers > 0.0, job.last_stage_layers, split["each"]),
    }


def stated_before(job: Job, rank: Number) -> Number:
    """Return the layers in front of a rank, where some are stated.

    Args:
        rank: Pipeline rank, 1 to p - 1.
    """
    split = stated_split(job)
    place = rank - split["ahead"]
    return job.first_stage_layers + place * split["each"] + minimum(place, split["longer"])


def stages_before(split: StatedSplit, layers: Number) -> Number:
    """Return after how many of the stages that share the rest some of its layers are over.

    Args:
        split: From `stated_split`.
        layers: Of the rest, from its front.
    """
    long = ceil_div(layers, split["each"] + 1.0)
    short = ceil_div(layers - split["longer"], maximum(split["each"], 1.0))
    return where(long <= split["longer"], long, short)


def stated_most(job: Job) -> Number:
    """Return the layers of the rank with the most, where some are stated.

    Args:
        job: States the layers of at least one rank.
    """
    cut = stated_longest(job)
    return maximum(maximum(cut["first"], cut["middle"]), cut["last"])


def stated_pace(job: Job) -> Number:
    """Return the layers of the longest chunk over the mean of all, where some are stated.

    Args:
        job: States the layers of at least one rank.
    """
    return ceil_div(stated_most(job), job.vpp) * job.vpp * job.pp / job.num_layers
