"""The words of a framework for facts of its software: what readers take for facts, backwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from steptime.inputs.layout import Layout
from steptime.inputs.model import ModelShape
from steptime.readers.keys.formats import Format, format_named

Facts = Mapping[str, Any]
_FP32 = "fp32"
_SWITCH = {"true": True, "false": False}
_SOURCE = "source"

KEYS: Mapping[str, tuple[str, ...]] = {
    "megatron": (
        "overlap_grad_reduce",
        "tp_comm_overlap",
        "no_overlap_p2p_communication",
        "no_gradient_accumulation_fusion",
        "grad_reduce_in_bf16",
        "attention_backend",
        "cp_comm_type",
        "moe_token_dispatcher_type",
        "loss_kind",
        "expert_activation",
        "recompute_modules",
        "moment_kind",
    ),
    "megatron-bridge": (
        "overlap_grad_reduce",
        "grad_reduce_in_fp32",
        "tp_comm_overlap",
        "overlap_p2p_comm",
        "gradient_accumulation_fusion",
        "attention_backend",
        "cp_comm_type",
        "moe_token_dispatcher_type",
        "loss_kind",
        "expert_activation",
        "recompute_modules",
    ),
    "nemo": (
        "overlap_grad_reduce",
        "tp_comm_overlap",
        "overlap_p2p_comm",
        "gradient_accumulation_fusion",
        "moe_token_dispatcher_type",
    ),
    "torchtitan": ("compiled", "async_tp", "cp_rotate", "dispatcher", "reduce_type"),
    "nanotron": (),
    "deepspeed": ("attention_kernel", "compiled"),
}
"""Keys, by our name, that a file of each format may say facts with."""

_SEVERAL = ("recompute_modules",)
"""Keys of several words: a word that is left out says that its facts are off."""

_READ_AS = {"deepspeed": "trainer"}


def form_of(kind: str) -> Format:
    """Return the format as which a file that is written is read.

    Args:
        kind: The format that is written.
    """
    return format_named(_READ_AS.get(kind, kind))


def words_for(kind: str, facts: Facts) -> dict[str, Any]:
    """Return the words that say facts, by our name of their key.

    Args:
        kind: The format that is written.
        facts: By name; those that no word of the format stands for are left out.
    """
    form = form_of(kind)
    found: dict[str, Any] = {}
    for key in KEYS[kind]:
        if key in _SEVERAL:
            found |= _several(key, form.facts[key], facts)
            continue
        for word, means in form.facts[key].items():
            if word != _SOURCE and _fits(means, facts):
                found[key] = _SWITCH.get(word, word)
                break
    return found


def said_by(kind: str) -> frozenset[str]:
    """Return the facts that some word of a format stands for.

    Args:
        kind: The format that is written.
    """
    form = form_of(kind)
    tables = [form.facts[key] for key in KEYS[kind]]
    return frozenset(
        name
        for table in tables
        for word, means in table.items()
        if word != _SOURCE
        for name in means
    )


def unsaid(kind: str, facts: Facts) -> list[str]:
    """Return the facts that no word of a format stands for, as ``name=value``.

    Args:
        kind: The format that is written.
        facts: By name.
    """
    form = form_of(kind)
    said = {
        name
        for key, word in words_for(kind, facts).items()
        for one in (word if isinstance(word, list) else [word])
        for name in form.facts[key][str(one).lower() if isinstance(one, bool) else one]
    }
    left_out = {
        name
        for key in _SEVERAL
        if key in KEYS[kind]
        for word, means in form.facts[key].items()
        if word != _SOURCE
        for name in means
        if facts.get(name) == 0.0
    }
    return [f"{name}={value}" for name, value in facts.items() if name not in said | left_out]


def _several(key: str, words: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Return a key with each word that stands for facts that are wanted; none without one."""
    found = [word for word, means in words.items() if word != _SOURCE and _fits(means, facts)]
    return {key: found} if found else {}


def _fits(means: Facts, facts: Facts) -> bool:
    """Return whether a word stands for facts that are wanted, and for none that is not."""
    named = [name for name in means if name in facts]
    return bool(named) and all(facts[name] == means[name] for name in named)


def only(words: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """Return the words of some keys.

    Args:
        words: By our name of their key.
        keys: Which.
    """
    return {key: words[key] for key in keys if key in words}


def loss_names(word: str) -> dict[str, Any]:
    """Return Megatron-LM's names for a kind of loss.

    Args:
        word: Of ``loss_kind``; empty where nothing is said.
    """
    if not word:
        return {}
    is_fused = word != "plain"
    impl = {"cross_entropy_fusion_impl": word} if is_fused else {}
    return {"cross_entropy_loss_fusion": is_fused} | impl


_OF_EXPERTS = ("moe", "moe_act", "shared_experts")


def recompute_names(words: Mapping[str, Any], model: ModelShape, layout: Layout) -> dict[str, Any]:
    """Return the modules that are computed again, as far as the model has them.

    Where layers are computed again whole, no module counts.

    Args:
        words: By our name of their key.
        model: The shape.
        layout: Says whether attention's core is computed again too.

    References:
        megatronlm2026, --recompute-modules: attention's core alone unless others are named.
    """
    named = [
        word
        for word in words.get("recompute_modules", ())
        if (model.experts is not None or word not in _OF_EXPERTS)
        and (model.latent_attention is not None or word != "mla_up_proj")
    ]
    if not named or layout.recompute == "full":
        return {}
    core = ["core_attn"] if layout.recompute == "selective" else []
    return {"recompute_granularity": "selective", "recompute_modules": [*core, *named]}


def moment_names(words: Mapping[str, Any], layout: Layout) -> dict[str, Any]:
    """Return the type of the optimizer's moments where it is not the usual one.

    Args:
        words: By our name of their key.
        layout: Says whether the optimizer is distributed, which other types want.

    References:
        megatronlm2026, --exp-avg-dtype and --use-precision-aware-optimizer.
    """
    word = words.get("moment_kind", _FP32)
    if word == _FP32 or not layout.zero_stage:
        return {}
    kinds = dict.fromkeys(("exp_avg_dtype", "exp_avg_sq_dtype"), word)
    return {"use_precision_aware_optimizer": True} | kinds


def context_names(words: Mapping[str, Any], layout: Layout) -> dict[str, Any]:
    """Return how context ranks exchange keys and values, with the sizes that two levels want.

    Args:
        words: By our name of their key.
        layout: Gives the ranks.

    References:
        megatronlm2026, --hierarchical-context-parallel-sizes: the inner ranks first.
    """
    if layout.cp == 1 or "cp_comm_type" not in words:
        return {}
    names = {"cp_comm_type": words["cp_comm_type"]}
    if words["cp_comm_type"] == "a2a+p2p":
        inner = next(size for size in (8, 4, 2, 1) if layout.cp % size == 0 and size <= layout.cp)
        inner = max(1, min(inner, 8 // layout.tp)) if layout.tp <= 8 else 1
        names["hierarchical_context_parallel_sizes"] = [inner, layout.cp // inner]
    return names
