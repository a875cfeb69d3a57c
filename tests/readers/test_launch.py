"""Layouts and batches from launch files: scripts, argument files, YAML and TOML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Batch, Layout
from steptime.readers import completed, read_configuration

FILES = Path(__file__).parent / "launch"


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


# --- published: the shapes and layouts that these files write down


def test_a_launch_script_is_followed_through_its_variables() -> None:
    reading = read_configuration(FILES / "llama70b.sh")
    layout, batch = completed(reading, {})
    assert layout == Layout(
        tp=8,
        pp=8,
        vpp=2,
        dp=8,
        sequence_parallel=True,
        zero_stage=1,
        recompute="selective",
        schedule="interleaved-1f1b",
    )
    assert batch == Batch(global_batch_size=1024, seq_length=8192)
    assert reading.model is not None
    assert (reading.model.ffn_hidden_size, reading.model.num_query_groups) == (28672, 8)
    # The paper's 128,256 entries up to a multiple of 128 x 8, as Megatron-LM pads.
    assert reading.model.vocab_size == 129_024
    assert reading.facts["global_batch_size"].line == 38
    assert reading.missing == []


def test_what_the_launcher_sets_wins_over_defaults() -> None:
    settings = {"SLURM_NNODES": "16", "PP": "4", "vocab_size": "1000"}
    reading = read_configuration(FILES / "llama70b.sh", settings)
    layout, _ = completed(reading, {})
    assert (layout.pp, layout.vpp, layout.dp) == (4, 4, 4)
    assert reading.model is not None
    assert reading.model.vocab_size == 1024
    with pytest.raises(ConfigError, match=r"36: 5 layers per virtual stage .* num_layers = 32"):
        read_configuration(FILES / "llama70b.sh", {"SIZE": "8b"})


def test_an_argument_file_needs_the_number_of_gpus() -> None:
    reading = read_configuration(FILES / "gpt175b.args")
    assert [text.split(":")[0] for text in reading.missing] == ["num_gpus"]
    with pytest.raises(ConfigError, match="does not give num_gpus"):
        completed(reading, {})
    layout, _ = completed(reading, {"num_gpus": 1024})
    assert (layout.dp, layout.recompute, layout.precision) == (8, "full", "fp16")
    assert reading.model is not None
    # narayanan2021, Sec. 5: V = 51,200; here 50,257 padded for t = 8.
    assert reading.model.vocab_size == 51200
    assert reading.model.learned_positions == 2048
    with pytest.raises(ConfigError, match=r"1000 GPUs cannot be cut .* 128; the nearest number is"):
        completed(reading, {"num_gpus": 1000})


def test_a_yaml_file_with_interpolations() -> None:
    reading = read_configuration(FILES / "deepseek.yaml", {"TP": "2"})
    layout, batch = completed(reading, {})
    assert (layout.tp, layout.pp, layout.vpp, layout.dp, layout.ep, layout.etp) == (
        2,
        8,
        2,
        64,
        64,
        1,
    )
    # Only the modules that recompute_modules names are: attention's core is not among them.
    assert (layout.zero_stage, layout.recompute, layout.precision) == (1, "none", "fp8")
    stated = {one.name: one.value for one in reading.software_facts}
    assert stated["recompute_up_projection"] == 1.0
    assert batch == Batch(global_batch_size=8192, seq_length=4096)
    model = reading.model
    assert model is not None
    assert model.experts is not None
    assert model.latent_attention is not None
    assert model.experts.num_dense_layers == 3
    assert model.experts.num_shared_experts == 1
    assert model.latent_attention.kv_lora_rank == 512


def test_an_unset_interpolation_is_asked_for() -> None:
    reading = read_configuration(FILES / "deepseek.yaml")
    assert reading.missing == ["tp: model.tensor_model_parallel_size = '${TP}' on line 3"]
    layout, _ = completed(reading, {"tp": 4})
    assert (layout.tp, layout.dp) == (4, 32)


def test_a_toml_file_with_a_named_model() -> None:
    reading = read_configuration(FILES / "llama405b.toml")
    assert reading.model is not None
    assert reading.model.num_layers == 126
    layout, batch = completed(reading, {"num_gpus": 256})
    assert layout == Layout(
        tp=8,
        pp=4,
        vpp=2,
        dp=8,
        sequence_parallel=True,
        # Beside a pipeline, weights that were fetched stay: torchtitan's default.
        zero_stage=2,
        recompute="full",
        precision="fp8",
        schedule="interleaved-1f1b",
    )
    assert batch == Batch(global_batch_size=16, seq_length=8192)


# --- limit


def test_a_later_flag_wins_as_on_a_command_line(tmp_path: Path) -> None:
    text = "python pretrain_gpt.py --num-layers 2 --micro-batch-size 1 \\\n --micro-batch-size 4\n"
    reading = read_configuration(write(tmp_path, "run.sh", text))
    assert reading.value("micro_batch_size") == 4


def test_nothing_is_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    loop = f"for i in 1 2; do touch {trace}; done"
    text = f"touch {trace}\nX=$(touch {trace})\n`touch {trace}`\n{loop}\ntrain.py --num-layers $X\n"
    read_configuration(write(tmp_path, "run.sh", text))
    assert not trace.exists()


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("A=$((2 * (3 + 1) - 7 / 2))", 5),
        ("B=3; A=$(( ${B}*2 ))", 6),
        ("B=3; A=$((B<4))", 1),
        ("B=3; A=$(( ($B > 4) ? 1 : 6 ))", 6),
        ("A=`expr 2 \\* 4`", 8),
        ("A=${NOPE:-7}", 7),
        ("A=${NOPE:=9}", 9),
        ("A=$NOPE", None),
        ("A=$(nproc)", None),
        ('A=""; A+=1; A+="2"', 12),
        ("export A=4 B=5", 4),
        ("A=1; if [[ $A == 1 && -n x ]]; then A=2; fi", 2),
        ("A=1; [ $A -eq 1 ] && A=3", 3),
        ("A=1; [ $A -eq 2 ] || A=4", 4),
        ("A=1; while true; do A=2; done", 1),
        ("for A in 6 7; do :; done", 7),
        ("case x in y) A=1 ;; *) A=8 ;; esac", 8),
        ("cat <<EOT\nA=1 )\nEOT\nA=5", 5),
        ("A=1 # A=2", 1),
    ],
)
def test_shell_values(script: str, expected: int | None, tmp_path: Path) -> None:
    text = f"{script}\ntrain.py --num-layers $A --hidden-size 64\n"
    assert read_configuration(write(tmp_path, "run.sh", text)).value("num_layers") == expected


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("model:\n    num_layers: 0x\n    hidden_size: 64\n", None),
        ("a:\n- tp: 4\n  pp: 2\n", {"tp": 4, "pp": 2}),
        ("tp: 4\npp: 2 # two\n", {"tp": 4, "pp": 2}),
        ('"tp": "4"\n', {"tp": 4}),
        ("tp: &t 4\npp: *t\n", {"tp": 4, "pp": 4}),
        ("x:\n- a\n-  - b\n   - tp: 3\ny:\n  - tp: 3\npp: 2\n", {"tp": 3, "pp": 2}),
        ("x: {a: [1, 2]}\ntp: 8\n", {"tp": 8}),
        ("MODEL_ARGS:\n  --num-layers: 12\n  --context-parallel-size: 2\n", {"cp": 2}),
        ("---\ntp: 2\n---\ntp: 4\n", {"tp": 2}),
    ],
)
def test_yaml_forms(text: str, facts: dict[str, Any] | None, tmp_path: Path) -> None:
    path = write(tmp_path, "conf.yaml", text)
    if facts is None:
        with pytest.raises(ConfigError, match=r"conf.yaml:2: model.num_layers must be a whole"):
            read_configuration(path)
        return
    reading = read_configuration(path)
    assert {name: reading.value(name) for name in facts} == facts


# --- refusal


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.sh", "echo hello\n", "no command whose arguments are known here.*; read are: Primus"),
        ("a.sh", "train.py --num-layers 'x\n", r"a.sh:1: ' is never closed"),
        ("a.sh", "A=(\n--x\n", r"a.sh:1: A=\( is never closed"),
        ("a.sh", "t.py --num-layers twelve", r"a.sh:1: --num-layers must be a whole number, got"),
        ("a.sh", "t.py --num-layers 0 \\\n--x", r"a.sh:1: --num-layers must be >= 1, got 0"),
        (
            "a.sh",
            "t.py --num-layers 80\\\n --pipeline-model-parallel-size 8\\\n"
            " --num-layers-per-virtual-pipeline-stage 4",
            r"a.sh:3: 4 layers per virtual stage x pp = 8 do not divide num_layers = 80",
        ),
        (
            "a.sh",
            "t.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 --vocab-size 9 "
            "--num-experts 4 --moe-layer-freq '[0]*1+[1]*2'",
            r"a.sh:1: --moe-layer-freq = .* covers 3 layers, but num_layers = 4",
        ),
        ("a.sh", "t.py --num-layers 4 --zero-stage 7", r"a.sh:1: zero_stage must be <= 3, got 7"),
        ("a.yaml", "tp: 4\nx:\n  tp: 8\n", r"a.yaml:3: x.tp = 8, but line 1 gives tp = 4"),
        ("a.yaml", "tp: 4\n\tpp: 2\n", r"a.yaml:2: not valid YAML: found a tab"),
        ("a.yaml", "just text\n", r"a.yaml:1: expected 'key: value', got 'just text'"),
        ("a.yaml", "x: [1,\n2\n", r"not valid YAML: .*flow sequence from line 1"),
        ("a.yaml", "tp: *nothing\n", r"a.yaml:1: alias '\*nothing' names no single value"),
        ("a.yaml", "lr: 1\n", r"a.yaml is of no format that is known.*steptime predict --model"),
        ("a.toml", "[tool]\nx = 1\n", "a.toml is of no format that is known here; read are: "),
        ("a.toml", "[parallelism\n", "not valid TOML"),
        (
            "a.toml",
            '[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_schedule = "Magic"\n',
            r"a.toml:3: .*pipeline_parallel_schedule = 'Magic' is not understood; known: 1f1b",
        ),
        (
            "a.toml",
            '[training]\nseq_len = 8\n[activation_checkpoint]\nmode = "some"\n',
            r"a.toml:4: activation_checkpoint.mode = 'some' is not understood; known: full, none",
        ),
        ("a.toml", "[parallelism]\ntensor_parallel_degree = -4\n", r"a.toml:2: .* must be >= 1"),
        ("a.json", "{", r"a.json:1: not valid JSON"),
        ("a.json", "[1]", "expected a JSON object, got a list"),
        ("a.sh", "", "is empty"),
    ],
)
def test_bad_file_is_refused_with_its_line(
    name: str, text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=message):
        read_configuration(write(tmp_path, name, text))


def test_a_missing_file_and_a_folder_without_a_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        read_configuration(tmp_path / "none.sh")
    with pytest.raises(ConfigError, match="No such file"):
        read_configuration(tmp_path)


# --- published: NeMo 1.x


def test_an_older_nemo_file() -> None:
    reading = read_configuration(FILES / "nemo1.yaml")
    layout, batch = completed(reading, {})
    assert layout == Layout(
        tp=4, pp=4, dp=8, sequence_parallel=True, zero_stage=1, recompute="selective"
    )
    assert batch == Batch(global_batch_size=256, micro_batch_size=2, seq_length=4096)
    assert reading.model is not None
    assert reading.model.gated
    assert not reading.model.tied
    # 32,000 entries are a multiple of 128 but not of 128 x 4.
    assert reading.model.vocab_size == 32256


def test_a_full_dump_takes_its_precision_from_the_section_that_sets_it() -> None:
    reading = read_configuration(FILES / "bridge_dump.yaml")
    layout, _ = completed(reading, {"num_gpus": 32})
    assert (layout.precision, layout.zero_stage, layout.ep, layout.dp) == ("fp8", 1, 8, 8)
    assert reading.model is not None
    assert reading.model.experts is not None
    assert reading.model.experts.num_dense_layers == 1
    assert reading.model.vocab_size == 1001


def test_experts_are_cut_as_megatron_lm_cuts_them_where_a_script_does_not_say(
    tmp_path: Path,
) -> None:
    words = "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --ffn-hidden-size 14336 "
    words += "--seq-length 4096 --micro-batch-size 1 --global-batch-size 64 --bf16 --swiglu "
    words += "--tensor-model-parallel-size 8 --num-experts 8 --moe-router-topk 2 "
    words += "--vocab-size 32000 --world-size 32 --overlap-grad-reduce --frobnicate 3"
    (tmp_path / "moe.args").write_text(words, encoding="utf-8")
    reading = read_configuration(tmp_path / "moe.args")
    layout, _ = completed(reading, {})
    assert (layout.tp, layout.ep, layout.etp) == (8, 1, 8)
    # What changes nothing in the answer is told, so that nobody believes it counted.
    stated = {one.name: one.value for one in reading.software_facts}
    assert stated["overlap_dp"] == 1.0
    assert reading.notes[-1] == "not used: --frobnicate"
