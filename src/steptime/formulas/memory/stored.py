"""Activations that one micro-batch leaves on a rank, with and without recomputation."""

from steptime.formulas.layout_terms import key_value_width
from steptime.formulas.number import Number, maximum, minimum, where
from steptime.formulas.records import (
    Job,
    LayerTokens,
    MemoryFacts,
    SharedTerms,
    StageLayers,
    StoredTokens,
    TokenBytes,
)


def layer_token_bytes(job: Job, per_token: TokenBytes) -> LayerTokens:
    """Return bytes per token of a whole layer: ``dense``, ``experts``, as kept and at work.

    Selective recomputation drops the scores after the forward pass, and a layer at work
    has them again.

    References:
        korthikanti2022, Sec. 5 (selective activation recomputation).
    """
    common = per_token["attention"] + per_token["norms"]
    kept = kept_scores(job, per_token)
    return {
        "dense": common + kept + per_token["feed_forward"],
        "experts": common + kept + per_token["experts"],
        "again": per_token["scores"] - kept,
    }


def kept_scores(job: Job, per_token: TokenBytes) -> Number:
    """Return the scores that stay until the backward pass: none if selectively recomputed.

    References:
        korthikanti2022, Sec. 5.
    """
    return where(job.recompute_selective > 0.0, 0.0, per_token["scores"])


def offloaded_share(facts: MemoryFacts, layers: Number) -> Number:
    """Return the share of a rank's layers whose activations wait in the host's memory.

    Args:
        layers: Layers on the rank.

    References:
        megatronlm2026, --cpu-offloading-num-layers.
    """
    counted = where(facts.offloaded_layers > 0.0, layers, 1.0)
    return minimum(facts.offloaded_layers / maximum(counted, 1.0), 1.0)


def recomputed_share(job: Job, facts: MemoryFacts, layers: Number) -> Number:
    """Return the share of a rank's layers that full recomputation covers.

    All of them (uniform), or the first ``recompute_layers`` of the stage (block).

    Args:
        layers: Layers on the rank.

    References:
        korthikanti2022, Sec. 5; megatronlm2026, --recompute-method uniform and block.
    """
    # Without a stated number no array is touched, which a search would pay for.
    counted = where(facts.recompute_layers > 0.0, layers, 1.0)
    some = minimum(facts.recompute_layers / maximum(counted, 1.0), 1.0)
    return job.recompute_full * where(facts.recompute_layers > 0.0, some, 1.0)


def checkpoint_token_bytes(job: Job, facts: MemoryFacts, per_token: TokenBytes) -> Number:
    """Return what full recomputation keeps per token and layer: an input for so many layers.

    A model that fills a cache, as plain ones do unless told, keeps keys and values of every layer.

    References:
        korthikanti2022, Sec. 5 (2 s b h a layer, or over t if saved in slices); transformers2026,
        models/llama/modeling_llama.py (use_cache).
    """
    slices = where(facts.sliced_checkpoints > 0.0, job.tp / per_token["split"], 1.0)
    cached = facts.kept_keys * (4.0 * key_value_width(job, job.tp) / job.tp)
    return per_token["boundary"] / (facts.recompute_group * slices) + cached


def stored_token_bytes(
    job: Job, facts: MemoryFacts, shared: SharedTerms, stage: StageLayers
) -> StoredTokens:
    """Return what a rank's layers keep per token of each micro-batch in flight, by part.

    Full recomputation keeps a layer's input alone; an offloaded layer nothing, nor its input.

    References:
        korthikanti2022, Sec. 5 (2 s b h a layer, or over t if saved in slices).
    """
    again = recomputed_share(job, facts, stage["layers"])
    dense = stage["layers"] - stage["experts"]
    inputs = stage["layers"] * shared["checkpoint"]
    kept = dense * shared["dense_token"] + stage["experts"] * shared["experts_token"]
    near = 1.0 - offloaded_share(facts, stage["layers"])
    here = (1.0 - again) * near
    checkpoints = again * near * inputs
    return {"layers": here * kept, "checkpoints": checkpoints, "share": again, "here": here}


def at_work_token_bytes(
    job: Job, facts: MemoryFacts, shared: SharedTerms, stage: StageLayers, share: Number
) -> Number:
    """Return per token what recomputation or the host brings back for the layers at work.

    Two layers come back from the host at once: one at work, and the next. Of a recomputed
    layer its input comes back.

    Args:
        share: From `stored_token_bytes`.

    References:
        korthikanti2022, Sec. 5.
    """
    heaviest = where(stage["experts"] > 0.0, shared["mixture_token"], shared["dense_token"])
    group = minimum(facts.recompute_group, stage["layers"])
    full = where(share > 0.0, group * heaviest, 0.0)
    brought = (1.0 - share) * heaviest + share * shared["checkpoint"]
    back = minimum(minimum(facts.offloaded_layers, stage["layers"]), 2.0) * brought
    return full + back + shared["again_token"]
