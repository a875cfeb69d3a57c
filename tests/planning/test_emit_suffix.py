"""A framework's file is written under a name by which it is read back, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steptime import ConfigError, search
from steptime.planning.emit import FORMATS, suffix_of
from steptime.readers import read_configuration

ASKED: dict[str, Any] = {
    "model": "llama3-8b",
    "accelerator": "h100",
    "num_gpus": 8,
    "global_batch_size": 64,
    "seq_length": 4096,
}


@pytest.mark.parametrize(
    ("kind", "name", "instead"),
    [
        ("nemo", "run.txt", "run.yaml"),
        ("nanotron", "run.sh", "run.yaml"),
        ("torchtitan", "run.yaml", "run.toml"),
        ("torchtitan", "run", "run.toml"),
        ("megatron-bridge", "run.json", "run.yaml"),
        ("megatron", "run.yaml", "run.sh"),
        ("megatron", "run.py", "run.sh"),
        ("deepspeed", "run.json", "run.sh"),
    ],
)
def test_another_suffix_is_refused_before_anything_is_searched(
    kind: str, name: str, instead: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steptime.planning.asked.search_of", lambda *_, **__: pytest.fail("asked"))
    with pytest.raises(ConfigError, match=f"what {kind} reads ends in") as told:
        search(**ASKED, emit=kind, emit_to=tmp_path / name)
    assert str(told.value).endswith(f"write {tmp_path / instead}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("upper", [False, True])
def test_the_suffix_of_a_format_is_read_back(kind: str, upper: bool, tmp_path: Path) -> None:
    suffix = suffix_of(kind)
    path = tmp_path / f"run{suffix.upper() if upper else suffix}"
    search(**ASKED, emit=kind, emit_to=path)
    assert read_configuration(path).value("num_gpus", 8) == 8


@pytest.mark.parametrize(("kind", "name"), [("megatron", "run.txt"), ("nemo", "run.yml")])
def test_other_names_that_are_read_back_are_taken(kind: str, name: str, tmp_path: Path) -> None:
    search(**ASKED, emit=kind, emit_to=tmp_path / name)
    assert read_configuration(tmp_path / name).value("num_gpus", 8) == 8


def test_keys_under_a_script_s_name_are_told_what_their_name_must_be(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    text = search(**ASKED, emit="nemo").emission
    path.write_text(text.text if text else "")
    with pytest.raises(ConfigError, match=r"must end in \.yaml, \.toml or \.json"):
        read_configuration(path)
