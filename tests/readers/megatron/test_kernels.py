"""Kernels that several arguments of Megatron-LM decide together."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_files import facts

from steptime.readers import Reading, read_configuration

SIZES = (
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
    "--num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 --global-batch-size 64 "
    "--vocab-size 32000 --bf16 --swiglu --tensor-model-parallel-size 1 "
    "--pipeline-model-parallel-size 1 --use-distributed-optimizer "
)


def read(folder: Path, words: str) -> Reading:
    path = folder / "run.sh"
    path.write_text(SIZES + words + "\n")
    return read_configuration(path)


def notes(reading: Reading) -> str:
    return " ".join(reading.notes)


# --- published: what each implementation runs (core/models/gpt/gpt_layer_specs)


@pytest.mark.parametrize(
    ("words", "kernel"),
    [
        ("", None),
        ("--use-flash-attn", None),
        ("--transformer-impl transformer_engine --use-flash-attn", None),
        ("--transformer-impl local", "stored"),
        ("--transformer-impl local --use-flash-attn", "flash-2"),
        ("--use-legacy-models --use-flash-attn", "flash-2"),
        ("--transformer-impl local --attention-backend fused", "cudnn"),
        # MindSpeed's kernels replace the local layers.
        ("--use-fused-rmsnorm --transformer-impl local --use-flash-attn", "flash-2"),
        ("--use-fused-rmsnorm --transformer-impl local", None),
    ],
)
def test_the_attention_kernel_follows_from_layers_and_switches(
    words: str, kernel: str | None, tmp_path: Path
) -> None:
    assert facts(read(tmp_path, words)).get("kernel") == kernel


@pytest.mark.parametrize(
    ("words", "moved_bytes"),
    [
        ("", 52.0),
        ("--cross-entropy-loss-fusion", 40.0),
        ("--cross-entropy-loss-fusion --cross-entropy-fusion-impl native", 40.0),
        ("--cross-entropy-loss-fusion --cross-entropy-fusion-impl te", 14.0),
    ],
)
def test_the_loss_is_a_chain_of_kernels_unless_it_is_fused(
    words: str, moved_bytes: float, tmp_path: Path
) -> None:
    assert facts(read(tmp_path, words))["loss_bytes"] == moved_bytes


def test_element_wise_kernels_run_alone_where_neither_of_them_is_fused(tmp_path: Path) -> None:
    both = read(tmp_path, "--no-rope-fusion --no-bias-swiglu-fusion")
    assert facts(both)["eager"] == 1.0
    assert "--no-rope-fusion" not in notes(both)
    # One alone has no fact: it is told.
    one = read(tmp_path, "--no-rope-fusion")
    assert "eager" not in facts(one)
    assert "--no-rope-fusion" in notes(one)


def test_gathers_are_told_only_where_they_differ_from_reductions(tmp_path: Path) -> None:
    alike = read(tmp_path, "--overlap-grad-reduce --overlap-param-gather")
    assert "--overlap-param-gather" not in notes(alike)
    assert facts(alike)["overlap_dp"] == 1.0


def test_weights_gathered_in_eight_bits_have_one_byte(tmp_path: Path) -> None:
    words = "--fp8-format hybrid --fp8-param-gather"
    assert facts(read(tmp_path, words))["gathered_weight_bytes"] == 1.0


def test_torchtitan_gathers_in_eight_bits_where_it_is_told_and_multiplies_so(
    tmp_path: Path,
) -> None:
    text = (
        '[model]\nname = "llama3"\nflavor = "8B"\n{own}[training]\nlocal_batch_size = 1\n'
        "seq_len = 8192\n[quantize.linear.float8]\nenable_fsdp_float8_all_gather = {gather}\n"
    )
    converts = 'converters = ["quantize.linear.float8"]\n'
    path = tmp_path / "run.toml"
    for own, gather, right in (
        (converts, "true", 1.0),
        (converts, "false", 2.0),
        ("", "true", None),
    ):
        path.write_text(text.format(own=own, gather=gather))
        assert facts(read_configuration(path)).get("gathered_weight_bytes") == right
