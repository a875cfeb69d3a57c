"""What the memory model gives back, in bytes where nothing else is said."""

from typing import TypedDict

from steptime.formulas.number import Number
from steptime.formulas.records.stage import StageCut


class TokenBytes(TypedDict):
    """Bytes that a layer keeps per token, by what they are for; ``split`` is over ``tp``.

    From `activations.token_bytes`.
    """

    split: Number
    attention: Number
    scores: Number
    norms: Number
    feed_forward: Number
    experts: Number
    boundary: Number


class LayerTokens(TypedDict):
    """Bytes per token of a dense and of a mixture layer, and of what is made ``again``."""

    dense: Number
    experts: Number
    again: Number


class StoredTokens(TypedDict):
    """Bytes per token that a stage keeps, and the shares recomputed and kept ``here``."""

    layers: Number
    checkpoints: Number
    share: Number
    here: Number


class StateTerms(TypedDict):
    """Bytes per parameter of weights, gradients and optimizer; ``routed`` are experts'.

    ``freed`` are gradients that are not there before the last backward pass.
    """

    weight: Number
    gradient: Number
    optimizer: Number
    freed: Number
    all: Number
    routed_weight: Number
    routed_gradient: Number
    routed_optimizer: Number
    routed_freed: Number
    routed_all: Number


class FlightLine(TypedDict):
    """Rank r holds ``base - slope r`` micro-batches, or all there are."""

    base: Number
    slope: Number


class HeldLine(FlightLine):
    """The same in micro-batches times chunks, and no more than ``rise + r``.

    From `schedules.forms.held`.
    """

    rise: Number


class WholeTerms(TypedDict):
    """Bytes per parameter of a layer held whole for a moment, and whether anything is shared.

    From `states.whole_terms`; ``routed`` are experts'.
    """

    weight: Number
    gradient: Number
    shared: Number
    routed_shared: Number


class SharedTerms(StageCut):
    """What does not depend on the rank, from `shared.shared_terms`."""

    base: Number
    slope: Number
    boundary: Number
    checkpoint: Number
    embedded: Number
    sent: Number
    dense_token: Number
    experts_token: Number
    mixture_token: Number
    again_token: Number
    tokens: Number
    micro_batches: Number
    dense_slice: Number
    mixture_slice: Number
    expert_slice: Number
    embedding_slice: Number
    state: Number
    routed_state: Number
    freed: Number
    routed_freed: Number
    logits: Number
    moment: Number
    dispatch: Number
    work: Number
    vee: Number
    twice: Number


class StageLayers(TypedDict):
    """Layers of a rank, and how many of them hold experts, from `stages.held_layers`."""

    layers: Number
    experts: Number


class RankEnds(TypedDict):
    """1 where a rank embeds (``first``) and where it has the output head (``last``).

    From `total.rank_ends`.
    """

    first: Number
    last: Number


class RankParameters(TypedDict):
    """A rank's parameters: ``routed`` ones of experts, and all ``other`` ones."""

    other: Number
    routed: Number


class RankTerms(RankParameters):
    """What a rank's parts are made of."""

    num_layers: Number
    in_flight: Number
    activations: Number
    logits: Number
    buffers: Number
    reserve: Number
    spared: Number
    total: Number


class MemoryParts(TypedDict):
    """The memory of one rank by part, with what it holds; ``total`` is the parts' sum."""

    rank: Number
    parameters: Number
    num_layers: Number
    in_flight: Number
    weights: Number
    gradients: Number
    optimizer: Number
    activations: Number
    logits: Number
    buffers: Number
    reserve: Number
    total: Number


class WorstRank(TypedDict):
    """The rank that needs the most memory, and how much that is."""

    rank: Number
    total: Number


class ActivationParts(TypedDict):
    """A rank's activations by what leaves them."""

    attention: Number
    scores: Number
    norms: Number
    feed_forward: Number
    experts: Number
    checkpoints: Number
    recomputed: Number
    edges: Number
