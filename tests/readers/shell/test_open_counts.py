"""Counts of nodes and devices that are no numbers: asked for by name, never taken for one node."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import read_configuration
from steptime.readers.completed import completed

SIZES = (
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
    "--max-position-embeddings 4096 --vocab-size 32000 --micro-batch-size 1 "
    "--global-batch-size 256 --bf16"
)


def devices(folder: Path, script: str, gpus: int | None = None) -> int:
    """Return the devices of a script that has the sizes in ``$S``."""
    path = folder / "run.sh"
    path.write_text(f"S='{SIZES}'\n{script}\n")
    given = {} if gpus is None else {"num_gpus": gpus}
    return completed(read_configuration(path), given)[0].num_devices


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("NNODES=x torchrun --nproc_per_node 8 --nnodes $NNODES p.py $S", "--nnodes 'x' is not a"),
        ("torchrun --nproc_per_node 8 --nnodes two p.py $S", "--nnodes 'two' is not a number"),
        ("torchrun --nproc_per_node 8 --nnodes= p.py $S", "--nnodes has no number behind it"),
        ("torchrun --nproc_per_node 8 --nnodes 1:4 p.py $S", "--nnodes '1:4' is a range"),
        ("torchrun --nproc-per-node eight --nnodes 2 p.py $S", "-node 'eight' is not a number"),
        ("torchrun --nproc_per_node gpu --nnodes 2 p.py $S", "gpu is as many as a node has"),
        ("torchrun --nproc_per_node auto --nnodes 2 p.py $S", "auto is as many as a node has"),
        ("torchrun --nproc_per_node cpu --nnodes 2 p.py $S", "'cpu' is not a number"),
        ("python -m torch.distributed.run --nproc_per_node 8 --nnodes x p.py $S", "'x' is not a"),
        ("srun -N 2-4 --gpus-per-node=8 p.py $S", "-N '2-4' is a range"),
        ("srun -N2-4 --gpus-per-node=8 p.py $S", "-N '2-4' is a range"),
        ("srun -N 2 -n many p.py $S", "-n 'many' is not a number"),
        ("srun -N 2 --gpus-per-node=h100:all p.py $S", "-per-node 'all' is not a number"),
        ("mpirun -np all p.py $S", "-np 'all' is not a number"),
        ("deepspeed --num_nodes two --num_gpus 8 p.py $S", "--num_nodes 'two' is not a number"),
        ("deepspeed --num_nodes 2 --num_gpus all p.py $S", "--num_gpus 'all' is not a number"),
        ("accelerate launch --num_processes x p.py $S", "--num_processes 'x' is not a number"),
        (
            "accelerate launch --num_processes 16 --num_machines x p.py $S",
            "--num_machines 'x' is not a number",
        ),
    ],
)
def test_a_count_that_is_no_number_is_asked_for(script: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not give num_gpus") as told:
        devices(tmp_path, script)
    assert why in str(told.value)
    assert str(told.value).endswith("add --gpus")
    assert devices(tmp_path, script, gpus=32) == 32


@pytest.mark.parametrize(
    ("script", "gpus"),
    [
        ("torchrun --nproc_per_node 8 --nnodes 3:3 p.py $S", 24),
        ("srun -N 2-2 --gpus-per-node=h100:8 p.py $S", 16),
        # The header counts what the word leaves to the launcher.
        ("#SBATCH --gpus-per-node=4\ntorchrun --nproc_per_node gpu --nnodes 2 p.py $S", 8),
        # Tasks are counted, whatever nodes they get.
        ("srun -N 2-4 -n 16 p.py $S", 16),
        # A task starts the devices of a node.
        ("srun -n 2 torchrun --nproc_per_node 8 p.py $S", 16),
        ("mpirun -np 4 torchrun --nproc_per_node 8 --nnodes 4 p.py $S", 32),
        # To another program the flag means something else.
        ("wget -np http://x\ntorchrun --nproc_per_node 8 --nnodes 2 p.py $S", 16),
    ],
)
def test_counts_that_are_numbers(script: str, gpus: int, tmp_path: Path) -> None:
    assert devices(tmp_path, script) == gpus


def test_a_variable_of_a_program_that_launches_itself_must_be_a_number(tmp_path: Path) -> None:
    script = (
        "export NNODES=x NPROC_PER_NODE=8\nmegatron sft --num_layers 2 --hidden_size 64 "
        "--num_attention_heads 2 --max_length 64 --micro_batch_size 1 --global_batch_size 8"
    )
    path = tmp_path / "run.sh"
    path.write_text(script)
    assert "num_gpus: line 2: NNODES 'x' is not a number" in read_configuration(path).missing
