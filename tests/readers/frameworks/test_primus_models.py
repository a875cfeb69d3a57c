"""Files of Primus that name a model of its own, whose file is read; all written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.formulas.parameters import num_parameters
from steptime.inputs.errors import ConfigError
from steptime.inputs.said import NOTHING_SAID
from steptime.inputs.training_step import device_named
from steptime.planning.explain import explained, step_of
from steptime.readers import Reading, completed, read_configuration

MODELS = "primus/configs/models/megatron"
ROOT = """
num_layers: 24
hidden_size: 1024
swiglu: true
untie_embeddings_and_output_weights: true
add_bias_linear: false
group_query_attention: false
num_experts: null
moe_router_topk: 2
moe_token_drop_policy: probs
tp_comm_bulk_wgrad: true
qk_head_dim: 128
"""
FAMILY = """
extends:
  - root.yaml
group_query_attention: true
num_query_groups: 4
num_experts: 4
moe_router_topk: 1
"""
OWN = """
extends:
  - family.yaml
tokenizer_type: HuggingFaceTokenizer
tokenizer_model: mistralai/Mixtral-8x7B-v0.1
num_layers: 6
hidden_size: 1536
ffn_hidden_size: 4096
num_attention_heads: 12
"""
RUN = """
work_group: own
modules:
  pre_trainer:
    framework: megatron
    config: pre_trainer.yaml
    model: ${PRIMUS_MODEL:our_own}.yaml
    overrides:
      micro_batch_size: 2
      global_batch_size: 64
      seq_length: 4096
      moe_router_topk: 2
      tensor_model_parallel_size: 1
      pipeline_model_parallel_size: 2
      expert_model_parallel_size: 2
"""


def checkout(folder: Path, own: str = OWN, run: str = RUN, place: str = "examples/own") -> Path:
    (folder / MODELS).mkdir(parents=True)
    for name, text in (("root", ROOT), ("family", FAMILY), ("our_own", own)):
        (folder / MODELS / f"{name}.yaml").write_text(text)
    (folder / place).mkdir(parents=True)
    path = folder / place / "run.yaml"
    path.write_text(run)
    return path


def test_a_model_of_primus_is_read_from_its_own_file(tmp_path: Path) -> None:
    reading = read_configuration(checkout(tmp_path))
    layout, _ = completed(reading, {"num_gpus": 8})
    assert reading.model is not None
    assert (reading.model.num_layers, reading.model.hidden_size) == (6, 1536)
    assert reading.model.num_query_groups == 4
    assert reading.model.experts is not None
    # The file that runs it comes first, then the model's own, then what that adds to.
    assert (reading.model.experts.num_experts, reading.model.experts.top_k) == (4, 2)
    assert reading.facts["hidden_size"].written == "our_own.yaml, hidden_size"
    assert (layout.pp, layout.ep, layout.dp) == (2, 2, 4)
    # By hand: attention h (h + 2 h / 3 + h), experts 4 x 3 h f, a router 4 h, norms 2 h a layer.
    h, f = 1536, 4096
    by_hand = 6 * (2 * h * h + 2 * h * h // 3 + 12 * h * f + 4 * h + 2 * h) + 2 * 32000 * h + h
    step = step_of(reading, device_named("h100"), {"num_gpus": 8}, NOTHING_SAID)
    assert num_parameters(explained(step).own.record) == pytest.approx(by_hand, rel=1e-4)


def test_what_a_model_only_adds_to_is_not_told_as_left_out(tmp_path: Path) -> None:
    reading = read_configuration(checkout(tmp_path))
    assert not [note for note in reading.notes if "root.yaml" in note]


def test_a_model_of_several_kinds_of_layers_is_refused_by_its_own_file(tmp_path: Path) -> None:
    path = checkout(tmp_path, OWN + "hybrid_override_pattern: M*M*M*\n")
    with pytest.raises(ConfigError, match=r"our_own.yaml, hybrid_override_pattern .*several kinds"):
        read_configuration(path)


def test_an_image_model_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="num_joint_layers = 19: an image model"):
        read_configuration(checkout(tmp_path, OWN + "num_joint_layers: 19\n"))


def test_a_model_that_adds_to_itself_ends(tmp_path: Path) -> None:
    path = checkout(tmp_path, OWN.replace("family.yaml", "our_own.yaml"))
    reading = read_configuration(path)
    assert reading.model is not None
    assert reading.model.num_layers == 6


def script(folder: Path, exported: str, flags: str = "") -> Reading:
    checkout(folder)
    path = folder / "examples" / "run.sh"
    path.write_text(
        f"#!/bin/bash\nexport EXP={exported}\nbash ./examples/run_slurm_pretrain.sh "
        f"--micro_batch_size 4 --global_batch_size 128 {flags} 2>&1 | tee log\n"
    )
    return read_configuration(path)


def test_a_variable_names_the_file_that_a_runner_reads(tmp_path: Path) -> None:
    reading = script(tmp_path, "examples/own/run.yaml")
    layout, batch = completed(reading, {"num_gpus": 8})
    assert reading.kind == "primus"
    assert (batch.micro_batch_size, batch.global_batch_size) == (4, 128)
    assert (layout.precision, layout.zero_stage, layout.pp) == ("bf16", 1, 2)


def test_a_runner_s_file_that_is_not_here_is_asked_for(tmp_path: Path) -> None:
    # One size more on the command line does not make it whole.
    with pytest.raises(ConfigError, match=r"gone.yaml says most of what is trained"):
        script(tmp_path, "examples/own/gone.yaml", "--num_layers 4")


def test_a_user_s_variable_names_another_model(tmp_path: Path) -> None:
    path = checkout(tmp_path)
    other = tmp_path / MODELS / "our_other.yaml"
    other.write_text(OWN.replace("num_layers: 6", "num_layers: 9"))
    reading = read_configuration(path, {"PRIMUS_MODEL": "our_other"})
    assert reading.value("num_layers") == 9
    # A model that is known by its name needs no file.
    path.write_text(RUN.replace("      moe_router_topk: 2\n", ""))
    reading = read_configuration(path, {"PRIMUS_MODEL": "mixtral_8x7B_v0.1"})
    assert reading.model is not None
    assert reading.model.name == "Mixtral 8x7B"
