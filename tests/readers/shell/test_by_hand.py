"""Scripts whose values the shell itself, or a count by hand, tells; and what is not in them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import read_configuration
from steptime.readers.completed import completed

SHAPE = "--num-layers 12 --hidden-size 64 --num-attention-heads 4 --vocab-size 1000"

# Each sets A; the shell's own answer is the one wanted.
SCRIPTS = (
    "A=$((1 + 2))",
    "A=$((9 - 2 - 3))",
    "A=$((2 * 3 * 4))",
    "A=$((40 / 2 / 3))",
    "A=$((17 % 6))",
    "A=$((-7 / 2 + 10))",
    "A=$((-7 % 4 + 10))",
    "A=$((-(2) + 5))",
    "A=$((+3))",
    "A=$(((1 + 2) * (3 + 4)))",
    "B=4; A=$((B * 2))",
    "B=4; A=$(($B * 2 + 1))",
    "B=4; A=${B}5",
    "B=4; A=${B:-9}",
    "B=; A=${B:-9}",
    "A=${NONE:-7}",
    "A=${NONE-6}",
    "B=4; A=${B:+3}",
    "A=${NONE:=8}; A=$((NONE + 1))",
    "A=`expr 3 + 4`",
    "A=$(expr 3 \\* 4)",
    "A='5'",
    "A='5''6'",
    "A=''7''",
    "A=''7'8'",
    'A="5"7',
    "A=\\5",
    'B=3; A="${B}1"',
    "A=`expr 3 + 4`5",
    "case x in x) A=4 ;;\ny) A=5 ;;\nesac",
    "A=1\ncase z in x) A=4 ;;\nesac",
    "A=1\ncase y in x) A=4 ;;\n*) A=6 ;;\nesac",
    "A=1\nif true; then A=2; fi\nA=3",
    "for B in 7; do A=$B; done",
    *(
        f"A=1\nif [ {left} {how} 3 ]; then A=2; fi"
        for how in ("-eq", "-ne", "-gt", "-lt", "-ge", "-le")
        for left in (2, 3, 4)
    ),
    "A=$((-7 / -2))",
    "A=$((7 / -2 + 10))",
    "A=$((7 % -4))",
)


# --- published: what the shell says


@pytest.mark.skipif(shutil.which("bash") is None, reason="asks bash")
@pytest.mark.parametrize("script", SCRIPTS)
def test_values_are_what_the_shell_makes_of_them(script: str, tmp_path: Path) -> None:
    told = subprocess.run(
        ["bash", "-c", f"{script}; echo $A"], capture_output=True, text=True, check=True
    ).stdout.strip()
    path = tmp_path / "run.sh"
    path.write_text(f"{script.replace('; ', chr(10))}\ntorchrun t.py {SHAPE} --seq-length $A\n")
    fact = read_configuration(path).facts["seq_length"]
    assert str(fact.value) == told


# --- by hand: Megatron-LM's arguments


def test_a_dollar_that_names_nothing_is_itself(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text(f"torchrun t.py {SHAPE} --seq-length 4096 --wandb-exp-name a$.b$\n")
    model = read_configuration(path).model
    assert model is not None
    assert model.name == "a$.b$"


@pytest.mark.parametrize(
    ("more", "window", "windowed"),
    [
        ("", 0, 0),
        ("--window-size '(0,0)'", 0, 0),
        # 127 tokens before, and the token itself; all 12 layers, or all but each fourth.
        ("--window-size 127,0", 128, 12),
        ("--window-size '(127,0)' --window-attn-skip-freq 4", 128, 9),
    ],
)
def test_windows_by_hand(more: str, window: int, windowed: int, tmp_path: Path) -> None:
    path = tmp_path / "run.args"
    path.write_text(f"{SHAPE} --seq-length 4096 {more}\n")
    model = read_configuration(path).model
    assert model is not None
    assert (model.window_size, model.windowed_layers) == (window, windowed)


def test_a_command_that_another_shell_is_given_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    for shell in ("bash", "/bin/bash", "sh"):
        path.write_text(f'{shell} -c "torchrun t.py {SHAPE} --seq-length 512"\n')
        assert read_configuration(path).facts["seq_length"].value == 512


@pytest.mark.parametrize(
    ("word", "stage"),
    [("no_shard", 0), ("optim", 1), ("optim_grads", 2), ("optim_grads_params", 3)],
)
def test_what_is_sharded_is_the_stage_of_its_name(word: str, stage: int, tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    more = (
        f"--use-megatron-fsdp --use-distributed-optimizer --data-parallel-sharding-strategy {word}"
    )
    path.write_text(f"torchrun pretrain_gpt.py {SHAPE} --seq-length 512 {more}\n")
    assert read_configuration(path).facts["zero_stage"].value == stage


def test_keys_of_toml_have_an_end(tmp_path: Path) -> None:
    for parts, refused in ((61, False), (62, True)):
        path = tmp_path / "run.toml"
        path.write_text(".".join("a" * parts) + " = 1\n")
        with pytest.raises(ConfigError) as told:
            read_configuration(path)
        assert ("a key of over 60 parts" in str(told.value)) == refused


@pytest.mark.parametrize(
    ("more", "ffn"),
    [
        # 4 x 64; with the gate two thirds of it, 170.7, down to a multiple of 64.
        ("", 256),
        ("--swiglu", 128),
        ("--ffn-hidden-size 100", 100),
    ],
)
def test_the_width_of_the_network_by_hand(more: str, ffn: int, tmp_path: Path) -> None:
    path = tmp_path / "run.args"
    path.write_text(f"{SHAPE} --seq-length 4096 {more}\n")
    model = read_configuration(path).model
    assert model is not None
    # 1000 rows up to 8 x 128.
    assert (model.ffn_hidden_size, model.vocab_size) == (ffn, 1024)


def test_chunks_from_the_layers_of_one(tmp_path: Path) -> None:
    # 12 layers over 2 stages are 6 a stage: three chunks of 2, two of 3, or one of 6.
    path = tmp_path / "run.args"
    stages = f"{SHAPE} --seq-length 64 --pipeline-model-parallel-size 2 --global-batch-size 8"
    stages += " --micro-batch-size 1"
    for layers, chunks in ((2, 3), (3, 2), (6, 1)):
        path.write_text(f"{stages} --num-layers-per-virtual-pipeline-stage {layers}\n")
        layout, _ = completed(read_configuration(path), {"num_gpus": 2})
        assert (layout.pp, layout.vpp) == (2, chunks)
