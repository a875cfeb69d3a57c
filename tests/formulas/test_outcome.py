"""What a step time amounts to, against what papers print for the same step."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from steptime.formulas.outcome import outcome, training_days

# The flat record of a GPT with 145.6 billion parameters, as far as these formulas read it.
GPT_145B = {
    "num_layers": 80,
    "hidden_size": 12288,
    "ffn_hidden_size": 49152,
    "num_attention_heads": 96,
    "num_query_groups": 96,
    "head_dim": 128,
    "vocab_size": 51200,
    "tied": 1,
    "seq_length": 2048,
    "global_batch_size": 2304,
    "tp": 8,
    "cp": 1,
    "pp": 8,
    "dp": 24,
    "recompute_full": 1,
    "peak_flop_per_s": 312e12,
}
ABSENT = (
    *("gated", "windowed_layers", "window_size", "num_experts", "top_k", "num_shared_experts"),
    *("expert_ffn_hidden_size", "num_dense_layers", "q_lora_rank", "kv_lora_rank"),
    *("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "recompute_selective"),
)


def gpt(**changed: float) -> SimpleNamespace:
    fields = {**dict.fromkeys(ABSENT, 0.0), **GPT_145B, **changed}
    return SimpleNamespace(**{key: float(value) for key, value in fields.items()})


# --- published
def test_rate_gives_narayanan2021_table1_back() -> None:
    job = gpt()
    # 148 TFLOP/s and 47 % of the peak are printed: half of the last digit is allowed.
    step_s = 96 * 2304 * 2048 * 80 * 12288**2 * (1 + 2048 / 6 / 12288 + 51200 / 16 / 80 / 12288)
    found = outcome(job, step_s / (1536 * 148e12), 300e9)
    assert found["hardware_flop_per_s"] == pytest.approx(148e12, rel=1e-12)
    assert found["hfu_fraction"] == pytest.approx(0.47, abs=0.005)


# --- limit
def test_without_recomputation_both_rates_agree() -> None:
    found = outcome(gpt(recompute_full=0), 10.0, 300e9)
    assert found["mfu_fraction"] == found["hfu_fraction"]


# --- invariant
def test_days_and_rates_are_one_time_seen_three_ways() -> None:
    job = gpt()
    found = outcome(job, 7.0, 300e9)
    assert found["days"] * 86400 * found["tokens_per_s"] == pytest.approx(300e9, rel=1e-12)
    assert found["device_tokens_per_s"] * 1536 == pytest.approx(found["tokens_per_s"], rel=1e-12)
    assert training_days(job, 14.0, 300e9) == pytest.approx(2 * found["days"], rel=1e-12)
