"""Options that count for nothing, and faults of what is stated, each with the way out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import steptime
from steptime.cli.main import run
from steptime.inputs.errors import ConfigError

STEP = ("-m", "llama3-8b", "-a", "h100", "-s", "4096", "-B", "64")
PLAN = """
models = ["llama3-8b"]
accelerators = ["h100"]
gpus = [8]
global_batch_sizes = [64]
seq_lengths = [4096]
"""
ROW = (
    "id,model,gpu,gpus,tp,pp,dp,gbs,seq_len,zero,recompute,precision,step_time_s,attention_kernel\n"
)
SCRIPT = (
    "torchrun --nnodes 1 --nproc_per_node 8 pretrain_gpt.py "
    "--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 "
    "--num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 --swiglu "
    "--micro-batch-size 1 --global-batch-size 64 --vocab-size 128256 --bf16 "
)
LOG = "".join(
    f" iteration {place}/ 100 | elapsed time per iteration (ms): 90000.0 | "
    "global batch size: 64 |\n"
    for place in range(1, 6)
)


# refusal


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("search", *STEP, "-n", "8", "--choice", "3"), "--choice 3 .* give --emit too"),
        (("place", "--tp", "8", "--domain", "4", "-a", "h100"), "both give the domain; leave one"),
        (("search", *STEP, "-n", "8", "--zero", "two"), "--zero: 'two' is not a valid integer"),
        (("predict", *STEP, "--zero", "two"), "'--zero': 'two' is not .*; write digits: 8, or 8k"),
        (("predict", *STEP, "--stack", "deepspeed"), "by a third; state none or full"),
        (("facts", "megatron", "--stack", "nemo"), "megatron and --stack nemo are two stacks"),
    ],
)
def test_what_counts_for_nothing_or_is_no_word_is_one_line(
    words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert re.search(says, told.err)


@pytest.mark.parametrize("key", ["stack", "date", "facts"])
def test_a_plan_names_the_option_for_what_is_said_of_all(
    key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(f'{key} = "megatron"\n{PLAN}', encoding="utf-8")
    assert run(["sweep", str(plan), "--out", str(tmp_path / "out")]) == 2
    flag = "--fact" if key == "facts" else f"--{key}"
    assert f"leave it out and say {flag} with the command" in capsys.readouterr().err


def test_python_refuses_what_is_no_path_and_no_text() -> None:
    with pytest.raises(ConfigError, match="file must be the path of a table of runs, got 5"):
        steptime.validate(5)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="read back from a text of JSON, got None"):
        steptime.Prediction.from_json(None)  # type: ignore[arg-type]


# invariant


def test_an_option_given_again_is_told_and_the_last_counts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["predict", *STEP, "--tp", "8", "--tp=4", "--json"]) == 0
    first = capsys.readouterr()
    assert first.err == "note: --tp is given twice, '8' and '4'; the last one counts\n"
    assert run(["predict", *STEP, "--tp", "4", "--tp", "4", "--json"]) == 0
    assert capsys.readouterr() == (first.out, "")


def test_a_row_that_leaves_something_open_tells_what_is_not_understood(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "own.csv"
    table.write_text(f"{ROW}a,llama3-8b,h100,8,2,1,4,64,4096,1,none,bf16,3.5,flush-7\n")
    assert run(["validate", str(table)]) == 0
    assert "a: attention_kernel: 'flush-7' not understood" in capsys.readouterr().out


def test_a_written_file_names_flags_younger_than_its_month(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["search", *STEP, "-n", "16", "--emit", "megatron", "--stack", "megatron"]
    assert run([*words, "--date", "2023-08"]) == 0
    told = capsys.readouterr()
    # megatronlm2026: --attention-backend came with fa0dcc48.
    assert "note: flags younger than 2023-08: " in told.err
    assert "--attention-backend (2024-12)" in told.err
    assert "# flags younger than 2023-08: " in told.out
    assert run([*words, "--date", "2026-06"]) == 0
    assert "younger" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "fused"),
    # Megatron-LM takes Transformer Engine where a script does not say.
    [
        ("", True),
        ("--transformer-impl local", False),
        ("--transformer-impl transformer_engine", True),
    ],
)
def test_what_a_launch_file_asks_for_is_no_cause(
    more: str, fused: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script, log = tmp_path / "run.sh", tmp_path / "run.log"
    script.write_text(SCRIPT + more + "\n", encoding="utf-8")
    log.write_text(LOG, encoding="utf-8")
    assert run(["explain", str(script), "-a", "h100", "--measured", "9s"]) == 0
    assert ("element-wise operations" in capsys.readouterr().out) != fused
    # It asks for 16 bits by name, so that 32 are no cause in a log either.
    assert run(["trace", str(log), "--launch", str(script), "-a", "h100"]) == 0
    assert "32 bits" not in capsys.readouterr().out
