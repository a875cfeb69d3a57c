"""What the two models of a step's time give back, in seconds."""

from typing import TypedDict

from steptime.formulas.number import Number


class BaselineParts(TypedDict):
    """The parts of a step by the baseline; their sum is the step."""

    compute: Number
    tensor_parallel: Number
    context_parallel: Number
    expert_parallel: Number
    bubble: Number
    pipeline_sends: Number
    data_parallel: Number


class LinkRates(TypedDict):
    """Bandwidth that the slowest group of each kind gets, bytes a second one way."""

    tensor: Number
    context: Number
    expert: Number
    pipeline: Number
    data: Number


class Interval(TypedDict):
    """The ends between which a measured step lies nine times in ten, seconds."""

    low_s: Number
    high_s: Number


class StepParts(TypedDict):
    """The exposed parts of a step by the roofline model; their sum is the step."""

    compute: Number
    recompute: Number
    tensor_parallel: Number
    context_parallel: Number
    expert_parallel: Number
    bubble: Number
    pipeline_sends: Number
    data_parallel: Number
    optimizer: Number


class LayerParts(TypedDict):
    """A layer and micro-batch, both passes, by what the time goes to."""

    products: Number
    attention: Number
    elementwise: Number
    recompute: Number
    tensor: Number
    context: Number
    expert: Number
    weights_forward: Number
    weights_backward: Number
    forward: Number
    backward: Number
    backward_weight: Number
    total: Number


class Passes(TypedDict):
    """A quantity of the forward and of the backward pass."""

    forward: Number
    backward: Number


class Products(Passes):
    """A layer's matrix products, and of the forward ones attention's and the last."""

    attention_forward: Number
    down_forward: Number


class LandedChunks(TypedDict):
    """What chunks of tensor-parallel messages cost where they land: gathers and scatters."""

    gathers: Number
    scatters: Number


class TensorMessages(TypedDict):
    """A layer's tensor-parallel messages as far as they show."""

    tensor: Number
    tensor_back: Number
    tensor_gathers: Number
    tensor_last: Number


class Messages(TensorMessages):
    """Beside them its exchanges of tokens, and what of those may be covered."""

    expert: Number
    expert_covered: Number


class Parameters(TypedDict):
    """Parameters on a device: those all data-parallel ranks hold, and those of routed experts."""

    shared: Number
    routed: Number


class Exchanges(TypedDict):
    """Times to gather or scatter, to add up over copies of shards, and to add up over all."""

    shards: Number
    copies: Number
    whole: Number


class LayerMessages(TypedDict):
    """Times to gather a layer's weights and to scatter its gradients."""

    gather: Number
    scatter: Number


class Rounds(TypedDict):
    """What data parallelism moves with each micro-batch, as shares of one gather or scatter."""

    forward: Number
    backward: Number
    scatter: Number
    kept: Number


class Exchange(TypedDict):
    """One exchange of tokens: what shows, and what other work may cover."""

    shown: Number
    covered: Number


class LinkTimes(TypedDict):
    """What a message keeps each kind of link at work for, inside a domain and beyond it."""

    near: Number
    far: Number


class Ends(TypedDict):
    """A quantity of the embedding (``first``) and of the output head (``last``)."""

    first: Number
    last: Number


class Floors(TypedDict):
    """Least times of a layer: ``staged`` while stages send and receive in turn."""

    host: Number
    staged: Number


class Longest(TypedDict):
    """Layers of the first stage, of the longest between, and of the last."""

    first: Number
    middle: Number
    last: Number


class EndRank(TypedDict):
    """What the rank with the output head works on, and the embeddings of the ``others``."""

    layers: Number
    heads: Number
    embeddings: Number
    others: Number


class Pace(TypedDict):
    """The slowest stage: what it holds, what holds it up, and the time of all others."""

    layers: Number
    embeddings: Number
    heads: Number
    held_s: Number
    others_s: Number
    most: Number
