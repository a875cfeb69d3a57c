"""The header of a batch system, and what a user sets in its place."""

from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import read_configuration

_HEADED = """#!/bin/bash
#SBATCH --nodes=8
#SBATCH --gpus-per-node=8
GBS=$((16*SLURM_JOB_NUM_NODES))
srun python pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 \\
  --seq-length 4096 --max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size $GBS \\
  --bf16 --vocab-size 32000
"""


@pytest.mark.parametrize(("given", "nodes"), [({}, 8), ({"SLURM_JOB_NUM_NODES": "16"}, 16)])
def test_nodes_of_a_header_and_of_its_variable_are_one_number(
    given: dict[str, str], nodes: int, tmp_path: Path
) -> None:
    path = tmp_path / "run.sh"
    path.write_text(_HEADED)
    reading = read_configuration(path, given)
    assert reading.value("num_gpus") == 8 * nodes
    assert reading.value("global_batch_size") == 16 * nodes


def test_two_values_for_the_nodes_of_a_header_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text(_HEADED + "echo $SLURM_NNODES\n")
    with pytest.raises(ConfigError, match="are one number; make them agree"):
        read_configuration(path, {"SLURM_JOB_NUM_NODES": "16", "SLURM_NNODES": "8"})
