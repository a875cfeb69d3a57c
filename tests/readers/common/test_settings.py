"""What the user sets beside a launch file."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import completed, noted, read_configuration
from steptime.readers.common.settings import check_settings

POSITIONS = "if [ $1 = big ]; then L=4; H=64; fi\nshift\n" + (
    "torchrun --nproc_per_node $1 train.py --num-layers $L --hidden-size $H --vocab-size 128 "
    "--num-attention-heads 4 --seq-length ${2} --micro-batch-size 1 --global-batch-size 8 --bf16\n"
)


def test_a_name_in_the_file_can_be_set() -> None:
    text = "#!/bin/sh\n# OTHER\nrun --some-switch ${NODES:-4} $((8 * GPUS))\n"
    given = {"NODES": "1", "GPUS": "2", "some_switch": "3", "pp": "4", "1": "x", "@": "x y"}
    check_settings(given, text, "a.sh", ["pp"])
    with pytest.raises(ConfigError, match=r"--set OTHER: a\.sh has no such name"):
        check_settings({"OTHER": "1"}, text, "a.sh", [])
    with pytest.raises(ConfigError, match="did you mean 'NODES'"):
        check_settings({"NODE": "1"}, text, "a.sh", [])


def test_a_switch_without_its_number_is_called_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.sh"
    path.write_text("torchrun train.py --num-layers --hidden-size 8\n")
    with pytest.raises(ConfigError, match=r"a\.sh:1: --num-layers is empty"):
        read_configuration(path)


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({"1": "big", "2": "8", "3": "2048"}, ()),
        ({"@": "big 8 2048"}, ()),
        ({}, ("big", "8", "2048")),
    ],
)
def test_arguments_by_their_position(
    given: dict[str, str], arguments: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "a.sh"
    path.write_text(POSITIONS)
    reading = read_configuration(path, given, arguments)
    layout, batch = completed(reading, {})
    assert (layout.dp, batch.seq_length) == (8, 2048)
    assert reading.model is not None
    assert reading.model.num_layers == 4


def test_a_branch_that_waits_for_an_argument_asks_for_it(tmp_path: Path) -> None:
    path = tmp_path / "a.sh"
    path.write_text(POSITIONS)
    reading = read_configuration(path)
    assert reading.model is None
    assert reading.missing[0].startswith(
        "arguments: branches depend on 1; give all that the script"
    )


def test_a_key_of_the_file_can_be_set_by_its_name_or_ours(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("parallelism:\n  dp: 4\n  tp: 2\ntokens:\n  micro_batch_size: 1\n")
    ours = read_configuration(path, {"tensor_model_parallel_size": "4"})
    theirs = read_configuration(path, {"parallelism.tp": "4"})
    assert (ours.value("tp"), theirs.value("tp")) == (4, 4)


def test_what_the_command_line_gives_is_shown_as_that(tmp_path: Path) -> None:
    path = tmp_path / "a.sh"
    path.write_text("train.py --num-layers 4 --global-batch-size 8 --seq-length 64\n")
    reading = read_configuration(path)
    shown = noted(reading, {"global_batch_size": 16, "num_gpus": 8})
    assert reading.value("global_batch_size") == 8
    assert (shown.facts["global_batch_size"].value, shown.facts["global_batch_size"].line) == (
        16,
        -1,
    )
    assert shown.facts["num_gpus"].written == "--gpus"
    assert not any(gap.startswith("num_gpus") for gap in shown.missing)
