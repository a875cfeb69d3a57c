"""What launch files and configurations say of the function inside the feed-forward network."""

from __future__ import annotations

import re
from typing import Any

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.entries import Entries, forms

_KEYS = ("activation", "activation_func", "hidden_act", "glu_activation")
_GATED = "liglu swiglu fast-swiglu geglu fast-geglu reglu fast-reglu gated".split()
_PLAIN = (
    "gelu relu squared-relu squared_relu squaredrelu relu2 plain openai-gelu openai_gelu gelu_new "
    "gelu_fast fast_gelu quick_gelu quick-gelu silu swish gelu_pytorch_tanh"
).split()
"""Words for activations, with a gate and without."""

_FUNCTIONS = {
    **dict.fromkeys(("silu", "swish", "swiglu", "fast-swiglu"), "silu"),
    **dict.fromkeys(
        ("gelu", "geglu", "fast-geglu", "openai-gelu", "openai_gelu", "gelu_new"), "gelu"
    ),
    **dict.fromkeys(("gelu_fast", "fast_gelu", "gelu_pytorch_tanh", "gelu_tanh"), "gelu"),
    **dict.fromkeys(("relu", "reglu", "fast-reglu"), "relu"),
    **dict.fromkeys(("squared-relu", "squared_relu", "squaredrelu", "relu2"), "relu2"),
    **dict.fromkeys(("quick_gelu", "quick-gelu", "quick_geglu"), "quick-gelu"),
}
_SWITCHES = ("swiglu", "quick_geglu", "geglu", "reglu", "squared_relu", "gelu_tanh")
"""Flags that name the function; the first that is on counts."""

_GATES = ("swiglu", "gated_linear_unit", "quick_geglu", "geglu", "reglu", "gelu_tanh")
_LEARNED = "learnable"


def is_gated(entries: Entries) -> bool:
    """Return whether the feed-forward network has a gate.

    Args:
        entries: The file's keys.

    Raises:
        ConfigError: If a word does not tell.
    """
    # A fork's gelu_tanh halves its input too: one half is the gate.
    on = [entries.flag(name) for name in _GATES]
    entries.flag("squared_relu")
    entries.flag("openai_gelu")
    word = entries.word(*_KEYS)
    if any(on) or word in _GATED:
        return True
    # A dump writes the path of a function.
    if word and word not in _PLAIN and "." not in word:
        entry = entries.entry(*_KEYS)
        line = entry.line if entry else 0
        raise ConfigError(
            f"{entries.reading.at(line)}: activation {word[:40]!r} is not understood: with a gate "
            f"or without? known: {', '.join(sorted((*_GATED, *_PLAIN)))}"
        )
    return False


def unusual(words: set[str], gated: bool) -> str:
    """Return the function that words name; empty for the usual one, or where none is named.

    Args:
        words: For one function.
        gated: Whether it stands in a gate.
    """
    found = next((_FUNCTIONS[word] for word in sorted(words) if word in _FUNCTIONS), "")
    return "" if found == ("silu" if gated else "gelu") else found


def activation_traits(entries: Entries) -> dict[str, Any]:
    """Return the function, the bound and offset of its gate, and the sinks of attention.

    Args:
        entries: The file's keys.
    """
    gated = is_gated(entries)
    named = next((name for name in _SWITCHES if entries.flag(name)), entries.word(*_KEYS))
    words = {named} if named in _SWITCHES else forms(named)
    if named == "swiglu" and entries.word(*_KEYS):
        # A base model's gate, and the function that it has in it.
        words = forms(entries.word(*_KEYS))
    return {
        "activation": unusual(words, gated),
        "activation_clamp": _number(entries, "activation_func_clamp_value"),
        "glu_offset": _number(entries, "glu_linear_offset"),
        "sinks": entries.word("softmax_type") == _LEARNED,
    }


def _number(entries: Entries, key: str) -> float:
    """Return a small number; 0 where none is given."""
    entry = entries.entry(key)
    text = str(entry.value).strip() if entry is not None and entry.known else ""
    return float(text) if re.fullmatch(r"\d{1,6}(\.\d{0,6})?", text) else 0.0
