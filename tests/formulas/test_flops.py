from dataclasses import replace

import pytest

from steptime.evidence.runs import run_of
from steptime.evidence.schema import published_rows
from steptime.formulas.causal import windowed_keys
from steptime.formulas.flops import (
    causal_attention_flop_per_token,
    causal_flop_per_token,
    hardware_flop_per_token,
    model_flop_per_token,
    recomputed_flop_per_token,
)
from steptime.formulas.parameters import num_parameters
from steptime.inputs.datafiles import data_table
from steptime.inputs.job import Job, job
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.presets import accelerator, model, model_names


def one(name: str, recompute: str = "none", seq_length: int = 2048) -> Job:
    layout = Layout(recompute=recompute)
    batch = Batch(global_batch_size=1, seq_length=seq_length)
    return job(model(name), accelerator("a100"), layout, batch)


# published


@pytest.mark.parametrize("name", model_names())
def test_parameters_are_the_published_count(name: str) -> None:
    published = data_table("models.toml")[name]["params_billion"]
    # Biases, norms and position tables are no matrices: narayanan2021, Eq. 2 gives them for GPT.
    shape = model(name)
    rest = (13 * shape.num_layers + shape.learned_positions) * shape.hidden_size
    left_out = rest / 1e9 if not shape.gated else 0.0
    # Half a percent, or half of the last digit where the source prints few.
    digits = len(str(published).partition(".")[2])
    slack = max(0.005 * published, 0.5 * 10.0**-digits)
    counted = num_parameters(one(name)) / 1e9 + left_out
    assert counted == pytest.approx(published, rel=0, abs=slack)


def test_gpt_flop_equals_narayanan2021_equation_3() -> None:
    record = one("gpt3-175b", "full")
    h, layers, s, vocab = 12288, 96, 2048, 51200
    per_token = 96 * layers * h**2 * (1 + s / (6 * h) + vocab / (16 * layers * h))
    assert hardware_flop_per_token(record) == pytest.approx(per_token, rel=1e-12)


def test_gpt_flop_equals_korthikanti2022_equation_7() -> None:
    record = one("gpt3-175b")
    h, layers, s, vocab = 12288, 96, 2048, 51200
    per_token = 72 * layers * h**2 * (1 + s / (6 * h) + vocab / (12 * layers * h))
    assert model_flop_per_token(record) == pytest.approx(per_token, rel=1e-12)


MEGATRON_BRIDGE = [
    row
    for row in published_rows()
    if row.source == "megatronbridge2026"
    and row.moe_experts is None
    and row.tflops_per_gpu
    and row.tokens_per_s_per_gpu
    and not any(f"release 26.0{month}" in row.notes for month in "468")
]


@pytest.mark.parametrize("row", MEGATRON_BRIDGE, ids=lambda row: row.id)
def test_causal_count_is_megatron_bridges(row) -> None:  # type: ignore[no-untyped-def]
    per_token = causal_flop_per_token(run_of(row).job())
    rate = row.tflops_per_gpu * 1e12
    # Both printed numbers are rounded: whole TFLOP/s, and whole tokens or coarser.
    slack = 0.5e12 / rate + 1.0 / row.tokens_per_s_per_gpu + 1e-3
    assert per_token == pytest.approx(rate / row.tokens_per_s_per_gpu, rel=slack)


# invariant


def test_full_recomputation_runs_the_layers_once_more() -> None:
    full, none = one("gpt3-175b", "full"), one("gpt3-175b")
    logits = 6 * 51200 * 12288
    assert recomputed_flop_per_token(full) == pytest.approx(
        (model_flop_per_token(none) - logits) / 3, rel=1e-12
    )


def test_a_window_shortens_attention() -> None:
    windowed = one("gpt-oss-120b", seq_length=8192)
    full = replace(windowed, windowed_layers=0.0)
    assert model_flop_per_token(windowed) < model_flop_per_token(full)
    assert num_parameters(windowed) == num_parameters(full)


@pytest.mark.parametrize(("s", "w"), [(64, 8), (64, 1), (64, 64), (16, 128)])
def test_a_token_sees_the_pairs_of_its_window_under_the_mask(s: int, w: int) -> None:
    pairs = sum(
        max(0, token - w) < key <= token for token in range(1, s + 1) for key in range(s + 1)
    )
    # What a triangle of w tokens has over w**2 / 2 is left out, as s / 2 leaves it out.
    mean = pairs / s - 0.5 * min(w, s) / s
    assert windowed_keys(float(s), float(w)) == mean


def test_the_mask_hides_little_of_a_windowed_layer() -> None:
    """gpt-oss-120b, openai2025: 18 of 36 layers with 128 keys, 64 heads of 64; at 4,096 tokens."""
    record = one("gpt-oss-120b", seq_length=4096)
    whole = replace(record, window_size=4096.0)
    seen = 18 * 2048 + 18 * (128 - 128**2 / 8192)
    fewer = (36 * 2048 - seen) * 3 * 2 * 2 * 64 * 64
    assert causal_flop_per_token(whole) - causal_flop_per_token(record) == pytest.approx(fewer)
    assert causal_flop_per_token(whole) == causal_flop_per_token(
        replace(record, windowed_layers=0.0)
    )


def test_a_causal_mask_leaves_half_of_attention() -> None:
    # GPT-3 of 96 layers over 12,288 values: 4 s h l in full (narayanan2021, Appendix).
    full = 4 * 2048 * 12288 * 96
    assert causal_attention_flop_per_token(one("gpt3-175b")) == full / 2


def test_only_used_experts_compute() -> None:
    record = one("deepseek-v3")
    assert model_flop_per_token(record) < 6 * 0.1 * num_parameters(record)
