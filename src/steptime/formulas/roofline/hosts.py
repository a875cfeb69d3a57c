"""What stays idle, and what hides, where devices or the hosts that launch work set the pace."""

from steptime.formulas.number import Number, anywhere, maximum, minimum
from steptime.formulas.records import Floors, Job, LayerParts
from steptime.formulas.schedule import bubble_share


def idle_share(job: Job, layer: LayerParts, floors: Floors, num_microbatches: Number) -> Number:
    """Return what a schedule leaves idle, over what 1F1B leaves idle with as many chunks.

    A pipeline takes as long as its devices do, or as its hosts do, whichever is longer; where
    hosts set the pace F, I and W last alike. So a faster device, whose passes become less alike
    behind the same hosts, never makes a step longer.

    Args:
        layer: From `layer_parts`.
        floors: From `floors_s`.
        num_microbatches: Per step and data-parallel rank.

    References:
        derived here from `bubble_share`; book/roofline.md.
    """
    m, layer_s, weight = num_microbatches, layer["total"], layer["backward_weight"]
    ahead = layer["forward"] + layer["weights_forward"]
    grads = layer["backward"] - weight + layer["weights_backward"]
    share = bubble_share(job.schedule, job.pp, m, job.vpp, ahead, grads, weight)
    staged = floors["staged"]
    if not anywhere(staged > 0.0):
        return share
    alike = bubble_share(job.schedule, job.pp, m, job.vpp, 1.0, 1.0, 1.0)
    each_s = maximum(layer_s, floors["host"])
    # A rank's own work is so many times what it would wait at a share of 1.
    work = m * job.vpp / maximum(job.pp - 1.0, 1.0)
    device = share * (layer_s / each_s) - work * (maximum(staged - layer_s, 0.0) / each_s)
    host = alike * (minimum(staged, each_s) / each_s)
    return maximum(device, host - work * (maximum(layer_s - staged, 0.0) / each_s))


def backward_s(layer: LayerParts, floors: Floors, num_microbatches: Number) -> Number:
    """Return how long a layer's backward pass lasts for gradients to hide behind.

    That is the devices' time or the hosts', two thirds of all they launch, of whichever makes
    the step longer, as in `idle_share`.

    Args:
        layer: From `layer_parts`.
        floors: From `floors_s`.
        num_microbatches: Per step and data-parallel rank.

    References:
        derived here, book/roofline.md.
    """
    layer_s, host = layer["total"], floors["host"]
    device = layer["backward"] + num_microbatches * maximum(host - layer_s, 0.0)
    return minimum(device, 2.0 * host / 3.0 + num_microbatches * maximum(layer_s - host, 0.0))
