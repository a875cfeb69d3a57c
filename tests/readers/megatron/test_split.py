"""Cuts into stages that Megatron-LM refuses are refused here, with the count that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.planning.explained import explain
from steptime.readers import read_configuration
from steptime.readers.common.stage_layers import CHUNKS

BASE = (
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
    "--micro-batch-size 1 --global-batch-size 64 --vocab-size 32000 --world-size 32 --bf16 "
)
TWO, FOUR = "--pipeline-model-parallel-size 2 ", "--pipeline-model-parallel-size 4 "
LAYOUT, VIRTUAL = "--pipeline-model-parallel-layout ", "--num-virtual-stages-per-pipeline-rank 2"
FIRST, LAST = "--decoder-first-pipeline-num-layers ", "--decoder-last-pipeline-num-layers "


def script(folder: Path, flags: str) -> Path:
    """Return a script with flags of its own."""
    path = folder / "run.sh"
    path.write_text(f"torchrun pretrain_gpt.py {BASE}{flags}\n")
    return path


@pytest.mark.parametrize(
    ("flags", "match"),
    [
        (TWO + LAYOUT + "'Et*10|t*15L'", "has 25 layers, but num_layers = 32"),
        (TWO + LAYOUT + "'Et*16|t*17L'", "has 33 layers, but num_layers = 32"),
        (TWO + LAYOUT + "'Et*10|t*10|t*12L'", "has 3 stages, which pp = 2 does not divide"),
        (TWO + LAYOUT + "'Et*16|x*16L'", "has 'x'; known: E, t, m, L"),
        (TWO + LAYOUT + "'t*16|t*16L'", "must start with the embedding"),
        (TWO + LAYOUT + "'Et*16|t*16'", "must end with the loss"),
        (TWO + LAYOUT + "'Et*16|t*16L' " + FIRST + "16", "leaves no place for --decoder-first"),
        (
            TWO + LAYOUT + "'Et*16|t*16L' --num-layers-per-virtual-pipeline-stage 8",
            "leaves no place for --num-layers-per-virtual-pipeline-stage",
        ),
        (
            FOUR + FIRST + "7 --num-layers-per-virtual-pipeline-stage 1",
            "beside --num-layers-per-virtual-pipeline-stage; give --num-virtual-stages",
        ),
        (FOUR + FIRST + "7 " + LAST + "8", "17 of num_layers = 32 are left for 2 of pp = 4"),
        (FOUR + FIRST + "7 " + LAST + "7 " + VIRTUAL, "vpp = 2 does not divide the 7 layers"),
        (FOUR + FIRST + "4 " + LAST + "2 " + VIRTUAL, "vpp = 2 does not divide the 13 layers"),
        (FOUR + FIRST + "5 --account-for-loss-in-pipeline-split", "cannot stand beside account_"),
        (
            FOUR + "--account-for-loss-in-pipeline-split --num-layers-per-virtual-pipeline-stage 4",
            "do not divide num_layers = 32 and 1 for the ends",
        ),
    ],
)
def test_a_cut_that_megatron_refuses_is_refused(flags: str, match: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=match):
        read_configuration(script(tmp_path, flags))


@pytest.mark.parametrize(
    ("flags", "chunks", "vpp"),
    [
        (TWO + LAYOUT + "'Et*10|t*22L'", "10,22", 1),
        (TWO + LAYOUT + "'E,t*8|(t*8|)*2t*8,L'", "8,8,8,8", 2),
        (TWO + LAYOUT + "'Et*16|*2t*16|L'", "16,0,16,0", 2),
    ],
)
def test_a_cut_that_is_written_out_counts(
    flags: str, chunks: str, vpp: int, tmp_path: Path
) -> None:
    reading = read_configuration(script(tmp_path, flags))
    assert reading.value(CHUNKS) == chunks
    assert reading.value("vpp") == vpp


def test_stated_ends_that_leave_equal_stages_stay(tmp_path: Path) -> None:
    reading = read_configuration(script(tmp_path, FOUR + FIRST + "6 " + LAST + "2 " + VIRTUAL))
    assert reading.value("first_stage_layers") == 6
    assert reading.value("last_stage_layers") == 2


def test_layers_that_the_ends_count_for_are_told_apart_from_the_model_s(tmp_path: Path) -> None:
    path = script(tmp_path, FOUR + "--account-for-embedding-in-pipeline-split")
    match = "refuses 32 layers and 1 for the ends on pp=4 stages.* use pp=3 or 31 layers"
    with pytest.raises(ConfigError, match=match):
        explain(path, accelerator="h100")
