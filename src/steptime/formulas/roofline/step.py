"""The whole step by the roofline model."""

from steptime.formulas.flops import num_microbatches
from steptime.formulas.number import Number, maximum, where
from steptime.formulas.records import (
    Constants,
    Job,
    LayerParts,
    Messages,
    StepParts,
    TimeFacts,
)
from steptime.formulas.roofline.context import context_s
from steptime.formulas.roofline.elementwise import accumulation_s
from steptime.formulas.roofline.exchanges import pairs
from steptime.formulas.roofline.hosts import backward_s, idle_share
from steptime.formulas.roofline.layer import (
    core_s,
    elementwise_s,
    floors_s,
    messages_s,
    products_s,
    recomputed_s,
    tokens_per_device,
)
from steptime.formulas.roofline.modules import full_share, modules_again_s
from steptime.formulas.roofline.shards import (
    gathered_weights_s,
    routed_layer_parameters,
    shared_layer_parameters,
)
from steptime.formulas.roofline.sharing import gradients_s, optimizer_s, tied_s
from steptime.formulas.roofline.stages import head_s, longer_chunks, pace, sends_s
from steptime.formulas.roofline.vocabulary import vocabulary_s
from steptime.formulas.schedule import entry_number


def _tensor_again_s(job: Job, stack: TimeFacts, messages: Messages) -> Number:
    """Return the tensor-parallel messages of what is recomputed.

    What nobody needs again is not scattered again; what is recomputed is gathered again.
    """
    full = full_share(job, stack) * (
        messages["tensor"] - stack.early_stop * messages["tensor_last"]
    )
    by_op = job.recompute_selective * stack.recompute_per_op
    return full + by_op * messages["tensor_gathers"]


def _expert_s(constants: Constants, messages: Messages, work_s: Number) -> Number:
    """Return what shows of tokens on their way to experts and back.

    Exchanges hide behind the other passes of a pair, as far as those go.
    """
    beyond = maximum(messages["expert_covered"] - work_s, 0.0)
    hidden = messages["expert_covered"] - beyond
    return messages["expert"] + beyond + constants.contention * hidden


def layer_parts(
    job: Job, stack: TimeFacts, constants: Constants, num_microbatches: Number
) -> LayerParts:
    """Return what a layer takes for one micro-batch, both passes, by what it goes to.

    Args:
        num_microbatches: Per step and data-parallel rank.

    Returns:
        ``products``, ``attention``, ``elementwise``, ``recompute``, ``tensor``, ``context``,
        ``expert``; ``forward`` and ``backward`` are the passes they add up to,
        ``weights_forward`` and ``weights_backward`` what sharing weights adds to them, ``total``
        all of it; ``backward_weight`` is the part of the backward pass that only the
        layer's own weights wait for.
    """
    tokens = tokens_per_device(job)
    products = products_s(job, stack, constants, tokens)
    core = core_s(job, stack, constants, tokens)
    other = elementwise_s(job, stack, constants, tokens)
    messages = messages_s(job, stack, constants, tokens, products)
    context = context_s(job, stack, constants, core)
    again = recomputed_s(job, stack, products, core, other)
    again = again + modules_again_s(job, stack, constants, tokens)
    again_tensor = _tensor_again_s(job, stack, messages)
    parameters = shared_layer_parameters(job) + routed_layer_parameters(job)
    adding = accumulation_s(job, stack, constants, parameters, num_microbatches)
    forward = products["forward"] + core["forward"] + other["forward"]
    backward = products["backward"] + core["backward"] + other["backward"]
    expert = _expert_s(constants, messages, pairs(job) * (forward + backward))
    # Two of four exchanges are on the way forward, of six where experts run again.
    ahead = expert / (2.0 + stack.recompute_experts)
    forward = forward + messages["tensor"] + context["forward"] + ahead
    behind = messages["tensor_back"] + context["backward"] + expert - ahead
    backward = backward + behind + again + again_tensor + adding
    weight = 0.5 * products["backward"] + adding
    # A schedule that puts weights' gradients off has only the rest to hide messages behind.
    splits = where(job.pp > 1.0, entry_number("splits_backward", job.schedule), 0.0)
    apart = splits * weight
    weights = gathered_weights_s(job, stack, constants, forward, backward - apart)
    return {
        "products": products["forward"] + products["backward"],
        "attention": core["forward"] + core["backward"],
        "elementwise": other["forward"] + other["backward"] + adding,
        "recompute": again,
        "tensor": messages["tensor"] + messages["tensor_back"] + again_tensor,
        "context": context["forward"] + context["backward"],
        "expert": expert,
        "weights_forward": weights["forward"],
        "weights_backward": weights["backward"],
        "forward": forward,
        "backward": backward,
        "backward_weight": weight,
        "total": forward + backward + weights["forward"] + weights["backward"],
    }


def roofline_step(job: Job, stack: TimeFacts, constants: Constants) -> StepParts:
    """Return the parts of one training step, in exposed seconds; their sum is the step.

    A bubble is what 1F1B with as many chunks leaves idle, unlike stages included, times the
    share of it that the schedule leaves of equal ones, see `idle_share`. A zero-bubble one
    may delay half of the gradients' products and adding them up (W); attention, recomputation
    and all that is sent stay in its way (I).

    Returns:
        ``compute``, ``recompute``, ``tensor_parallel``, ``context_parallel``,
        ``expert_parallel``, ``bubble``, ``pipeline_sends``, ``data_parallel``, ``optimizer``.

    References:
        derived here, book/roofline.md.
    """
    micro = num_microbatches(job)
    tokens = tokens_per_device(job)
    layer = layer_parts(job, stack, constants, micro)
    head = head_s(job, stack, constants, tokens)
    floors = floors_s(job, stack)
    ends = vocabulary_s(job, stack, constants, tokens)
    stage = pace(job, stack, layer["total"], ends["first"], head + ends["last"], floors)
    layers = stage["layers"]
    each = micro * layers
    computing = layer["products"] + layer["attention"] + layer["elementwise"]
    shared = layer["weights_forward"] + layer["weights_backward"]
    share = idle_share(job, layer, floors, micro)
    most, longer = stage["most"], longer_chunks(job)
    behind = backward_s(layer, floors, micro)
    waits = maximum(floors["host"] - layer["total"], 0.0)
    ahead = layer["forward"] + waits + (layer["backward"] - behind)
    gradients = tied_s(job, stack, constants) + gradients_s(
        job, stack, constants, most, most * ahead, most * behind
    )
    at_ends = stage["embeddings"] * ends["first"] + stage["heads"] * ends["last"]
    compute = each * computing + micro * (stage["heads"] * head + stage["held_s"])
    return {
        "compute": compute * longer,
        "recompute": each * layer["recompute"] * longer,
        "tensor_parallel": (each * layer["tensor"] + micro * at_ends) * longer,
        "context_parallel": each * layer["context"] * longer,
        "expert_parallel": each * layer["expert"] * longer,
        "bubble": stage["others_s"] / job.vpp * share * longer,
        "pipeline_sends": sends_s(job, stack, constants, tokens, micro),
        "data_parallel": gradients + each * shared,
        "optimizer": optimizer_s(job, stack, constants, most),
    }


def roofline_step_s(parts: StepParts) -> Number:
    """Return the step time: the sum of the parts, added in one fixed order."""
    return (
        parts["compute"]
        + parts["recompute"]
        + parts["tensor_parallel"]
        + parts["context_parallel"]
        + parts["expert_parallel"]
        + parts["bubble"]
        + parts["pipeline_sends"]
        + parts["data_parallel"]
        + parts["optimizer"]
    )
