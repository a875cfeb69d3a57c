"""A rank's activations by what leaves them: attention, feed-forward, norms, experts, and so on."""

from steptime.formulas.memory.activations import token_bytes
from steptime.formulas.memory.in_flight import in_flight
from steptime.formulas.memory.shared import shared_terms
from steptime.formulas.memory.stages import held_layers
from steptime.formulas.memory.stored import (
    at_work_token_bytes,
    kept_scores,
    stored_token_bytes,
)
from steptime.formulas.memory.total import rank_ends
from steptime.formulas.number import Number
from steptime.formulas.records import ActivationParts, Job, MemoryFacts


def activation_parts(job: Job, facts: MemoryFacts, rank: Number) -> ActivationParts:
    """Return the activation bytes of one pipeline rank by part; they add up to its activations.

    ``scores`` are what the attention core keeps; ``checkpoints`` the inputs to recompute from;
    ``recomputed`` the layers back at work; ``edges`` what a stage keeps beside its layers.
    Dropout masks stand with the block that they belong to.

    Args:
        rank: Pipeline rank, 0 is the first.

    References:
        korthikanti2022, Sec. 4.1.
    """
    shared = shared_terms(job, facts)
    per_token = token_bytes(job, facts)
    ends = rank_ends(job, shared, rank)
    stage = held_layers(job, shared, rank)
    stored = stored_token_bytes(job, facts, shared, stage)
    kept = shared["tokens"] * in_flight(shared, rank)
    whole = kept * stored["here"]
    dense = stage["layers"] - stage["experts"]
    edge = ends["first"] * shared["embedded"] + shared["sent"]
    again = at_work_token_bytes(job, facts, shared, stage, stored["share"])
    scores = kept_scores(job, per_token)
    return {
        "attention": whole * stage["layers"] * per_token["attention"],
        "scores": whole * stage["layers"] * scores,
        "norms": whole * stage["layers"] * per_token["norms"],
        "feed_forward": whole * dense * per_token["feed_forward"],
        "experts": whole * stage["experts"] * per_token["experts"],
        "checkpoints": kept * stored["checkpoints"],
        "recomputed": shared["tokens"] * again,
        "edges": kept * edge + shared["tokens"] * ends["last"] * (2.0 * shared["boundary"]),
    }
