"""Activation bytes against Korthikanti et al. 2022 and Megatron-LM's own estimate."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from steptime.formulas.memory import activations, buffers, stored
from steptime.formulas.records import MemoryFacts

FIELDS = (
    "q_lora_rank kv_lora_rank qk_nope_head_dim qk_rope_head_dim v_head_dim num_experts top_k "
    "num_shared_experts expert_ffn_hidden_size gated recompute_full recompute_selective "
    "sequence_parallel fp8"
).split()
GPT = {"hidden_size": 12288.0, "ffn_hidden_size": 49152.0, "num_attention_heads": 96.0}
GPT |= {"num_query_groups": 96.0, "head_dim": 128.0, "seq_length": 2048.0, "num_layers": 96.0}
SIZES = {"tp": 1.0, "etp": 1.0, "cp": 1.0, "micro_batch_size": 1.0, "vocab_size": 51200.0}
Facts = Callable[..., MemoryFacts]
OLD = MemoryFacts(flash=0.0, dropout=1.0)


def job(**values: float) -> Any:
    return SimpleNamespace(**dict.fromkeys(FIELDS, 0.0) | GPT | SIZES | values)


def layer(record: Any, facts: MemoryFacts, kind: str = "dense") -> float:
    per_token = activations.token_bytes(record, facts)
    kept: float = stored.layer_token_bytes(record, per_token)[kind]
    return kept


# published


@pytest.mark.parametrize("tp", [1.0, 2.0, 8.0])
def test_tensor_parallel_layer(tp: float) -> None:
    """korthikanti2022, Eq. 2: s b h (10 + 24/t + 5 a s / (h t))."""
    expected = 12288 * (10 + 24 / tp + 5 * 96 * 2048 / (12288 * tp))
    assert layer(job(tp=tp), OLD) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("tp", [1.0, 2.0, 8.0])
def test_sequence_parallel_layer(tp: float) -> None:
    """korthikanti2022, Eq. 4: s b h / t (34 + 5 a s / h)."""
    expected = 12288 / tp * (34 + 5 * 96 * 2048 / 12288)
    assert layer(job(tp=tp, sequence_parallel=1.0), OLD) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("tp", [1.0, 8.0])
def test_selective_recomputation_drops_the_scores(tp: float) -> None:
    """korthikanti2022, Eq. 6: 34 s b h / t."""
    record = job(tp=tp, sequence_parallel=1.0, recompute_selective=1.0)
    assert layer(record, OLD) == pytest.approx(34 * 12288 / tp, rel=1e-15)


@pytest.mark.parametrize(("heads", "hidden", "saved"), [(96.0, 12288.0, 70), (128.0, 20480.0, 65)])
def test_selective_recomputation_saves(heads: float, hidden: float, saved: int) -> None:
    """korthikanti2022, Sec. 5: 70 % of the memory for GPT-3, 65 % for MT-NLG."""
    shape = {"num_attention_heads": heads, "num_query_groups": heads, "hidden_size": hidden}
    shape |= {"ffn_hidden_size": 4 * hidden, "head_dim": hidden / heads}
    whole = layer(job(**shape), OLD)
    kept = layer(job(**shape, recompute_selective=1.0), OLD)
    assert 100 * (1 - kept / whole) == pytest.approx(saved, abs=0.5)


@pytest.mark.parametrize(("heads", "hidden"), [(64.0, 6144.0), (96.0, 12288.0), (128.0, 20480.0)])
def test_both_techniques_together_save_a_factor_of_five(heads: float, hidden: float) -> None:
    """korthikanti2022, Fig. 7: about 20 % of plain tensor parallelism; 10 % if recomputed."""
    shape = {"num_attention_heads": heads, "num_query_groups": heads, "hidden_size": hidden}
    shape |= {"ffn_hidden_size": 4 * hidden, "head_dim": hidden / heads, "tp": 8.0}
    plain = layer(job(**shape), OLD)
    both = layer(job(**shape, sequence_parallel=1.0, recompute_selective=1.0), OLD)
    assert 0.15 < both / plain < 0.205
    assert 0.07 < 2 * hidden / plain < 0.105


def test_sent_outputs_of_mt_nlg() -> None:
    """korthikanti2022, Appendix B: freeing them saves 2.73 GB on the first of 35 stages."""
    record = job(hidden_size=20480.0)
    boundary = activations.token_bytes(record, OLD)["boundary"]
    assert boundary * 2048 * 35 / 2**30 == pytest.approx(2.73, abs=0.005)


def test_logits_in_32_bits() -> None:
    """korthikanti2022, Sec. 4.3: 4 s b v for the logits alone."""
    only_32_bits = MemoryFacts(logit_bytes=4.0)
    assert buffers.logit_bytes(job(), only_32_bits) == 4 * 2048 * 51200


@pytest.mark.parametrize("ffn", [4.0, 3.5])
def test_megatron_lm_estimate(ffn: float) -> None:
    """megatronlm2026: s b h (18 + 4 f / h) a layer with sequence parallelism and no scores."""
    record = job(ffn_hidden_size=ffn * 12288, sequence_parallel=1.0, recompute_selective=1.0)
    assert layer(record, OLD) == pytest.approx(12288 * (18 + 4 * ffn), rel=1e-15)


# limit


def test_flash_keeps_one_number_a_head() -> None:
    record = job()
    assert activations.score_token_bytes(record, MemoryFacts()) == 4 * 96
    assert activations.score_token_bytes(record, OLD) == 5 * 96 * 2048
    assert activations.score_token_bytes(record, MemoryFacts(flash=0.0)) == 2 * 96 * 2048


def test_whole_sequences_for_a_moment_by_hand(memory_facts: Facts) -> None:
    """tazi2025, nanotron: four of 2 b s h bytes, here 2 x 2048 tokens of 12288 values."""
    record = job(tp=8.0, micro_batch_size=2.0, sequence_parallel=1.0)
    whole = 2.0 * 2 * 2048 * 12288
    assert buffers.gathered_sequence_bytes(record, MemoryFacts()) == whole
    assert buffers.gathered_sequence_bytes(record, memory_facts("nanotron")) == 4 * whole


def test_no_buffers_without_the_parallelism_that_needs_them() -> None:
    record = job(pp=1.0, ep=1.0)
    assert buffers.message_bytes(record, 1.0) == 0
    assert buffers.gathered_sequence_bytes(record, MemoryFacts()) == 0
    assert buffers.gathered_keys_bytes(record) == 0
    assert buffers.dispatch_bytes(record, MemoryFacts()) == 0


def test_gelu_keeps_two_values_a_gate_three() -> None:
    widths = [
        activations.feed_forward_token_bytes(job(gated=gated), MemoryFacts(), 1.0) - 2 * 12288
        for gated in (0.0, 1.0)
    ]
    assert widths == [2 * 2 * 49152, 2 * 3 * 49152]


def test_8_bit_training_keeps_inputs_of_products_in_8_bits() -> None:
    """Two normed inputs and the second product's in 1 byte; attention's output once more."""
    wide, narrow = (layer(job(fp8=fp8, gated=1.0), MemoryFacts()) for fp8 in (0.0, 1.0))
    assert wide - narrow == 2 * 12288 + 49152 - 96 * 128


def test_inputs_of_swiglu_in_8_bits_by_hand() -> None:
    """deepseek2024, Sec. 3.3.3: both halves of the gate and their product, one byte each."""
    narrow = MemoryFacts(fp8_activation_bytes=1.0)
    for fp8, value in ((0.0, 2), (1.0, 1)):
        record = job(fp8=fp8, gated=1.0)
        kept = activations.feed_forward_token_bytes(record, narrow, 1.0)
        assert kept == value * (3 * 49152 + 12288)


def test_attention_output_in_12_bits_by_hand() -> None:
    """deepseek2024, Sec. 3.3.3: half a byte a value less than in 16 bits."""
    record = job(fp8=1.0)
    facts = MemoryFacts(fp8_output_bytes=1.5)
    kept = 2 * 3 * 12288 + 1.5 * 12288 + 12288
    assert activations.attention_token_bytes(record, facts, 1.0) == kept


def test_fewer_key_heads_than_ranks_are_repeated() -> None:
    few = job(tp=8.0, num_query_groups=4.0)
    assert activations.attention_token_bytes(few, MemoryFacts(), 1.0) == (
        4 * 128 * (96 / 8 + 1) + 2 * 12288
    )


def test_latent_attention_by_hand() -> None:
    """deepseek2024, Sec. 2.1.1: widths of V3, one rank, every kept value counted by hand."""
    shape = {"hidden_size": 7168.0, "num_attention_heads": 128.0, "q_lora_rank": 1536.0}
    shape |= {"kv_lora_rank": 512.0, "qk_nope_head_dim": 128.0, "qk_rope_head_dim": 64.0}
    record = job(**shape, v_head_dim=128.0)
    low_rank = 2 * 2 * (1536 + 512) + 2 * 64
    heads = 2 * 128 * (192 + 192 + 128 + 128)
    expected = 2 * 7168 + low_rank + heads
    assert activations.attention_token_bytes(record, MemoryFacts(), 1.0) == expected


def test_experts_by_hand() -> None:
    """Two of eight experts and a shared one: dispatched input, three values inside, router."""
    sizes = {"num_experts": 8.0, "top_k": 2.0, "num_shared_experts": 1.0}
    record = job(**sizes, expert_ffn_hidden_size=100.0, gated=1.0, hidden_size=64.0)
    expected = 2 * 2 * 64 + 2 * 6 * 100 + 6 * 100 + 8 * 8 + 2 * 64
    assert activations.expert_token_bytes(record, MemoryFacts(), 1.0) == expected


def test_modules_of_latent_attention_and_norms_by_hand() -> None:
    """megatronlm2026, --recompute-modules: what is discarded is not kept, one value at a time."""
    shape = {"hidden_size": 7168.0, "num_attention_heads": 128.0, "q_lora_rank": 1536.0}
    shape |= {"kv_lora_rank": 512.0, "qk_nope_head_dim": 128.0, "qk_rope_head_dim": 64.0}
    record = job(**shape, v_head_dim=128.0)
    facts = MemoryFacts(recompute_up_projection=1.0, recompute_norms=1.0)
    kept = 2 * 2 * (1536 + 512) + 2 * 64 + 2 * 128 * 128
    assert activations.attention_token_bytes(record, facts, 1.0) == kept
    assert activations.feed_forward_token_bytes(record, facts, 1.0) == 2 * 2 * 49152
    alone = MemoryFacts(recompute_mlp=1.0)
    assert activations.feed_forward_token_bytes(record, alone, 1.0) == 2 * 7168


@pytest.mark.parametrize(
    ("sizes", "kept"),
    [
        # Input; queries, values (8 of 64 heads) and attention's result; the gate of 28,672.
        ({}, 2 * (8192 + 8192 + 1024 + 8192 + 28672)),
        # What ranks exchange is kept too, the products in quarters.
        (
            {"tp": 4.0, "sequence_parallel": 1.0},
            2 * (8192 + 8192 + 8192 + 1024 + 8192 + 28672) / 4,
        ),
        # 8-bit products are not known to it.
        ({"fp8": 1.0}, 2 * (8192 + 8192)),
    ],
)
def test_recomputation_by_operation_keeps_every_second_product(
    sizes: dict[str, float], kept: float
) -> None:
    """torchtitan2025, parallelisms/parallelize_llama.py, on Llama 2 70B."""
    shape = {"hidden_size": 8192.0, "ffn_hidden_size": 28672.0, "num_attention_heads": 64.0}
    record = job(**shape, num_query_groups=8.0, gated=1.0, recompute_selective=1.0, **sizes)
    assert layer(record, MemoryFacts(recompute_per_op=1.0)) == kept
    record.recompute_selective = 0.0
    assert layer(record, MemoryFacts(recompute_per_op=1.0)) == layer(record, MemoryFacts()) > kept


def test_half_of_an_experts_values_stays_by_operation() -> None:
    sizes = {"num_experts": 8.0, "top_k": 2.0, "recompute_selective": 1.0}
    record = job(**sizes, expert_ffn_hidden_size=100.0, gated=1.0, hidden_size=64.0)
    found = activations.expert_token_bytes(record, MemoryFacts(recompute_per_op=1.0), 1.0)
    assert found == (2 * 2 * 64 + 2 * 6 * 100 + 8 * 8) / 2


def test_products_alone_are_kept_by_hand() -> None:
    """maxtext2024, remat_policy minimal: gate and up stay, their product does not."""
    facts = MemoryFacts(recompute_norms=1.0, recompute_activation=1.0)
    gated, plain = job(gated=1.0), job()
    assert activations.feed_forward_token_bytes(gated, facts, 1.0) == 2 * 2 * 49152
    assert activations.feed_forward_token_bytes(plain, facts, 1.0) == 2 * 49152


@pytest.mark.parametrize(
    ("module", "kept"),
    [
        ("recompute_expert_activation", 2 * 2 * 64 + 2 * 4 * 100 + 6 * 100 + 8 * 8 + 2 * 64),
        ("recompute_shared_experts", 2 * 2 * 64 + 2 * 6 * 100 + 8 * 8 + 2 * 64),
        ("recompute_experts", 2 * 64),
        ("recompute_norms", 2 * 2 * 64 + 2 * 6 * 100 + 6 * 100 + 8 * 8),
    ],
)
def test_modules_of_experts_by_hand(module: str, kept: int) -> None:
    """The layer of the test above, megatronlm2026, --recompute-modules."""
    sizes = {"num_experts": 8.0, "top_k": 2.0, "num_shared_experts": 1.0}
    record = job(**sizes, expert_ffn_hidden_size=100.0, gated=1.0, hidden_size=64.0)
    assert activations.expert_token_bytes(record, MemoryFacts(**{module: 1.0}), 1.0) == kept


# invariant


@pytest.mark.parametrize("facts", [OLD, MemoryFacts(), MemoryFacts(gathered_inputs=1.0)])
@pytest.mark.parametrize("kind", ["dense", "experts"])
def test_memory_falls_as_tp_grows(facts: MemoryFacts, kind: str) -> None:
    experts = {"num_experts": 8.0, "top_k": 2.0, "expert_ffn_hidden_size": 4096.0}
    sizes = [layer(job(tp=tp, sequence_parallel=1.0, **experts), facts, kind) for tp in (1, 2, 4)]
    assert sizes == sorted(sizes, reverse=True)


def test_recomputation_keeps_inputs_and_works_on_one_layer() -> None:
    record = job(recompute_full=1.0)
    per_token = activations.token_bytes(record, OLD)
    one = stored.layer_token_bytes(record, per_token)
    shared = {"split": 1.0, "boundary": per_token["boundary"], "dense_token": one["dense"]}
    shared |= {"experts_token": 0.0, "mixture_token": 0.0, "again_token": one["again"]}
    shared["checkpoint"] = stored.checkpoint_token_bytes(record, OLD, per_token)
    stage = {"layers": 12.0, "experts": 0.0}
    kept = stored.stored_token_bytes(record, OLD, shared, stage)
    assert kept["layers"] == 0
    assert kept["checkpoints"] == 12 * 2 * 12288
    again = stored.at_work_token_bytes(record, OLD, shared, stage, kept["share"])
    assert again == one["dense"]
    block = stored.stored_token_bytes(
        record, MemoryFacts(flash=0.0, dropout=1.0, recompute_layers=3.0), shared, stage
    )
    assert block["layers"] == pytest.approx(9 * one["dense"], rel=1e-15)
    assert block["checkpoints"] == pytest.approx(3 * 2 * 12288, rel=1e-15)
    uniform = MemoryFacts(flash=0.0, dropout=1.0, recompute_group=4.0)
    shared["checkpoint"] = stored.checkpoint_token_bytes(record, uniform, per_token)
    grouped = stored.stored_token_bytes(record, uniform, shared, stage)
    assert grouped["checkpoints"] == 3 * 2 * 12288
    assert stored.at_work_token_bytes(record, uniform, shared, stage, 1.0) == 4 * one["dense"]


def test_offloaded_layers_wait_on_the_host_but_two() -> None:
    """megatronlm2026, --cpu-offloading-num-layers: 5 of 12 layers away, two of them back."""
    record = job()
    one = stored.layer_token_bytes(record, activations.token_bytes(record, OLD))["dense"]
    facts = MemoryFacts(flash=0.0, dropout=1.0, offloaded_layers=5.0)
    shared = dict.fromkeys(("experts_token", "mixture_token", "checkpoint", "again_token"), 0.0)
    shared["dense_token"] = one
    stage = {"layers": 12.0, "experts": 0.0}
    kept = stored.stored_token_bytes(record, facts, shared, stage)
    assert kept["layers"] == pytest.approx(7 * one, rel=1e-15)
    assert stored.at_work_token_bytes(record, facts, shared, stage, 0.0) == 2 * one
