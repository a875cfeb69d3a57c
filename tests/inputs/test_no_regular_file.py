"""What is there but is no regular file, and how a model's own file is called."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.inputs.training_step import device_named, shape_named

CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 2,
    "vocab_size": 100,
}


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_a_device_is_named_as_no_regular_file(path: str) -> None:
    for named in (shape_named, device_named):
        with pytest.raises(ConfigError, match=f"cannot read {path}: it is not a regular file"):
            named(path)


def test_a_pipe_is_named_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for named in (shape_named, device_named):
        with pytest.raises(ConfigError, match="pipe: it is not a regular file"):
            named(str(tmp_path / "pipe"))


def test_a_folder_without_a_model_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"Is a directory, without a config\.json; name the"):
        shape_named(str(tmp_path))
    with pytest.raises(ConfigError, match="Is a directory"):
        device_named(str(tmp_path))


def test_a_name_that_is_neither_file_nor_preset_is_unknown_as_before() -> None:
    with pytest.raises(ConfigError, match="unknown model '/no/such/file'"):
        shape_named("/no/such/file")
    with pytest.raises(ConfigError, match="unknown model"):
        shape_named("")


def test_a_preset_comes_before_a_folder_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "llama3-8b").mkdir()
    (tmp_path / "h100").mkdir()
    monkeypatch.chdir(tmp_path)
    assert shape_named("llama3-8b").num_layers == 32
    assert device_named("h100").name == "h100"


@pytest.mark.parametrize("inside", [False, True])
def test_a_model_is_called_as_the_folder_in_which_its_file_stands(
    inside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my-llama"
    (folder / "runs").mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    monkeypatch.chdir(folder if inside else folder / "runs")
    paths = ("config.json", "./config.json", ".") if inside else ("../config.json", "..")
    assert {shape_named(one).name for one in (*paths, str(folder))} == {"my-llama"}
