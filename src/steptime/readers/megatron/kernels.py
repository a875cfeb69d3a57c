"""Kernels that several arguments of Megatron-LM decide together, put into one word each."""

from __future__ import annotations

from steptime.readers.keys.entries import Entries

_GATE = ("no_bias_swiglu_fusion", "no_bias_gelu_fusion", "no_bias_geglu_fusion")


def kernels(entries: Entries) -> None:
    """Put in the kinds of attention, loss and element-wise kernels, as far as a file says.

    Args:
        entries: The file's keys.

    References:
        megatronlm2026, core/models/gpt/gpt_layer_specs and
        core/models/common/language_module: what each implementation runs.
    """
    _attention(entries)
    _loss(entries)
    _dispatcher(entries)
    _elementwise(entries)
    _gathers(entries)
    _experts(entries)


def _attention(entries: Entries) -> None:
    """Megatron-LM's own layers store scores, unless the older ones are told to take a kernel."""
    if entries.by_key.get("attention_backend"):
        return
    is_local = entries.word("transformer_impl") == "local"
    switch = entries.by_key.get("use_flash_attn")
    if entries.reading.kind == "mindspeed":
        # Its kernels replace Megatron-LM's own layers.
        if switch and entries.flag("use_flash_attn"):
            entries.put("attention_kind", "flash", "use_flash_attn", entries.line("use_flash_attn"))
        return
    if entries.reading.kind != "megatron":
        return
    if switch and (is_local or entries.flag("use_legacy_models")):
        entries.flag("use_flash_attn")
        why = "use_flash_attn, of Megatron-LM's own layers"
        entries.put("attention_kind", "flash", why, entries.line("use_flash_attn"))
    elif is_local:
        line = entries.line("transformer_impl")
        entries.put("attention_kind", "unfused", "transformer_impl = local", line)


def _dispatcher(entries: Entries) -> None:
    """Tell of the one dispatcher that is counted as another."""
    if entries.word("moe_token_dispatcher_type") == "allgather":
        entries.reading.notes.append(
            "moe_token_dispatcher_type = allgather: each expert rank gets all tokens, which is "
            "not modelled: counted as alltoall, which sends less"
        )


def _loss(entries: Entries) -> None:
    """The loss is a chain of kernels, some in one, or one kernel of Transformer Engine."""
    kind = entries.reading.kind
    name = "cross_entropy_loss_fusion"
    if not entries.by_key.get(name):
        if kind == "megatron":
            why = "Megatron-LM's default: no --cross-entropy-loss-fusion"
            entries.put("loss_kind", "plain", why)
        return
    impl = entries.word("cross_entropy_fusion_impl") or "native"
    is_on = entries.flag(name)
    line = entries.line(name)
    entries.put("loss_kind", impl if is_on else "plain", name, line)


def _elementwise(entries: Entries) -> None:
    """All element-wise kernels run alone where both positions and activations do."""
    rope = entries.flag("no_rope_fusion") or _is_off(entries, "apply_rope_fusion")
    gate = any([entries.flag(name) for name in _GATE if entries.by_key.get(name)])
    gate = gate or _is_off(entries, "bias_activation_fusion")
    if rope and gate:
        entries.put("elementwise", "plain", "positions and activations are not fused")
        return
    if entries.word("transformer_impl") == "transformer_engine" and not (rope or gate):
        line = entries.line("transformer_impl")
        entries.put("elementwise", "fused", "transformer_impl = transformer_engine", line)
    # One of them alone has no fact, so that its note stays.
    entries.asked.difference_update(("no_rope_fusion", *_GATE))
    entries.asked.difference_update(("apply_rope_fusion", "bias_activation_fusion"))


def _experts(entries: Entries) -> None:
    """No kernel is fused with an expert's biases and a clamped activation together."""
    model = entries.reading.model
    if model is None or model.experts is None:
        return
    if model.activation_clamp and model.linear_bias:
        name = "activation_func_clamp_value"
        entries.put("expert_activation", "clamped", f"{name} beside biases", entries.line(name))


def _is_off(entries: Entries, name: str) -> bool:
    found = entries.by_key.get(name)
    return bool(found) and not entries.flag(name)


def _gathers(entries: Entries) -> None:
    """Weights are taken as gathered behind computing wherever gradients are reduced behind it."""
    names = ("overlap_grad_reduce", "overlap_param_gather")
    if not all(entries.by_key.get(name) for name in names):
        return
    asked = set(entries.asked)
    one, other = (entries.flag(name) for name in names)
    entries.asked = asked
    if one == other:
        entries.asked.add(names[1])
