"""A file of torchtitan is written for what one of its architectures can be built of, else none."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from steptime import search
from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.presets import model, model_names
from steptime.planning.emit import FORMATS, emitted
from steptime.planning.emit.architectures import architecture_of, traits_of
from steptime.planning.emit.best import emission
from steptime.planning.emit.torchtitan import flavor_of

BATCH = Batch(global_batch_size=8, seq_length=2048, micro_batch_size=1)
LAYOUT = Layout(dp=8, zero_stage=3)
TABLE = {
    name: one
    for name, one in data_table("torchtitan_architectures.toml").items()
    if isinstance(one, dict)
}


@pytest.mark.parametrize(
    ("name", "lacks"),
    [
        ("gpt3-175b", "LayerNorm, learned positions and an ungated gelu, as GPT-3 175B has"),
        ("opt-13b", "LayerNorm, learned positions, biases and an ungated"),
        ("bloom-176b", "LayerNorm and an ungated gelu"),
        ("phi-2", "LayerNorm, biases and an ungated gelu"),
        ("gemma2-9b", "a gated gelu and windows of attention"),
        ("nemotron-4-340b", "LayerNorm and an ungated relu2"),
        ("qwen2.5-7b", "biases of queries, keys and values, as"),
        ("olmo3-7b", "windows of attention, as"),
    ],
)
def test_what_no_architecture_holds_is_named(name: str, lacks: str) -> None:
    with pytest.raises(ConfigError, match=f"no architecture of torchtitan's has {lacks}"):
        emitted("torchtitan", model(name), LAYOUT, BATCH)


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("mistral-7b", "llama3"),
        ("yi-34b", "llama3"),
        ("mistral-nemo-12b", "qwen3"),
        ("mixtral-8x7b", "qwen3"),
        ("kimi-k2", "deepseek_v3"),
    ],
)
def test_a_flavor_is_added_to_the_architecture_that_is_built_like_it(
    name: str, family: str
) -> None:
    text = emitted("torchtitan", model(name), LAYOUT, BATCH)
    assert f"so add one to its {family}" in text
    # Of normalized queries a shape says whether, not how: the file says how torchtitan has them.
    assert ("by head" in text) == (family == "qwen3")


def test_a_model_of_the_registry_needs_no_architecture() -> None:
    for name in model_names():
        if flavor_of(model(name)) is not None:
            assert "no flavor" not in emitted(
                "torchtitan", model(name), replace(LAYOUT, etp=1), BATCH
            )


def test_each_trait_of_the_table_is_one_that_a_shape_can_have() -> None:
    known = {trait for name in model_names() for trait in traits_of(model(name))}
    for one in TABLE.values():
        assert set(one["takes"]) <= known
        assert set(one.get("always", ())) <= set(one["takes"])
    # Flavors of the registry are built of what the table says of their name.
    for name in ("deepseek-v3", "gpt-oss-20b", "qwen3-8b", "qwen3-235b-a22b", "llama3-70b"):
        flavor = flavor_of(model(name))
        assert flavor is not None
        assert architecture_of(model(name))[0] == flavor[0]


@pytest.mark.parametrize(
    ("kind", "name", "why"),
    [
        ("nanotron", "deepseek-v2-lite", "nanotron's Llama has no biases"),
        ("deepspeed", "gpt3-175b", "no architecture is known that trains GPT-3 175B"),
        ("torchtitan", "opt-13b", "no architecture of torchtitan's has LayerNorm"),
        ("nemo", "deepseek-v2-lite", "latent attention"),
    ],
)
def test_a_model_is_the_reason_before_any_layout(kind: str, name: str, why: str) -> None:
    asked = {"num_gpus": 64, "global_batch_size": 128, "seq_length": 2048}
    result = search(model=name, accelerator="h100", tp=8, zero_stage=1, **asked)
    with pytest.raises(ConfigError, match=why) as refused:
        emission(kind, result)
    assert "choose" not in str(refused.value)


@pytest.mark.parametrize("kind", FORMATS)
def test_one_device_stands_in_the_way_of_no_framework(kind: str) -> None:
    one = Batch(global_batch_size=1, seq_length=2048, micro_batch_size=1)
    text = emitted(kind, model("llama3-8b"), Layout(), one)
    assert re.search(r"\b1 GPU = tp 1\b", text)
    assert not re.search(r"\b1 GPUs\b", text)
