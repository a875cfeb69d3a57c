"""What a framework stops at before it trains has no answer, and what may stand beside has one."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_files import facts, read

from steptime.inputs.errors import ConfigError
from steptime.readers.keys.formats import formats

SCRIPT = (
    "torchrun --nproc_per_node 8 --nnodes 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
    "--num-attention-heads 32 --vocab-size 32000 --seq-length 4096 --micro-batch-size 1 "
    "--global-batch-size 256 --bf16 --tensor-model-parallel-size 4 {}\n"
)
FSDP = "--use-torch-fsdp2 --no-gradient-accumulation-fusion --untie-embeddings-and-output-weights"

# From the assertions of Megatron-LM's validate_args and core_transformer_config_from_args.
STOPS = {
    f"{FSDP} --pipeline-model-parallel-size 4": "FSDP2 runs no pipeline",
    f"{FSDP} --num-experts 8 --expert-model-parallel-size 4": "FSDP2 runs no expert parallelism",
    f"{FSDP} --use-distributed-optimizer": "FSDP2 shards the optimizer itself",
    "--use-torch-fsdp2 --untie-embeddings-and-output-weights": "add --no-gradient-accumulation",
    "--use-torch-fsdp2 --no-gradient-accumulation-fusion": "FSDP2 does not tie embeddings",
    "--tp-comm-overlap": "add --sequence-parallel",
    "--recompute-granularity selective --recompute-method uniform": "full recomputation alone",
    "--overlap-param-gather --overlap-grad-reduce": "add --use-distributed-optimizer",
    "--overlap-param-gather --use-distributed-optimizer": "add --overlap-grad-reduce",
    "--swiglu --squared-relu": "a network has one activation",
    "--swiglu --quick-geglu": "a network has one activation",
}
RUNS = [
    FSDP,
    "--tp-comm-overlap --sequence-parallel",
    "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1",
    "--overlap-param-gather --overlap-grad-reduce --use-distributed-optimizer",
    "--overlap-param-gather --overlap-grad-reduce --use-megatron-fsdp",
    "--overlap-param-gather --overlap-grad-reduce --optimizer dist_muon",
    "--squared-relu",
    "--quick-geglu",
    # Nobody says that it is off.
]


@pytest.mark.parametrize("words", STOPS)
def test_what_megatron_asserts_against_is_refused_by_its_flag(tmp_path: Path, words: str) -> None:
    with pytest.raises(ConfigError, match=STOPS[words]) as refused:
        read(tmp_path, "train.sh", SCRIPT.format(words))
    assert str(refused.value).startswith(f"{tmp_path}/train.sh:1: ")
    assert "Megatron-LM stops there" in str(refused.value)


@pytest.mark.parametrize("words", RUNS)
def test_what_megatron_runs_is_read(tmp_path: Path, words: str) -> None:
    assert read(tmp_path, "train.sh", SCRIPT.format(words)).model is not None


def test_a_size_that_its_user_sets_counts(tmp_path: Path) -> None:
    text = SCRIPT.format(f"{FSDP} --pipeline-model-parallel-size 4")
    given = {"pipeline_model_parallel_size": "1"}
    assert read(tmp_path, "train.sh", text, **given).value("pp") == 1


TITAN = """
[model]
name = "llama3"
flavor = "8B"
[training]
local_batch_size = 2
seq_len = 8192
[parallelism]
tensor_parallel_degree = 8
enable_async_tensor_parallel = {}
[compile]
enable = {}
"""


def test_torchtitan_has_no_async_tensor_parallelism_without_compiling(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"torchtitan TOML stops there: it is made where the m"):
        read(tmp_path, "train.toml", TITAN.format("true", "false"), num_gpus="64")
    # The loss alone is not the model.
    parts = TITAN.format("true", "true") + 'components = ["loss"]\n'
    with pytest.raises(ConfigError, match=r"model among compile\.components"):
        read(tmp_path, "train.toml", parts, num_gpus="64")
    both = read(tmp_path, "train.toml", TITAN.format("true", "true"), num_gpus="64")
    assert (facts(both)["overlap_tp"], facts(both)["eager"]) == (1.0, 0.0)
    assert facts(read(tmp_path, "a.toml", TITAN.format("false", "false")))["overlap_tp"] == 0.0


def test_every_stop_says_why_and_where_from() -> None:
    stops = [stop for form in formats() for stop in form.stops]
    assert stops
    for stop in stops:
        assert stop.keys() <= {"on", "beside", "without", "why", "source"}
        assert stop["on"]
        assert ("beside" in stop) != ("without" in stop)
        assert stop["source"].partition(",")[0] in ("megatronlm2026", "torchtitan2025")


OFFLOADED = "activations are kept on the host"


@pytest.mark.parametrize("flag", ["--cpu-offloading", "--cpu-offloading-num-layers 4"])
def test_activations_on_the_host_are_refused_by_either_flag(tmp_path: Path, flag: str) -> None:
    with pytest.raises(ConfigError, match=OFFLOADED):
        read(tmp_path, "train.sh", SCRIPT.format(flag))
    # None of the layers is.
    assert read(tmp_path, "train.sh", SCRIPT.format("--cpu-offloading-num-layers 0")).model


def test_nemo_offloads_by_the_switch_alone(tmp_path: Path) -> None:
    text = (
        "model:\n  mcore_gpt: true\n  micro_batch_size: 1\n  global_batch_size: 64\n"
        "  num_layers: 16\n  hidden_size: 2048\n  num_attention_heads: 16\n"
        "  encoder_seq_length: 2048\n  cpu_offloading: {}\n  cpu_offloading_num_layers: 15\n"
    )
    read(tmp_path, "nemo.yaml", text.format("false"))
    with pytest.raises(ConfigError, match=OFFLOADED):
        read(tmp_path, "nemo.yaml", text.format("true"))


@pytest.mark.parametrize(
    "words", ["--normalization Foo", "--transformer-impl foo", "--fp8-format foo"]
)
def test_a_word_that_megatron_does_not_take_is_refused(tmp_path: Path, words: str) -> None:
    flag = words.split()[0]
    with pytest.raises(ConfigError, match=f"{flag} = '{words.split()[1]}' is not understood"):
        read(tmp_path, "train.sh", SCRIPT.format(words))


def test_layers_that_a_function_of_ones_own_builds_are_told(tmp_path: Path) -> None:
    notes = read(tmp_path, "train.sh", SCRIPT.format("--spec mine.layers spec")).notes
    assert any(note.startswith("--spec: layers are taken as") for note in notes)
