"""What a script's launchers and its several trainings amount to; all written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import Reading, read_configuration

SIZES = (
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
    "--max-position-embeddings 4096 --vocab-size 32000 --micro-batch-size 1 "
    "--global-batch-size 256 --bf16"
)


def reading(folder: Path, script: str, *arguments: str, **given: str) -> Reading:
    path = folder / "run.sh"
    path.write_text(f"SIZES='{SIZES}'\n{script}")
    return read_configuration(path, given, arguments)


@pytest.mark.parametrize(
    ("script", "nodes"),
    [
        ("srun -N 2 --gpus-per-node=8 bash -c 'train.py $SIZES'\n", 2),
        (
            "srun --nodes=3 bash -lc 'torchrun --nproc_per_node=8 --nnodes=$SLURM_NNODES t.py '"
            '"$SIZES"\n',
            3,
        ),
        ("srun -N4 --gpus-per-node=h100:8 train.py $SIZES\n", 4),
        (
            "#SBATCH --nodes=4\nN=$(scontrol show hostnames $SLURM_JOB_NODELIST | wc -l)\n"
            "torchrun --nproc_per_node 8 --nnodes $N t.py $SIZES\n",
            4,
        ),
        (
            "#SBATCH -N 5\nH=($(scontrol show hostnames $SLURM_NODELIST))\n"
            'torchrun --nproc_per_node 8 --nnodes ${#H[@]} --host "${H[0]}" t.py $SIZES\n',
            5,
        ),
    ],
)
def test_nodes_of_a_batch_system(script: str, nodes: int, tmp_path: Path) -> None:
    found = reading(tmp_path, script)
    assert (found.value("num_nodes"), found.value("num_gpus")) == (nodes, 8 * nodes)


def test_hosts_of_a_job_of_unknown_size_are_not_counted(tmp_path: Path) -> None:
    script = (
        "H=($(scontrol show hostnames $X))\n"
        "torchrun --nproc_per_node 8 --nnodes ${#H[@]} t.py $SIZES\n"
    )
    assert any(one.startswith("num_gpus") for one in reading(tmp_path, script).missing)


def test_two_trainings_are_told_and_the_devices_are_of_the_one_that_is_read(tmp_path: Path) -> None:
    script = (
        "torchrun --nproc_per_node 8 --nnodes 2 t.py $SIZES "
        "--swiglu --tensor-model-parallel-size 4\n"
        "torchrun --nproc_per_node 4 --nnodes 1 t.py $SIZES\n"
    )
    found = reading(tmp_path, script)
    assert (found.value("tp"), found.value("num_gpus")) == (4, 16)
    assert found.notes[0].startswith("MORE THAN ONE TRAINING: line 2 is read, and not what line 3")


def test_a_function_that_launches_twice_is_told(tmp_path: Path) -> None:
    go = "go() {\n torchrun --nproc_per_node 8 t.py $SIZES --tensor-model-parallel-size $1\n}\n"
    twice = reading(tmp_path, f"{go}go 2\ngo 4\n")
    assert twice.value("tp") == 4
    assert "line 3 is read, and not what it starts at other times" in twice.notes[0]
    assert not reading(tmp_path, f"{go}go 2\n").notes
    # What it does again changes nothing.
    assert not reading(tmp_path, f"{go}go 2\ngo 2 again\n").notes


def test_ranks_of_one_training_are_no_other(tmp_path: Path) -> None:
    script = "".join(
        f"torchrun --nproc_per_node 8 --node_rank {one} t.py $SIZES &\n" for one in (1, 0)
    )
    assert not reading(tmp_path, script).notes


def test_flags_behind_a_comment_are_not_used(tmp_path: Path) -> None:
    script = (
        "torchrun --nproc_per_node 8 t.py $SIZES \\\n  # --tensor-model-parallel-size 4 \\\n"
        "  --tensor-model-parallel-size 2\n"
    )
    found = reading(tmp_path, script)
    assert found.value("tp", 1) == 1
    assert found.notes[0].startswith("line 3: a comment ends the command there")


def test_words_of_an_array_in_quotes_are_no_text_for_an_inner_shell(tmp_path: Path) -> None:
    script = (
        'A=(--swiglu --tensor-model-parallel-size 2)\nbash -c "train.py $SIZES ${A[@]} --bf16"\n'
    )
    found = reading(tmp_path, script)
    assert found.value("tp", 1) == 1
    assert any("the text for the inner shell ends" in note for note in found.notes)


def test_arguments_that_a_script_reads_in_a_loop(tmp_path: Path) -> None:
    script = (
        "TP=1\nwhile [[ $# -gt 0 ]]; do\n  case $1 in\n    --tp) TP=$2; shift 2;;\n"
        "    *) echo unknown; exit 1;;\n  esac\ndone\n"
        "torchrun --nproc_per_node 8 t.py $SIZES --tensor-model-parallel-size $TP\n"
    )
    assert reading(tmp_path, script, "--tp", "4").value("tp") == 4
    alone = reading(tmp_path, script)
    assert alone.value("tp") == 1
    assert alone.notes == ["line 3: a loop reads the script's arguments; none are given"]
    with pytest.raises(ConfigError, match=r"run\.sh:6: with the arguments given the script stops"):
        reading(tmp_path, script, "--pp", "4")


def test_a_script_whose_only_training_is_never_reached_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"line 2: go\(\) is never called"):
        reading(
            tmp_path, "go() {\n torchrun t.py --num-layers 32 --hidden-size 8 --swiglu\n}\nSIZES=\n"
        )
