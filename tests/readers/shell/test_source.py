"""Scripts that read in other files beside them; all written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.readers import Reading, completed, read_configuration

SIZES = """
# Sizes, and what the caller has set.
ARGS=" ${EXTRA} --tensor-model-parallel-size ${TP} --pipeline-model-parallel-size 2
  --num-layers 16 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 --bf16
  --max-position-embeddings 2048 --vocab-size 32000 --micro-batch-size 1 --global-batch-size ${GBS}"
"""
TRAIN = "srun -N 4 python pretrain_gpt.py ${ARGS}\n"


def script(folder: Path, body: str, files: dict[str, str], **given: str) -> Reading:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    path = folder / "jobs" / "run.sh"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        f"#!/bin/bash\nTP=2\nGBS=64\nEXTRA='--num-layers-per-virtual-pipeline-stage 2'\n{body}"
    )
    return read_configuration(path, given)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (". `pwd`/sizes.sh", "jobs/sizes.sh"),
        ('source "$(dirname "${BASH_SOURCE[0]}")/sizes.sh"', "jobs/sizes.sh"),
        ("source ${OWN_DIR}/conf/sizes.sh", "jobs/conf/sizes.sh"),
        # A program is started from the folder of its project.
        ("source jobs/sizes.sh", "jobs/sizes.sh"),
        ("[ -z x ] || . ./sizes.sh", "jobs/sizes.sh"),
    ],
)
def test_a_file_that_is_read_in_sees_what_its_caller_has_set(
    line: str, place: str, tmp_path: Path
) -> None:
    reading = script(tmp_path, f"{line}\n{TRAIN}", {place: SIZES})
    layout, batch = completed(reading, {"num_gpus": 32})
    assert (layout.tp, layout.pp, layout.vpp, layout.dp) == (2, 2, 4, 8)
    assert batch.global_batch_size == 64
    assert reading.value("num_nodes") == 4


def test_a_command_in_a_file_that_is_read_in_is_one_of_the_script(tmp_path: Path) -> None:
    files = {"jobs/sizes.sh": SIZES, "jobs/submit.sh": "sbatch --nodes=2 own.sh\n" + TRAIN}
    reading = script(tmp_path, ". ./sizes.sh\n. ./submit.sh\n", files, TP="4")
    layout, _ = completed(reading, {"num_gpus": 32})
    assert (layout.tp, layout.dp) == (4, 4)


@pytest.mark.parametrize(
    "line",
    [
        # None of these names a file beside the script.
        "source ${OWN_DIR}/sizes.sh",
        "source /etc/sizes.sh",
        "source ../../sizes.sh",
        "source ~/sizes.sh",
        "source sizes.yaml",
    ],
)
def test_other_files_are_not_read_in(line: str, tmp_path: Path) -> None:
    files = {"sizes.sh": SIZES, "jobs/sizes.yaml": SIZES}
    reading = script(tmp_path, f"{line}\nARGS='--num-layers 4'\n{TRAIN}", files)
    assert reading.model is None
    assert reading.value("global_batch_size") is None


def test_files_that_read_each_other_in_end(tmp_path: Path) -> None:
    files = {"jobs/a.sh": ". ./b.sh\n. ./b.sh\n", "jobs/b.sh": ". ./a.sh\n. ./a.sh\n" + SIZES}
    reading = script(tmp_path, f". ./a.sh\n{TRAIN}", files)
    assert reading.value("num_layers") == 16


def test_a_text_that_a_file_writes_is_its_own(tmp_path: Path) -> None:
    other = "cat <<EOT > own.json\n{}\nEOT\n" + SIZES
    body = (
        f'cat <<EOT > ds.json\n{{"zero_optimization": {{"stage": 1}}}}\nEOT\n. ./sizes.sh\n{TRAIN}'
    )
    reading = script(tmp_path, body, {"jobs/sizes.sh": other})
    assert reading.value("num_layers") == 16
