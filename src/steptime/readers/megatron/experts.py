"""Experts and latent attention from Megatron-LM's names and those of its forks."""

from __future__ import annotations

from steptime.inputs.errors import ConfigError
from steptime.inputs.model import Experts, LatentAttention
from steptime.readers.common.patterns import layer_pattern
from steptime.readers.keys.entries import Entries
from steptime.readers.keys.safe import shown

NUMBER = ("num_experts", "num_moe_experts")


def experts(entries: Entries, layers: int, ffn: int) -> Experts | None:
    """Return the mixture-of-experts part; None for a dense model.

    Args:
        entries: The file's keys.
        layers: Layers of the model.
        ffn: Width of the dense feed-forward network.
    """
    number = entries.count("num_experts", *NUMBER, least=0)
    if not number or number == 1:
        return None
    width = entries.count("expert_ffn_hidden_size", "moe_ffn_hidden_size", "moe_intermediate_size")
    width = width or ffn
    top_k = entries.count("top_k", "moe_router_topk", "moe_topk", "topk", "top_k")
    if top_k is None:
        top_k = 2
        entries.reading.assume("top_k", 2, "Megatron-LM's default")
    groups, reach = _groups(entries)
    return Experts(
        num_experts=number,
        top_k=top_k,
        expert_ffn_hidden_size=width,
        num_shared_experts=_shared(entries, width),
        num_dense_layers=_dense_layers(entries, layers),
        num_groups=groups if reach else 1,
        max_groups=reach,
    )


def _groups(entries: Entries) -> tuple[int, int]:
    """Return the groups of experts, and those that a token may reach; 1 and 0 for all."""
    entries.asked.update((*_GROUPS, *_REACH))
    found = [entries.entry(*_GROUPS), entries.entry(*_REACH)]
    numbers = [int(str(one.value)) if one and str(one.value).isdigit() else 0 for one in found]
    groups, reach = numbers
    return (groups, reach) if 0 < reach < groups else (1, 0)


_GROUPS = ("moe_router_num_groups", "n_group")
_REACH = ("moe_router_group_topk", "topk_group")


def _shared(entries: Entries, width: int) -> int:
    """Return the shared experts: their number, or what their width makes."""
    number = entries.count(
        "num_shared_experts", "n_shared_experts", "num_shared_experts", "shared_experts", least=0
    )
    total = entries.count(
        "shared_ffn",
        "moe_shared_expert_intermediate_size",
        "shared_expert_intermediate_size",
        "shared_moe_ffn_hidden_size",
        least=0,
    )
    if not total:
        return number or 0
    from_width = -(-total // width)
    if total % width:
        entries.reading.assume("num_shared_experts", from_width, "rounded up")
    if number is not None and number != from_width:
        # One shared network of the width given, whatever it is called.
        entries.reading.notes.append(
            f"shared experts: width {total} makes {from_width} of an expert's {width}"
        )
    return from_width


def _dense_layers(entries: Entries, layers: int) -> int:
    """Return how many layers have no experts; which ones is told where they do not lead."""
    names = ("first_k_dense_replace", "moe_first_k_dense", "num_dense_layers")
    first = entries.count("num_dense_layers", *names, least=-1)
    if first is not None and first < 0:
        # -1 turns it off.
        entries.reading.facts.pop("num_dense_layers", None)
        first = 0
    every = entries.entry("moe_layer_freq", "expert_interval", "moe_layer_frequency")
    if every is None or not every.known or str(every.value).strip() == "-1":
        return min(first or 0, layers)
    at = f"{entries.reading.at(every.line)}: {every.written} = {shown(every.value)}"
    text = str(every.value).strip().strip("'\"()").replace(" ", "")
    if text.isdigit():
        step = max(1, int(text[:9]))
        pattern = [int(layer % step == 0 and layer >= (first or 0)) for layer in range(layers)]
    else:
        found = layer_pattern(every.value)
        if found is None:
            raise ConfigError(f"{at} is not understood; write it as [0]*3+[1]*58")
        pattern = found
    if len(pattern) != layers:
        raise ConfigError(f"{at} covers {len(pattern)} layers, but num_layers = {layers}")
    dense = pattern.count(0)
    if 0 in pattern[dense:]:
        entries.reading.notes.append(
            f"{every.written}: layers with and without experts alternate; the {dense} without "
            "are taken as the first"
        )
    if dense and "num_dense_layers" not in entries.reading.facts:
        entries.reading.state("num_dense_layers", dense, line=every.line, written=every.written)
    return dense


def latent(entries: Entries) -> LatentAttention | None:
    """Return the latent-attention part; None for ordinary attention.

    Args:
        entries: The file's keys.
    """
    if not entries.flag("multi_latent_attention", "multi_head_latent_attention"):
        return None

    def size(key: str, default: int, *others: str) -> int:
        found = entries.count(key, key, *others, least=0)
        if found is None:
            entries.reading.assume(key, default, "Megatron-LM's default")
        return default if found is None else found

    return LatentAttention(
        q_lora_rank=entries.count("q_lora_rank", "q_lora_rank", least=0) or 0,
        kv_lora_rank=size("kv_lora_rank", 32),
        qk_nope_head_dim=size("qk_head_dim", 128, "qk_nope_head_dim"),
        qk_rope_head_dim=size("qk_pos_emb_head_dim", 64, "qk_rope_head_dim"),
        v_head_dim=size("v_head_dim", 128),
    )
