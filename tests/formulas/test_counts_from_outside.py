"""Parameters, FLOP, rates and bytes that papers print, and sums of them on paper.

The shapes are those of data/models.toml; the comment at each number says who printed it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from made import job, small_job

from steptime.formulas import collectives, flops, number, outcome, parameters
from steptime.formulas.causal import own_pairs
from steptime.formulas.records import Job
from steptime.inputs.training_step import training_step


@cache
def record(model: str, seq_length: int = 2048) -> Job:
    return training_step(
        model=model, accelerator="a100-80gb", seq_length=seq_length, global_batch_size=8
    ).job()


H = 12288.0
"""Width of GPT-3 (brown2020, Table 2.1), which has 96 layers and a vocabulary of 51,200 here."""
GPT3 = "gpt3-175b"


# ---- published: parameters


def test_parameters_of_gpt3() -> None:
    # narayanan2021, Eq. 2: 12 l h h (1 + 13 / 12 h + (V + s) / 12 l h); table 1 prints 174.6
    # billion. Without biases, norms and positions that is 12 h h a layer and V h.
    one = record(GPT3)
    assert parameters.attention_parameters(one) == 4 * H * H
    assert parameters.feed_forward_parameters(H, 4 * H, 0.0) == 8 * H * H
    assert parameters.dense_layer_parameters(one) == 12 * H * H
    assert parameters.embedding_parameters(one) == one.vocab_size * H
    assert parameters.unrouted_parameters(one) == parameters.num_parameters(one)
    assert parameters.num_parameters(one) / 1e9 == pytest.approx(174.6, abs=0.05)
    assert parameters.num_expert_layers(one) == 0.0


def test_parameters_of_mixtral() -> None:
    # jiang2024, Sec. 1: 47 billion parameters, of which a token meets 13. Of 8 experts of three
    # matrices of 4096 x 14336 it meets two.
    one = record("mixtral-8x7b")
    expert = 3 * 4096 * 14336
    assert parameters.expert_parameters(one) == expert
    assert parameters.routed_layer_parameters(one) == 8 * expert
    assert parameters.routed_parameters(one) == 32 * 8 * expert
    # Attention: 4096 x (4096 + 1024 + 1024 + 4096), and a router of 4096 x 8.
    shared = 4096 * 10240 + 4096 * 8
    assert parameters.unrouted_layer_parameters(one) == shared
    assert parameters.active_layer_parameters(one) == shared + 2 * expert
    ends = parameters.embedding_parameters(one)
    assert ends == 2 * 32000 * 4096
    active = parameters.num_expert_layers(one) * (shared + 2 * expert) + ends
    assert active / 1e9 == pytest.approx(12.9, abs=0.1)
    assert parameters.num_parameters(one) / 1e9 == pytest.approx(46.7, abs=0.1)


def test_parameters_of_deepseek_v3() -> None:
    # deepseek2024, Sec. 4.2: 671 billion parameters, 37 billion for each token; attention of
    # 7168 x 1536 + 1536 x 128 x 192 + 7168 x 576 + 512 x 128 x 256 + 128 x 128 x 7168.
    one = record("deepseek-v3")
    attention = 7168 * 1536 + 1536 * 24576 + 7168 * 576 + 512 * 32768 + 16384 * 7168
    assert parameters.attention_parameters(one) == attention
    assert parameters.num_parameters(one) / 1e9 == pytest.approx(671, abs=1)
    mixture = parameters.num_expert_layers(one)
    assert mixture == 58.0
    active = mixture * parameters.active_layer_parameters(one)
    active += 3 * parameters.dense_layer_parameters(one) + parameters.embedding_parameters(one)
    assert active / 1e9 == pytest.approx(37, abs=1)


# ---- published: FLOP


def test_flop_of_gpt3() -> None:
    # narayanan2021, Eq. 3: 96 B s l h h (1 + s / 6 h + V / 16 l h) with full recomputation. Its
    # four passes are forward, backward twice as long, and forward again, without logits.
    one = replace(record(GPT3), recompute_full=1.0)
    s, deep, v = 2048.0, 96.0, one.vocab_size
    layers, scores = 24 * deep * H * H, 4 * deep * s * H
    assert flops.score_width(one) == 2 * H
    assert flops.keys_per_token(one) == deep * s
    assert flops.matrix_flop_per_token(one) == layers
    assert flops.attention_flop_per_token(one) == scores
    assert flops.logit_flop_per_token(one) == 2 * v * H
    assert flops.recomputed_flop_per_token(one) == layers + scores
    printed = 96 * deep * H * H * (1 + s / (6 * H) + v / (16 * deep * H))
    assert flops.hardware_flop_per_token(one) == pytest.approx(printed, rel=1e-12)
    # The same, Appendix: 3.14e23 FLOP for 300 billion tokens without recomputation (brown2020,
    # Table D.1, which counts 6 a parameter).
    assert flops.model_flop_per_token(one) * 300e9 == pytest.approx(3.14e23, rel=0.03)


def test_windows_leave_less_to_attend_to() -> None:
    # gemma2025, Sec. 2.1: five layers of 1,024 keys to one of all; of six at 8,192 tokens that
    # is 5 x 1,024 + 8,192.
    one = replace(record("gemma3-27b", 8192), num_layers=6.0, windowed_layers=5.0)
    assert one.window_size == 1024.0
    assert flops.keys_per_token(one) == 5 * 1024 + 8192


def test_latent_attention_scores_over_192_and_weighs_128() -> None:
    # deepseek2024, Sec. 4.2: 128 heads of 128 + 64 for scores, 128 for values.
    assert flops.score_width(record("deepseek-v3")) == 128 * (128 + 64 + 128)


# ---- published: rates


def test_the_first_row_of_the_megatron_papers_table() -> None:
    # narayanan2021, Table 1, 1.7 billion: 512 sequences of 2,048 tokens on 32 GPUs, 137 TFLOP/s
    # a GPU or 44 % of 312, four passes counted. Of its FLOP: 24 layers, 2,304 wide.
    one = replace(
        record(GPT3),
        **{"num_layers": 24.0, "hidden_size": 2304.0, "num_attention_heads": 24.0},
        **{"num_query_groups": 24.0, "head_dim": 96.0, "ffn_hidden_size": 9216.0},
        **{"recompute_full": 1.0, "dp": 32.0, "global_batch_size": 512.0},
        **{"vocab_size": 51200.0, "peak_flop_per_s": 312e12},
    )
    assert flops.tokens_per_step(one) == 512 * 2048
    assert flops.num_devices(one) == 32.0
    flop = 96 * 512 * 2048 * 24 * 2304**2 * (1 + 2048 / (6 * 2304) + 51200 / (16 * 24 * 2304))
    seconds = flop / 32 / 137e12
    assert outcome.hardware_flop_per_s(one, seconds) == pytest.approx(137e12, rel=1e-12)
    assert outcome.outcome(one, seconds, 1.0)["hfu_fraction"] == pytest.approx(0.44, abs=0.002)
    # Without the pass that runs again: 72 for 96, but for the logits.
    model = flop * 0.75 + 0.25 * 96 * 512 * 2048 * 24 * 2304**2 * 51200 / (16 * 24 * 2304)
    assert outcome.model_flop_per_s(one, seconds) == pytest.approx(model / 32 / seconds)
    assert outcome.tokens_per_s(one, seconds) == pytest.approx(512 * 2048 / seconds)


def test_days_of_gpt3() -> None:
    # narayanan2021, Sec. 5.1: 300 billion tokens on 1,024 GPUs at 140 TFLOP/s take 34 days, by
    # 8 T P / n X.
    one = replace(record(GPT3), dp=1024.0, global_batch_size=1536.0, recompute_full=1.0)
    seconds = 8 * 1536 * 2048 * 175e9 / (1024 * 140e12)
    assert outcome.training_days(one, seconds, 300e9) == pytest.approx(34, abs=0.5)


# ---- a sum on paper


def test_collectives_by_hand() -> None:
    # thakur2005, Sec. 4: of 12 bytes on 4 ranks each sends 9 and waits for three others.
    assert collectives.permute_sent_bytes(12.0) == 12.0
    assert collectives.all_to_all_s(12.0, 4.0, 3.0, 0.5) == 9 / 3 + 3 * 0.5


def test_rounding_by_hand() -> None:
    assert [number.ceil(a) for a in (2.0, 2.1, -0.5)] == [2.0, 3.0, 0.0]
    assert [number.ceil_div(a, 4.0) for a in (7.0, 8.0, 9.0)] == [2.0, 2.0, 3.0]
    assert number.anywhere(True)
    assert not number.anywhere(False)
    assert number.anywhere(np.array([False, True]))
    assert not number.anywhere(np.array([False, False]))


def test_pairs_of_four_tokens() -> None:
    # 1 + 2 + 3 + 4 under a causal mask.
    assert own_pairs(4.0) == 10.0


def test_a_job_of_many_devices() -> None:
    assert flops.num_devices(job(tp=2.0, cp=3.0, pp=5.0, dp=7.0)) == 210.0
    # Two heads of width 4 over eight keys and values: 2 x 2 x 4 numbers, and no window.
    small = small_job(seq_length=16.0)
    assert flops.attention_flop_per_token(small) == 2 * 4 * 16 * 16
