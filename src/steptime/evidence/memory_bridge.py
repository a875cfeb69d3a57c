"""What Megatron-Bridge's recipes recompute by module, and what they keep on the host."""

from __future__ import annotations

import re

from steptime.evidence.schema import PublishedRow
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import accelerator

MODULES = {
    "layernorm": "recompute_norms",
    "mla_up_proj": "recompute_up_projection",
    "mlp": "recompute_mlp",
    "moe_act": "recompute_expert_activation",
    "shared_experts": "recompute_shared_experts",
    "moe": "recompute_experts",
}
"""Megatron-LM's names of modules (megatronlm2026, --recompute-modules), and our fact of each;
core_attn, the scores, is selective recomputation."""

UNSTATED = {
    ("deepseek-v3", "h100"): ("mla_up_proj", "mlp"),
    ("deepseek-v3", "b200"): ("mla_up_proj", "mlp"),
    ("deepseek-v3", "b300"): ("mla_up_proj",),
    ("deepseek-v3", "gb200"): ("mla_up_proj",),
    ("gpt-oss-120b", "h100"): ("layernorm", "moe_act"),
    ("gpt-oss-120b", "b200"): ("layernorm", "moe_act"),
    ("gpt-oss-120b", "gb200"): ("layernorm", "moe_act"),
}
"""Modules that the newest recipe of a model and device recomputes (megatronbridge2026,
src/megatron/bridge/perf_recipes): taken where a row says nothing."""

OFFLOADED = {("llama-3-70b", "gb200"): 40.0, ("llama-3-70b", "gb300"): 20.0}
"""Layers whose activations wait on the host where Llama 3 70B trains in 8 bits with FSDP (the
same recipes, cpu_offloading_num_layers)."""


def stated_modules(text: str) -> tuple[str, ...]:
    """Return the modules that a ``recompute`` cell names.

    Args:
        text: Such as ``selective modules [mla_up_proj, mlp]``.
    """
    names = re.findall(r"[a-z_]+", text.lower())
    return () if "full" in names else tuple(name for name in names if name in MODULES)


def _key(row: PublishedRow) -> tuple[str, str]:
    name = row.model.lower().split(" (")[0]
    try:
        return name, accelerator(row.gpu).name
    except ConfigError:
        return name, ""


def bridge_changes(row: PublishedRow) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the facts that a row or its recipe changes, and a sentence for each inferred one.

    Args:
        row: A row of Megatron-Bridge.
    """
    modules, inferred = stated_modules(row.recompute), []
    if not row.recompute.strip() and _key(row) in UNSTATED:
        modules = UNSTATED[_key(row)]
        inferred.append(f"recompute: not stated, {' and '.join(modules)} as in the newest recipe")
    changes = {MODULES[name]: 1.0 for name in modules}
    if "fsdp" in row.zero.lower() and _key(row) in OFFLOADED:
        changes["offloaded_layers"] = OFFLOADED[_key(row)]
        inferred.append(f"{changes['offloaded_layers']:.0f} layers' activations are on the host")
    return changes, tuple(inferred)
