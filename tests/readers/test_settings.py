"""What the user sets beside a launch file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from steptime import readers
from steptime.inputs.errors import ConfigError
from steptime.readers import read_configuration
from steptime.readers.megatron_layout import SIZES
from steptime.readers.megatron_model import SHAPE
from steptime.readers.settings import ARGUMENTS, check_settings

ROOM = Path(readers.__file__).parent


def asked() -> set[str]:
    """Return the names that the readers ask for in so many words."""
    names = {*SHAPE, *(key for _, keys in SIZES for key in keys)}
    for file in ("megatron", "megatron_model", "megatron_layout", "nemo"):
        for node in ast.walk(ast.parse((ROOM / f"{file}.py").read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if ast.unparse(node.func.value) != "entries":
                continue
            if node.func.attr in ("count", "flag", "word", "entry"):
                keys = node.args[node.func.attr == "count" :]
                names |= {str(key.value) for key in keys if isinstance(key, ast.Constant)}
    return names


def test_every_name_that_a_reader_asks_for_can_be_set() -> None:
    assert len(asked()) > 80
    assert asked() - ARGUMENTS == set()


def test_a_name_in_the_file_can_be_set() -> None:
    text = "#!/bin/sh\n# OTHER\nrun --some-switch ${NODES:-4} $((8 * GPUS))\n"
    check_settings({"NODES": "1", "GPUS": "2", "some_switch": "3", "pp": "4"}, text, "a.sh")
    with pytest.raises(ConfigError, match=r"--set OTHER: a\.sh has no such name"):
        check_settings({"OTHER": "1"}, text, "a.sh")
    with pytest.raises(ConfigError, match="did you mean 'NODES'"):
        check_settings({"NODE": "1"}, text, "a.sh")


def test_a_switch_without_its_number_is_called_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.sh"
    path.write_text("torchrun train.py --num-layers --hidden-size 8\n")
    with pytest.raises(ConfigError, match=r"a\.sh:1: --num-layers is empty"):
        read_configuration(path)
