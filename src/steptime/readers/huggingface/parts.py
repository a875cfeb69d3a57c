"""Parts of a model's shape from a ``config.json``, with the rules of each family."""

from __future__ import annotations

from steptime.inputs.errors import ConfigError
from steptime.inputs.model import Experts, LatentAttention
from steptime.readers.huggingface.config_keys import ConfigKeys
from steptime.readers.huggingface.families import Family
from steptime.readers.keys.safe import shown

_WINDOWED = ("sliding_attention", "chunked_attention")


def groups_of(source: ConfigKeys, kind: str, family: Family, heads: int) -> int:
    """Return the key and value heads, with the rules of each family."""
    if kind == "gpt_bigcode":
        return heads if source.flag("multi_query") is False else 1
    if kind == "mpt":
        attention = source.keys.get("attn_config")
        inner = attention.get("kv_n_heads") if isinstance(attention, dict) else None
        if isinstance(attention, dict) and attention.get("attn_type") == "multiquery_attention":
            return 1
        return heads if inner is None else source.checked("kv_n_heads", inner, most=heads)
    is_falcon = kind in ("falcon", "RefinedWeb", "RefinedWebModel")
    newer = source.flag("new_decoder_architecture") or "n_head_kv" in source.keys
    if is_falcon and not newer:
        return heads if source.flag("multi_query") is False else 1
    if "num_query_groups" in source.defaults:
        return source.need("num_query_groups", family.groups)
    groups = source.count("num_query_groups", family.groups)
    return heads if groups is None else groups


def ffn_of(source: ConfigKeys, family: Family, hidden: int) -> int:
    """Return the width of the dense feed-forward network."""
    width = source.count("ffn_hidden_size", family.ffn)
    if width is None and not family.ffn_ratio:
        raise ConfigError(f"{source.reading.path} lacks {' or '.join(family.ffn)}")
    ratio = source.count("expansion_ratio", ("expansion_ratio",)) or family.ffn_ratio
    if width is None:
        return ratio * hidden
    return width // 2 if family.ffn_halved else width


def gated_of(source: ConfigKeys, family: Family) -> bool:
    """Return whether the feed-forward network has a gate."""
    if "mlp_gated" in source.keys:
        return bool(source.flag("mlp_gated"))
    return family.gated


def experts_of(source: ConfigKeys, family: Family, layers: int) -> Experts | None:
    """Return the mixture-of-experts part, if the family has one."""
    number = source.count("num_experts", family.experts, least=0) if family.experts else None
    if not number:
        return None
    width = source.need("expert_ffn_hidden_size", family.expert_ffn)
    shared = source.count("num_shared_experts", family.shared, least=0) or 0
    total = source.count("shared_ffn", family.shared_ffn, least=0) or 0
    if total:
        shared = -(-total // width)
        if total % width:
            source.reading.assume("num_shared_experts", shared, f"{total} / {width}, rounded up")
    shared += family.fixed_shared
    dense = _dense_layers(source, family, layers)
    groups, reached = _groups(source)
    return Experts(
        num_experts=number,
        top_k=source.need("top_k", family.top_k),
        expert_ffn_hidden_size=width,
        num_shared_experts=shared,
        num_dense_layers=min(dense, layers),
        num_groups=groups,
        max_groups=reached,
    )


def _groups(source: ConfigKeys) -> tuple[int, int]:
    """Return the groups of experts and how many a token may reach, 0 for all of them."""
    groups = source.count("num_groups", ("n_group",), least=0) or 1
    reached = source.count("max_groups", ("topk_group",), least=0) or 0
    return groups, reached if reached < groups else 0


def _dense_layers(source: ConfigKeys, family: Family, layers: int) -> int:
    """Return how many layers have no experts; which ones is told where they do not lead."""
    dense = source.count("num_dense_layers", family.dense_layers, least=0) or 0
    only = source.keys.get("mlp_only_layers")
    if isinstance(only, list) and only:
        if only != list(range(len(only))):
            source.reading.notes.append("layers without experts are taken as the first")
        dense = len(only)
    for key in filter(None, ("moe_layer_freq", "decoder_sparse_step", family.step)):
        step = source.keys.get(key)
        if isinstance(step, list):
            rows = [int(one) for one in step if isinstance(one, int)]
            return _alternate(source, key, rows.count(0))
        if step not in (None, 1):
            every = source.checked(key, step, most=layers)
            with_experts = sum(1 for layer in range(dense, layers) if (layer + 1) % every == 0)
            return _alternate(source, key, layers - with_experts)
    return dense


def _alternate(source: ConfigKeys, key: str, dense: int) -> int:
    source.reading.notes.append(
        f"{key}: layers with and without experts alternate; the {dense} without are taken as the "
        "first"
    )
    return dense


def latent_of(source: ConfigKeys) -> LatentAttention:
    """Return the latent-attention part."""
    return LatentAttention(
        q_lora_rank=source.count("q_lora_rank", ("q_lora_rank",), least=0) or 0,
        kv_lora_rank=source.need("kv_lora_rank", ("kv_lora_rank",)),
        qk_nope_head_dim=source.need("qk_nope_head_dim", ("qk_nope_head_dim",)),
        qk_rope_head_dim=source.need("qk_rope_head_dim", ("qk_rope_head_dim",)),
        v_head_dim=source.need("v_head_dim", ("v_head_dim",)),
    )


def window_of(source: ConfigKeys, family: Family, layers: int) -> tuple[int, int]:
    """Return the window and how many layers have it."""
    size = source.count("window_size", ("sliding_window",), least=0) or 0
    kinds = source.keys.get("layer_types")
    if isinstance(kinds, list) and kinds:
        other = [kind for kind in kinds if kind not in ("full_attention", *_WINDOWED)]
        if other:
            raise ConfigError(f"{source.at('layer_types')}: {shown(other[0])} is not known here")
        number = sum(kind in _WINDOWED for kind in kinds)
        size = size or source.count("window_size", ("attention_chunk_size",), least=0) or 0
        return (size, min(number, layers)) if number and size else (0, 0)
    if family.window == "chunks":
        # Every fourth layer attends to all keys.
        chunk = source.count("window_size", ("attention_chunk_size",), least=0) or 0
        return (chunk, layers - layers // 4) if chunk else (0, 0)
    if family.window == "neo":
        local = source.keys.get("attention_layers")
        number = local.count("local") if isinstance(local, list) else layers // 2
        return source.count("window_size", ("window_size",)) or 256, min(number, layers)
    if not size or source.flag("use_sliding_window") is False:
        return 0, 0
    if family.window == "all":
        return size, layers
    if family.window == "alternate":
        return size, -(-layers // 2)
    if family.window in ("pattern", "pattern4"):
        default = 4 if family.window == "pattern4" else 6
        every = source.count("window_pattern", ("sliding_window_pattern",)) or default
        return size, layers - layers // every
    if family.window == "upper" and source.flag("use_sliding_window"):
        first = source.count("max_window_layers", ("max_window_layers",), least=0) or 0
        return (size, layers - first) if first < layers else (0, 0)
    return 0, 0
