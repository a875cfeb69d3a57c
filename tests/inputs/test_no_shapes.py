"""Models that no shape here has: the refusal says why, and what can be asked instead."""

from __future__ import annotations

import pytest

from steptime.inputs.datafiles import data_table
from steptime.inputs.errors import ConfigError
from steptime.inputs.no_shapes import why_no_shape
from steptime.inputs.presets import model


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("google/gemma-4-26B-A4B-it", "attention of two widths"),
        ("Qwen/Qwen3.5-2B", "layers of several kinds"),
        ("qwen3-next-80b-a3b", "layers of several kinds"),
        ("nvidia/Nemotron-H-47B-Base", "layers of several kinds"),
        ("state-spaces/mamba2-2.7b", "state-space layers"),
        ("facebook/opt-350m", "an embedding of another width"),
        ("Qwen/Qwen2-Audio-7B-Instruct", "an encoder of sound"),
        ("google-t5/t5-11b", "an encoder and a decoder"),
    ],
)
def test_a_model_that_no_shape_has_is_refused_with_why_and_what_would_do(
    name: str, why: str
) -> None:
    with pytest.raises(ConfigError, match=f"{why}.* is not|{why}.* are not") as refused:
        model(name)
    assert str(refused.value).endswith("write them into a TOML file, -m FILE.toml")


def test_no_preset_is_among_them() -> None:
    table = data_table("models.toml")
    names = [name for key, one in table.items() for name in (key, one["name"], *one["aliases"])]
    assert [name for name in names if why_no_shape(name)] == []


def test_a_name_that_nobody_knows_is_told_of_files() -> None:
    with pytest.raises(ConfigError, match=r"unknown model 'own-thing'.*config\.json"):
        model("own-thing")
