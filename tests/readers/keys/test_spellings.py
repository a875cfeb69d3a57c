"""Sizes under every framework's spelling, from files of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from steptime.readers import read_configuration

FILES = Path(__file__).parents[1] / "formats"

# --- published: what the files write down


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("bridge.yaml", (4, 256, 512, 8, 2, 16, 2, 1, 1)),
        ("mindspeed.sh", (61, 512, 1024, 8, 8, 16, 4, 1, 3)),
        ("moe-deepspeed.sh", (24, 1024, 4096, 16, 16, 64, 1, 0, 12)),
    ],
)
def test_mixtures_under_every_spelling(name: str, sizes: tuple[int, ...]) -> None:
    model = read_configuration(FILES / name).model
    assert model is not None
    assert model.experts is not None
    assert sizes == (
        model.num_layers,
        model.hidden_size,
        model.ffn_hidden_size,
        model.num_attention_heads,
        model.num_query_groups,
        model.experts.num_experts,
        model.experts.top_k,
        model.experts.num_shared_experts,
        model.experts.num_dense_layers,
    )


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("litgpt.yaml", (22, 2048, 5632, 32, 4, 32000)),
        ("llm-foundry.yaml", (12, 768, 3072, 12, 12, 50368)),
        ("olmo.yaml", (32, 4096, 11008, 32, 32, 50304)),
        ("olmo-core.json", (16, 2048, 8192, 16, 16, 100352)),
        ("nemo2.yaml", (32, 4096, 14336, 32, 8, 128256)),
        ("bigscience.slurm", (24, 2048, 8192, 16, 16, 250880)),
    ],
)
def test_sizes_under_every_spelling(name: str, sizes: tuple[int, ...]) -> None:
    model = read_configuration(FILES / name).model
    assert model is not None
    assert sizes == (
        model.num_layers,
        model.hidden_size,
        model.ffn_hidden_size,
        model.num_attention_heads,
        model.num_query_groups,
        model.vocab_size,
    )


@pytest.mark.parametrize(
    ("layers", "hidden", "written", "width"),
    [(32, 4096, 32768, 11008), (40, 5120, 40960, 13824), (80, 8192, 65536, 22016)],
)
def test_gpt_neox_scales_the_width_of_a_gated_network(
    layers: int, hidden: int, written: int, width: int, tmp_path: Path
) -> None:
    # The widths of LLaMA 7B, 13B and 65B, and what a file must say to have them.
    path = tmp_path / "llama.yml"
    path.write_text(
        f'{{"model_parallel_size": 1, "num_layers": {layers}, "hidden_size": {hidden},\n'
        f'"intermediate_size": {written}, "activation": "swiglu", "num_attention_heads": 32,\n'
        '"vocab_size": 32000, "pos_emb": "rotary", "seq_length": 2048}\n'
    )
    model = read_configuration(path).model
    assert model is not None
    assert (model.ffn_hidden_size, model.gated) == (width, True)


def test_gpt_neox_s_residual_beside_attention_is_told(tmp_path: Path) -> None:
    path = tmp_path / "neox.yml"
    text = (
        "num_layers: 44\nhidden_size: 6144\nnum_attention_heads: 64\nseq_length: 2048\n"
        "model_parallel_size: 2\npipe_parallel_size: 1\ntrain_micro_batch_size_per_gpu: 4\n"
        "gradient_accumulation_steps: 8\nvocab_size: 50432\n"
    )
    path.write_text(text + "gpt_j_residual: true\n")
    told = " ".join(read_configuration(path).notes)
    assert "gpt_j_residual: attention and MLP are taken one after the other" in told
    path.write_text(text + "gpt_j_residual: false\n")
    assert "gpt_j_residual" not in " ".join(read_configuration(path).notes)
