"""`steptime explain`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from steptime.cli.main import run

FILES = Path(__file__).parents[1] / "readers" / "launch"


def explain(capsys: pytest.CaptureFixture[str], name: str, *arguments: str) -> dict[str, object]:
    assert run(["explain", str(FILES / name), "-a", "h100", "--json", *arguments]) == 0
    told = json.loads(capsys.readouterr().out)
    assert isinstance(told, dict)
    return told


def test_a_script_is_explained_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    told = explain(capsys, "llama70b.sh")
    assert told["kind"] == "megatron"
    assert told["num_gpus"] == 512
    parts, memory = told["breakdown_s"], told["memory_bytes"]
    assert isinstance(parts, dict)
    assert isinstance(memory, dict)
    assert sum(parts.values()) == pytest.approx(told["step_time_s"])
    assert sum(memory.values()) == pytest.approx(told["memory_total_bytes"])
    assert told["suggested_step_time_s"] <= told["step_time_s"]  # type: ignore[operator]
    assert 0.0 <= told["gain_fraction"] < 0.6  # type: ignore[operator]


def test_the_table_says_what_was_understood(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", str(FILES / "llama70b.sh"), "-a", "h100"]) == 0
    out = capsys.readouterr().out
    for text in (
        "line 38",
        "assumed",
        "a step (roofline model)",
        "where it goes",
        "GB on pipeline rank",
    ):
        assert text in out


def test_a_script_takes_its_arguments_behind_two_dashes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its own comment says how it is run: positional.sh 13B 4 2 4096."""
    told = explain(capsys, "../cases/positional.sh", "--", "13B", "4", "2", "4096")
    understood = told["understood"]
    assert isinstance(understood, dict)
    sizes = {name: understood[name]["value"] for name in ("tp", "pp", "seq_length")}
    assert sizes == {"tp": 4, "pp": 2, "seq_length": 4096}


def test_a_files_software_is_the_one_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(capsys, "llama70b.sh")["software"] == "megatron-core"
    assert explain(capsys, "llama70b.sh", "--stack", "megatron-2023")["software"] == "megatron-2023"


def test_a_file_may_shard_what_its_family_then_did_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.sh"
    sharded = "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params"
    text = (FILES / "llama70b.sh").read_text().replace("--use-distributed-optimizer", sharded)
    script.write_text(text)
    words = ["explain", str(script), "-a", "a100", "--json"]
    assert run(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["understood"]["zero_stage"]["value"] == 3
    # Who names software that cannot is told so.
    assert run([*words, "--stack", "megatron-2023"]) == 2
    assert "has no such sharding" in capsys.readouterr().err


def test_gaps_can_be_filled(capsys: pytest.CaptureFixture[str]) -> None:
    told = explain(capsys, "gpt175b.args", "--gpus", "1024")
    assert told["num_gpus"] == 1024
    told = explain(capsys, "llama405b.toml", "--gpus", "256", "-B", "512")
    assert told["model"] == "Llama 3 405B"
    told = explain(capsys, "deepseek.yaml", "--set", "TP=1")
    assert told["num_gpus"] == 1024


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gpt175b.args"], "does not give num_gpus"),
        (["gpt175b.args", "--gpus", "100"], "100 GPUs cannot be cut"),
        (["deepseek.yaml", "--set", "TP"], "--set needs NAME=VALUE, got 'TP'"),
        (["deepseek.yaml", "--set", "TP=3"], "1024 GPUs cannot be cut"),
        (["nothing.sh"], "No such file"),
        (["llama70b.sh", "--set", "foo=1"], "--set foo: "),
        (["llama70b.sh", "--set", "NNODE=2"], "did you mean 'NNODES'?"),
        (["llama70b.sh", "--set", "vocab_sise=2"], "did you mean 'vocab_size'?"),
        (["llama70b.sh", "--set", "NNODES="], "--set NNODES= is empty"),
        (["llama70b.sh", "--set", "vocab_size=1e9"], "must be a whole number, got '1e9'"),
        (["llama70b.sh", "--set", "vocab_size=1000000000"], "got 1000000000"),
        (["llama70b.sh", "--set", "vocab_size=0"], "steptime: command line: --set vocab_size"),
        (["llama405b.toml", "--set", "foo=1"], "llama405b.toml has no such name"),
    ],
)
def test_refusals(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    path, *more = arguments
    assert run(["explain", str(FILES / path), "-a", "h100", *more]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1


def test_what_the_user_sets_has_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    name = str(FILES / "llama70b.sh")
    assert run(["explain", name, "-a", "h100", "--set", "vocab_size=128256"]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if "--set vocab_size" in line)
    assert "command line" in row
    told = explain(capsys, "llama70b.sh", "--set", "vocab_size=128256", "--set", "tp=4")
    understood = told["understood"]
    assert isinstance(understood, dict)
    assert understood["vocab_size"] == {
        "value": 128256,
        "line": 0,
        "written": "--set vocab_size",
    }
    assert understood["tp"]["value"] == 4


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "titan.toml",
            "[training]\nseq_len = 4096\n[parallelism]\ntensor_parallel_degree = 2\n",
            "the file names none, with model.name and model.flavor; name it with --model",
        ),
        (
            "titan.toml",
            '[model]\nname = "x"\nflavor = "9b"\n[training]\nseq_len = 4096\n',
            "no shape is known for model.name x 9b; name it with --model",
        ),
        (
            "nemo.yaml",
            "model:\n  micro_batch_size: 1\n  num_layers: 32\n  hidden_size: 4096\n"
            "  num_attention_heads: 32\n",
            "nemo.yaml does not give vocab_size (the tokenizer alone does not tell): "
            "add --set vocab_size=VALUE, or name the model with --model",
        ),
        ("nemo.yaml", "model:\n  micro_batch_size: 1\n", "the file does not give its sizes"),
    ],
)
def test_a_model_that_is_missing_is_asked_for(
    name: str, text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert run(["explain", str(path), "-a", "h100"]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1


def test_a_position_table_left_out_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (FILES / "gpt175b.args").read_text()
    path = tmp_path / "gpt.args"
    path.write_text(
        "\n".join(re.sub(r"--max-position\S+ \S+", "", row) for row in text.split("\n"))
    )
    assert "--max-position" not in path.read_text() != text
    assert run(["explain", str(path), "-a", "h100", "--gpus", "1024", "--json"]) == 0
    assumed = json.loads(capsys.readouterr().out)["assumed"]["position table"]
    assert assumed["value"] == 0
    assert "max_position_embeddings is not given" in assumed["why"]


def test_a_model_file_is_sent_to_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads((FILES.parent / "hub_configs.json").read_text())
    path = tmp_path / "config.json"
    path.write_text(json.dumps(rows[0]["config"]))
    assert run(["explain", str(path), "-a", "h100"]) == 2
    assert "describes a model, not a run" in capsys.readouterr().err


def test_a_measured_rate_stands_beside_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    told = explain(capsys, "llama70b.sh", "--measured", "100")
    beside = told["measured"]
    assert isinstance(beside, dict)
    assert beside["inside_interval"] is False
    assert beside["measured_step_time_s"] > told["step_time_s"]  # type: ignore[operator]
    left = [abs(1.0 - one["gap_fraction"]) for one in beside["causes"]]
    assert left
    assert beside["change"] == beside["causes"][0]["flag"]
    arguments = ["explain", str(FILES / "llama70b.sh"), "-a", "h100", "--measured", "100"]
    assert run(arguments) == 0
    out = " ".join(capsys.readouterr().out.split())
    for text in (
        "outside the interval",
        "the gap could be",
        "beyond the model: ",
        "change first: ",
    ):
        assert text in out


def test_what_is_no_measurement_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["explain", str(FILES / "llama70b.sh"), "-a", "h100", "--measured", "fast"]
    assert run(arguments) == 2
    assert "--measured 'fast' is not understood" in capsys.readouterr().err


def test_the_table_has_facts_and_what_the_command_line_gives(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["explain", str(FILES / "llama70b.sh"), "-a", "h100", "-B", "1024"]
    assert run(arguments) == 0
    out = capsys.readouterr().out
    assert re.search(r"global_batch_size\s*│\s*1024 │ command line", out)
    assert re.search(r"fact overlap_dp\s*│", out)


def test_a_file_may_cut_the_experts_that_its_model_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The software makes the groups and uses them for nothing; what is left open is still told."""
    path, told = tmp_path / "run.sh", []
    words = (
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
        "--num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 --global-batch-size 64 "
        "--vocab-size 32000 --bf16 --swiglu --tensor-model-parallel-size 4"
    )
    cuts = " --expert-tensor-parallel-size 2"
    for more, model in (("", []), (cuts, []), (cuts, ["--model", "llama3-8b"])):
        path.write_text(words + more + "\n")
        assert run(["explain", str(path), "-a", "h100", *model, "--json"]) == 0
        told.append(json.loads(capsys.readouterr().out))
    plain, cut, named = told
    note = "--expert-tensor-parallel-size does nothing without experts"
    assert sorted(cut["notes"]) == sorted([*plain["notes"], note])
    assert plain["unstated"]
    for name in ("layout", "step_time_s", "breakdown_s", "assumed", "unstated", "suggestion"):
        assert cut[name] == plain[name], name
    assert note in named["notes"]
    assert named["unstated"]


def test_a_file_that_asks_for_32_bits_has_no_16_bit_time_as_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An A100 multiplies 19.5 TFLOP/s in 32 bits, 312 in 16 (nvidia2021a100): 16 times slower."""
    path = tmp_path / "wide.sh"
    path.write_text(
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 "
        "--num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 "
        "--micro-batch-size 1 --global-batch-size 64 --vocab-size 51200\n"
    )
    assert run(["explain", str(path), "-a", "a100", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["asks_32_bits"]
    compute = told["breakdown_s"]["compute"]
    slower = told["step_time_32_bits_s"] - told["step_time_s"]
    assert slower == pytest.approx(15.0 * compute, rel=1e-6)
    taken = {one["what"]: one for one in told["assumptions"]}
    assert taken["precision"]["value"] == "bf16"
    assert run(["explain", str(path), "-a", "a100"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "a step in bf16" in out
    assert "the file asks for 32 bits, time and memory here are those of bf16" in out
    path.write_text(path.read_text().replace("--micro", "--bf16 --micro"))
    assert run(["explain", str(path), "-a", "a100", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["step_time_s"] == pytest.approx(told["step_time_s"])
    assert not again["asks_32_bits"]
    assert again["step_time_32_bits_s"] is None
