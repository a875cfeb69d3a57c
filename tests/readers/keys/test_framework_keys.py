"""Every key of a framework is used, harmless, told or refused: none is lost without a word.

The names are those that each framework's own code declares; a name alone, such as `enabled`, is
classed by its section and left out.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import steptime.readers
from steptime.readers.keys.formats import Format, format_named, pattern

KEYS = json.loads((Path(__file__).parents[1] / "framework_keys.json").read_text())
READ_AS = {"primus": "megatron-bridge"}
"""Primus keeps the keys of the framework that it starts."""
CHANGES = ("refused", "tells", "told")


def words() -> set[str]:
    """Return every text in the readers' code: what they ask for is written there."""
    found: set[str] = set()
    for path in Path(steptime.readers.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.update(node.value.split())
    return found


WORDS = words()


def class_of(form: Format, name: str) -> str:
    """Return the class of a key; empty if it has none."""
    low = name.lower()
    for kind in CHANGES:
        if pattern(tuple(getattr(form, kind))).match(low):
            return kind
    last = low.rpartition(".")[2]
    ours = form.our_name(low.split(".")) or ""
    own = {key.rpartition(".")[2] for key in form.keys} if "." not in low else set(form.keys)
    counted = {key for several in form.over.values() for key in several.split()}
    if last in own | counted or {ours, low} & (WORDS | form.facts.keys() | form.values.keys()):
        return "used"
    return "harmless" if pattern(form.harmless).match(low) else ""


# --- invariant


@pytest.mark.parametrize("kind", KEYS)
def test_every_key_has_a_class(kind: str) -> None:
    form = format_named(READ_AS.get(kind, kind))
    assert [name for name in KEYS[kind]["names"] if not class_of(form, name)] == []


@pytest.mark.parametrize("kind", KEYS)
def test_no_key_that_is_made_up_has_a_class(kind: str) -> None:
    form = format_named(READ_AS.get(kind, kind))
    made_up = ["frobnicate_layers", "num_hidden_frobs", "attention_is_frobbed", "zzz"]
    assert [name for name in made_up if class_of(form, name)] == []


# --- by hand


@pytest.mark.parametrize(
    ("kind", "name", "right"),
    [
        ("megatron", "num_layers", "used"),
        ("megatron", "skip_train", "refused"),
        ("megatron", "moe_shared_expert_overlap", "told"),
        ("megatron", "tensorboard_dir", "harmless"),
        ("deepspeed", "activation_checkpointing.cpu_checkpointing", "refused"),
        ("deepspeed", "bf16.bf16_optimizer_states", "told"),
        ("axolotl", "layer_offloading", "refused"),
        ("llama-factory", "mixture_of_depths", "refused"),
        ("maxtext", "weight_sparsity_n", "refused"),
        ("primus", "sink_sliding_window", "refused"),
        ("gpt-neox", "use_qk_layernorm", "used"),
    ],
)
def test_the_class_of_one(kind: str, name: str, right: str) -> None:
    assert class_of(format_named(READ_AS.get(kind, kind)), name) == right
