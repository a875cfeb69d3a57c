"""What a launch file says of its software, word by word, and keys that are misspelt."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.inputs.errors import ConfigError
from steptime.readers import completed, read_configuration

# --- what a file says of its software


@pytest.mark.parametrize(
    ("flags", "facts"),
    [
        ("", {"overlap_dp": 0.0}),
        ("--overlap-grad-reduce", {"overlap_dp": 1.0, "overlap_plain_dp": 1.0}),
        ("--attention-backend unfused", {"kernel": "stored"}),
        ("--attention-backend flash", {"kernel": "flash-2"}),
        ("--cp-comm-type a2a", {"cp_comm_type": "a2a"}),
        ("--tp-comm-overlap --sequence-parallel", {"overlap_tp": 1.0}),
        ("--no-gradient-accumulation-fusion", {"fused_accumulation": 0.0}),
        ("--moe-token-dispatcher-type flex", {"plain_exchange": 0.0}),
        ("--grad-reduce-in-bf16", {"sent_gradient_bytes": 2.0, "gradient_bytes": 2.0}),
        ("--exp-avg-dtype bf16 --exp-avg-sq-dtype bf16", {"moment_bytes": 4.0}),
        ("--exp-avg-dtype fp8", {"moment_bytes": 5.0}),
        (
            "--recompute-granularity selective --recompute-modules mlp layernorm",
            {"recompute_mlp": 1.0, "recompute_norms": 1.0},
        ),
        (
            "--recompute-modules mla_up_proj layernorm moe_act --recompute-granularity selective",
            {
                "recompute_up_projection": 1.0,
                "recompute_norms": 1.0,
                "recompute_expert_activation": 1.0,
            },
        ),
        ("--cp-comm-type a2a a2a a2a", {"cp_comm_type": "a2a"}),
    ],
)
def test_a_switch_of_the_software_is_a_fact(
    flags: str, facts: dict[str, float | str], tmp_path: Path
) -> None:
    reading = read_configuration(_args(tmp_path, flags))
    stated = {one.name: one.value for one in reading.software_facts}
    assert facts.items() <= stated.items()


BASE = (
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
    "--micro-batch-size 1 --global-batch-size 64 --vocab-size 32000 --world-size 8 --bf16 "
    "--tensor-model-parallel-size 1 --pipeline-model-parallel-size 1 "
)


def _args(folder: Path, flags: str, base: str = BASE) -> Path:
    path = folder / "run.args"
    path.write_text(base + flags)
    return path


def test_layers_that_differ_in_a_fact_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cp_comm_type = p2p and a2a; layers that differ"):
        read_configuration(_args(tmp_path, "--cp-comm-type p2p a2a"))


def test_a_word_that_is_not_understood_is_not_off(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'pigeons' is not understood; known: flash, fused"):
        read_configuration(_args(tmp_path, "--attention-backend pigeons"))


def test_two_precisions_at_once_are_refused_as_megatron_lm_refuses_them(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="bf16 and fp16 are both asked for"):
        read_configuration(_args(tmp_path, "--fp16"))


def test_no_layer_of_a_block_is_no_recomputation(tmp_path: Path) -> None:
    flags = "--recompute-granularity full --recompute-method block --recompute-num-layers "
    assert read_configuration(_args(tmp_path, flags + "0")).value("recompute") == "none"
    some = read_configuration(_args(tmp_path, flags + "3"))
    assert some.value("recompute") == "full"
    assert {one.name: one.value for one in some.software_facts}["recompute_layers"] == 3


@pytest.mark.parametrize(
    ("chunks", "whole"),
    [
        ("", 2),
        ("--num-virtual-stages-per-pipeline-rank 2 ", 4),
        # Two layers of each of 32 chunks would be more than the model has.
        ("--num-virtual-stages-per-pipeline-rank 32 ", 32),
    ],
)
def test_a_block_is_counted_in_each_chunk_of_a_rank(
    tmp_path: Path, chunks: str, whole: int
) -> None:
    """megatronlm2026, transformer_block.py: each chunk computes its own first layers again."""
    flags = "--recompute-granularity full --recompute-method block --recompute-num-layers 2 "
    path = _args(tmp_path, flags + "--pipeline-model-parallel-size 2 " + chunks)
    some = read_configuration(path)
    assert {one.name: one.value for one in some.software_facts}["recompute_layers"] == whole


TITAN = """[model]
name = "llama3"
flavor = "8B"
[training]
local_batch_size = 1
seq_len = 8192
[parallelism]
data_parallel_shard_degree = 8
"""


@pytest.mark.parametrize(
    ("old", "wrong", "right"),
    [
        ("seq_len = 8192", "seq_leng = 8192", "training.seq_len"),
        ("[parallelism]", "[activation_checkpoint]\nmodes = 'full'\n[parallelism]", "mode"),
        (
            "[parallelism]",
            "[experimental]\nenable_asinc_tensor_parallel = true\n[parallelism]",
            "experimental.enable_async_tensor_parallel",
        ),
    ],
)
def test_a_misspelt_key_of_torchtitan_is_told(
    old: str, wrong: str, right: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.toml"
    path.write_text(TITAN.replace(old, wrong))
    notes = " ".join(read_configuration(path).notes)
    assert "not used: " in notes or "NOT UNDERSTOOD, may change the answer: " in notes
    assert f"{right}?" in notes


def test_a_key_that_no_version_of_torchtitan_has_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(TITAN + "[activation_checkpoint]\nfrobnicate = 3\n")
    assert "not used: activation_checkpoint.frobnicate" in read_configuration(path).notes


@pytest.mark.parametrize(
    ("section", "facts"),
    [
        ("", {"eager": 1.0}),
        ("[compile]\nenable = true\n", {"eager": 0.0}),
        # The loss alone is compiled.
        ("[compile]\nenable = true\ncomponents = ['loss']\n", {"eager": 1.0}),
        (
            "[activation_checkpoint]\nmode = 'selective'\nselective_ac_option = '2'\n",
            # Every second of Llama 3 8B's 32 layers, whole.
            {"recompute_layers": 16.0},
        ),
    ],
)
def test_what_torchtitan_compiles_and_recomputes_is_a_fact(
    section: str, facts: dict[str, float], tmp_path: Path
) -> None:
    path = tmp_path / "run.toml"
    path.write_text(TITAN + section)
    reading = read_configuration(path)
    assert facts.items() <= {one.name: one.value for one in reading.software_facts}.items()


def test_torchtitan_cuts_experts_as_the_rest_where_it_does_not_share_them_out(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.toml"
    text = TITAN.replace("llama3", "llama4").replace("8B", "17bx16e")
    path.write_text(text + "tensor_parallel_degree = 4\n")
    layout, _ = completed(read_configuration(path), {})
    assert (layout.tp, layout.ep, layout.etp) == (4, 1, 4)


@pytest.mark.parametrize(
    ("word", "layers"),
    # Of 30: every fourth from the first is 0, 4, .. 28; all but every third leaves 20.
    [("one_in_four", 8), ("two_in_three", 20), ("one_in_two", 15), ("whole_layer", None)],
)
def test_olmo_s_share_of_layers_is_counted(word: str, layers: int | None, tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(
        "model:\n  d_model: 1024\n  n_heads: 8\n  n_layers: 30\n  mlp_hidden_size: 8192\n"
        "  vocab_size: 50280\n  weight_tying: false\n  max_sequence_length: 2048\n"
        "global_train_batch_size: 64\n"
        f"device_train_microbatch_size: 2\nprecision: amp_bf16\nactivation_checkpointing: {word}\n"
    )
    reading = read_configuration(path)
    assert reading.value("recompute") == "full"
    told = {one.name: one.value for one in reading.software_facts}
    assert told.get("recompute_layers") == layers


def test_torchtitan_counts_the_last_of_every_few_layers(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(
        TITAN + "[activation_checkpoint]\nmode = 'selective'\nselective_ac_option = '5'\n"
    )
    reading = read_configuration(path)
    # Llama 3 8B has 32: the fifth, tenth, .. thirtieth.
    assert {one.name: one.value for one in reading.software_facts}["recompute_layers"] == 6
    assert "selective_ac_option: 6 of 32 layers are computed again" in " ".join(reading.notes)
