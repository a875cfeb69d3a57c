"""Small launch files, each with a fault that public files were read wrongly for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Layout
from steptime.readers import Reading, completed, read_configuration

CASES = Path(__file__).parent / "cases"


def read(name: str, given: dict[str, str] | None = None) -> Reading:
    return read_configuration(CASES / name, given)


def shape(reading: Reading) -> tuple[int, ...]:
    model = reading.model
    assert model is not None
    return (
        model.num_layers,
        model.hidden_size,
        model.ffn_hidden_size,
        model.num_attention_heads,
        model.num_query_groups,
    )


# --- published: what the files write down, as their software runs it


@pytest.mark.parametrize(
    ("name", "given", "asked", "kind", "sizes", "layout", "batch"),
    [
        (
            "nemo1-tokenizer.yaml",
            {"vocab_size": "32000"},
            {},
            "nemo",
            (32, 4096, 11008, 32, 32),
            {"tp": 2, "dp": 4, "zero_stage": 1},
            64,
        ),
        (
            "nemo1-mcore-optimizer.yaml",
            {"vocab_size": "50257"},
            {},
            "nemo",
            (96, 12288, 49152, 96, 96),
            {"tp": 4, "pp": 8, "vpp": 6, "dp": 32, "zero_stage": 1, "sequence_parallel": True},
            2048,
        ),
        (
            "gpt-neox.yml",
            {"vocab_size": "50432"},
            {"num_gpus": 96},
            "gpt-neox",
            (44, 6144, 24576, 64, 64),
            {"tp": 2, "pp": 4, "dp": 12, "zero_stage": 1, "precision": "fp16"},
            1536,
        ),
        (
            "nanotron.yaml",
            {},
            {"num_gpus": 8},
            "nanotron",
            (16, 2048, 8192, 32, 8),
            {"tp": 2, "dp": 4, "zero_stage": 1},
            64,
        ),
        (
            "deepspeed-bf16.sh",
            {},
            {},
            "megatron-deepspeed",
            (70, 14336, 57344, 112, 112),
            {"tp": 4, "pp": 12, "dp": 8, "zero_stage": 1, "recompute": "full"},
            2048,
        ),
        (
            "deepspeed-partition.sh",
            {},
            {},
            "megatron-deepspeed",
            (70, 14336, 57344, 112, 112),
            {"tp": 4, "pp": 72, "dp": 1, "zero_stage": 1, "recompute": "full"},
            2048,
        ),
        (
            "eval-redirect.sh",
            {},
            {},
            "megatron",
            (32, 4096, 16384, 32, 32),
            {"dp": 8},
            64,
        ),
        (
            "positional.sh",
            {"@": "13B 4 2 4096"},
            {},
            "megatron",
            (40, 5120, 13824, 40, 40),
            {"tp": 4, "pp": 2, "dp": 4, "zero_stage": 1},
            256,
        ),
        (
            "shared-experts.sh",
            {},
            {},
            "megatron",
            (27, 2048, 10944, 16, 16),
            {"dp": 8, "ep": 8, "zero_stage": 1},
            8,
        ),
        (
            "multimodal.sh",
            {},
            {},
            "megatron",
            (32, 4096, 14336, 32, 8),
            {"dp": 8},
            256,
        ),
        (
            "fp32.sh",
            {},
            {},
            "megatron",
            (80, 8192, 28672, 64, 8),
            {"tp": 8, "pp": 2, "dp": 1},
            16,
        ),
        (
            "torchtitan-hsdp.toml",
            {},
            {"num_gpus": 64, "global_batch_size": 128},
            "torchtitan",
            (32, 4096, 14336, 32, 8),
            {"dp": 64, "dp_replicate": 8, "zero_stage": 3, "recompute": "selective"},
            128,
        ),
    ],
)
def test_a_case_is_read_as_its_software_runs_it(
    name: str,
    given: dict[str, str],
    asked: dict[str, int],
    kind: str,
    sizes: tuple[int, ...],
    layout: dict[str, Any],
    batch: int,
) -> None:
    reading = read(name, given)
    assert reading.kind == kind
    assert shape(reading) == sizes
    found, total = completed(reading, asked)
    schedule = "interleaved-1f1b" if layout.get("vpp", 1) > 1 else "1f1b"
    assert found == Layout(**{"schedule": schedule, **layout})
    assert total.global_batch_size == batch


def test_what_the_layout_has_no_field_for_is_a_fact() -> None:
    hsdp = read("torchtitan-hsdp.toml")
    assert (hsdp.value("dp_replicate"), hsdp.value("dp_shard")) == (8, 8)
    assert hsdp.value("recompute_per_op") is True
    assert hsdp.software == "torchtitan"
    image = read("multimodal.sh")
    assert (image.value("seq_length"), image.value("image_tokens")) == (1024, 576)
    assert read("deepspeed-partition.sh").value("counted_ends") == 2


def test_32_bits_are_said_first() -> None:
    reading = read("fp32.sh")
    assert reading.value("precision") == "fp32"
    assert reading.notes[0].startswith("32 BITS: neither bf16 nor fp16 is asked for")
    assert not any("32 BITS" in note for note in read("eval-redirect.sh").notes)


def test_shared_experts_and_dense_layers_are_read_under_a_forks_names() -> None:
    model = read("shared-experts.sh").model
    assert model is not None
    assert model.experts is not None
    assert (model.experts.num_shared_experts, model.experts.num_dense_layers) == (2, 1)


@pytest.mark.parametrize("name", ["wrapper-known-text-config.json", "wrapper-qwen3-vl.json"])
def test_the_text_part_of_a_wrapper_counts(name: str) -> None:
    reading = read(name)
    assert shape(reading) == (36, 2560, 9728, 32, 8)
    assert reading.model is not None
    assert (reading.model.head_dim, reading.model.tied, reading.model.qk_norm) == (128, True, True)


@pytest.mark.parametrize(
    ("name", "kind", "facts"),
    [
        (
            "accelerate-fsdp.yaml",
            "accelerate",
            {"zero_stage": 3, "recompute": "full", "precision": "bf16", "num_gpus": 32},
        ),
        (
            "deepspeed.json",
            "deepspeed",
            {"zero_stage": 3, "precision": "bf16", "micro_batch_size": 2, "dp": 64},
        ),
    ],
)
def test_a_file_without_a_model_names_its_format_and_is_read_with_one(
    name: str, kind: str, facts: dict[str, Any]
) -> None:
    reading = read(name)
    assert reading.kind == kind
    assert {key: reading.value(key) for key in facts} == facts
    assert any(gap.startswith("model: ") for gap in reading.missing)


# --- refusal: by the name of what would change the answer


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hybrid-mamba.sh", r"sh:1: --hybrid-layer-pattern = .*layers of several kinds"),
        ("linear-attention.sh", r"sh:1: --experimental-attention-variant = 'gated_delta_net'"),
        ("encoder-decoder.sh", r"sh:1: --encoder-num-layers = '12': an encoder and a decoder"),
        ("axolotl.yaml", r"yaml:2: adapter = 'lora': small added matrices are trained"),
        ("tagged.yaml", r"yaml:1: tag .*python/object.* only plain values are read"),
    ],
)
def test_what_is_not_modelled_is_refused_by_name(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read(name)


def test_what_the_software_refuses_is_refused_with_its_reason(tmp_path: Path) -> None:
    reading = read("chunks-do-not-divide.sh")
    reason = "Megatron-LM refuses 10 micro-batches on pp=4 stages with vpp=2 .* batch of 8 or 12"
    with pytest.raises(ConfigError, match=reason):
        completed(reading, {})
    layout, _ = completed(reading, {"global_batch_size": 12})
    assert layout.vpp == 2
    text = (
        (CASES / "eval-redirect.sh")
        .read_text()
        .replace("--num-layers 32", "--num-layers 12 --pipeline-model-parallel-size 8")
    )
    path = tmp_path / "stages.sh"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"refuses 12 layers on pp=8 stages.*use pp=6"):
        completed(read_configuration(path), {})
