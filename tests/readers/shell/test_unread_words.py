"""Words of a command that stand for words nobody knows: said, not passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.readers import read_configuration

RUN = (
    "torchrun --nproc_per_node 8 {front}pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
    "--num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 "
    "--micro-batch-size 2 --global-batch-size 96 --bf16 --vocab-size 32000 {more}\n"
)


def notes(folder: Path, more: str, before: str = "") -> list[str]:
    path = folder / "run.sh"
    path.write_text("#!/bin/bash\n" + before + RUN.format(front="", more=more))
    return read_configuration(path).notes


@pytest.mark.parametrize("more", ["$(cat extra.txt)", "`cat extra.txt`", '"$(cat extra.txt)"'])
def test_what_a_command_prints_may_hold_flags(more: str, tmp_path: Path) -> None:
    told = "NOT READ: $(cat extra.txt): flags in it may change the answer"
    assert told in notes(tmp_path, more)


def test_a_variable_that_the_script_never_sets_is_taken_as_empty(tmp_path: Path) -> None:
    told = "taken as empty: ${EXTRA_ARGS}, which the script never sets"
    assert told in notes(tmp_path, "$EXTRA_ARGS")
    assert told not in notes(tmp_path, "$EXTRA_ARGS", 'EXTRA_ARGS="--swiglu"\n')
    # The value of a flag is asked for by the flag.
    assert not [one for one in notes(tmp_path, "--save $CHECKPOINTS") if "taken as empty" in one]


@pytest.mark.parametrize("flag", ["--fp8-hybrid", "--fp8-e4m3", "--fp8-format hybrid"])
def test_products_in_8_bits_are_read_by_every_name_that_they_had(flag: str, tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text(RUN.format(front="", more=flag))
    assert read_configuration(path).value("precision") == "fp8"


def test_a_dispatcher_that_is_counted_as_another_is_told(tmp_path: Path) -> None:
    experts = "--num-experts 8 --expert-model-parallel-size 8 --moe-token-dispatcher-type "
    assert "counted as alltoall" in " ".join(notes(tmp_path, experts + "allgather"))
    assert "counted as alltoall" not in " ".join(notes(tmp_path, experts + "alltoall"))


def test_axolotl_shares_where_it_asks_for_a_version_of_fsdp(tmp_path: Path) -> None:
    path = tmp_path / "run.yml"
    text = (
        "base_model: Qwen/Qwen2.5-7B\nsequence_len: 2048\nmicro_batch_size: 1\nbf16: true\n"
        "gradient_accumulation_steps: 4\n"
    )
    path.write_text(text + "fsdp_version: 2\nfsdp_config:\n  offload_params: false\n")
    assert read_configuration(path).value("zero_stage") == 3
    path.write_text(text)
    assert read_configuration(path).value("zero_stage") == 0
