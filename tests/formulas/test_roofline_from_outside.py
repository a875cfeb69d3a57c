"""Parts of the roofline model by hand, and widths that papers print.

The device moves 1,000 bytes a second, half of which is reached; NVLink has 100, the network 10,
likewise; two devices share a domain. A hop takes a second; a quarter of what hides shows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from made import constants, job, small_job, time_facts

from steptime.answer import predict
from steptime.formulas.parameters import attention_parameters
from steptime.formulas.roofline import (
    attention,
    context,
    elementwise,
    exchanges,
    experts,
    layer,
    links,
    matmul,
    modules,
    rates,
    shards,
    sharing,
    stages,
    tensor,
)
from steptime.formulas.roofline.step import layer_parts, roofline_step
from steptime.formulas.schedule import SCHEDULES
from steptime.inputs.constants import published_constants

HALF = constants()
ENDLESS = {"hbm_bytes_per_s": 1e300}
"""Memory that costs nothing, so that only arithmetic counts."""
DUALPIPE = float(SCHEDULES.index("dualpipe"))
# deepseek2024, Sec. 4.2.
LATENT = {
    **{"hidden_size": 7168.0, "num_attention_heads": 128.0, "q_lora_rank": 1536.0},
    **{"kv_lora_rank": 512.0, "qk_nope_head_dim": 128.0, "qk_rope_head_dim": 64.0},
    "v_head_dim": 128.0,
}


# ---- published: widths


def test_widths_of_deepseek_v3() -> None:
    # deepseek2024, Sec. 4.2: 128 heads, 128 + 64 wide for scores and 128 for values.
    one = job(**LATENT)
    assert attention.query_width(one) == 128 * 192
    assert attention.output_width(one) == 128 * 128
    assert attention.scores_width(one) == 128 * (192 + 128)
    # As one product it has the parameters of the chain of small ones.
    inputs = attention_parameters(one) - 128 * 128 * 7168
    assert layer.input_outputs(one) * 7168 == pytest.approx(inputs, rel=1e-12)
    assert context.key_heads(job(**LATENT, tp=8.0)) == 16.0


def test_queries_that_are_not_compressed_are_multiplied_all_the_same() -> None:
    # deepseek2024v2, Appendix B: 2048 wide, 16 heads, keys and values alone of rank 512.
    one = job(**LATENT | {"hidden_size": 2048.0, "num_attention_heads": 16.0, "q_lora_rank": 0.0})
    queries, keys_values = 2048 * 16 * 192, 2048 * (512 + 64) + 512 * 16 * 256
    assert layer.input_outputs(one) * 2048 == pytest.approx(queries + keys_values, rel=1e-12)
    assert attention_parameters(one) == queries + keys_values + 16 * 128 * 2048


def test_widths_of_a_plain_layer() -> None:
    # Two heads of 4, one of keys and values: 2 x 4 out, (2 + 2) x 4 in.
    assert attention.output_width(small_job()) == 8.0
    assert attention.scores_width(small_job()) == 16.0
    assert layer.input_outputs(small_job()) == 16.0
    # Ranks beyond the heads of keys and values hold copies.
    heads = [context.key_heads(job(num_query_groups=8.0, tp=tp)) for tp in (1.0, 4.0, 16.0)]
    assert heads == [8.0, 2.0, 1.0]


def test_attention_goes_back_at_two_and_a_half_times() -> None:
    # dao2023, Sec. 4.1: five products backward for two forward.
    stack = time_facts(flash=1.0, attention_flop_per_s=100.0)
    found = layer.core_s(small_job(seq_length=16.0), stack, HALF, 16.0)
    assert found["backward"] == 2.5 * found["forward"] > 0.0


# ---- a sum on paper: products


def test_the_roof_by_hand() -> None:
    assert matmul.roof_s(HALF, 3.0, 2.0) == matmul.roof_s(HALF, 2.0, 3.0) == 3.5


def test_products_of_a_network_by_hand() -> None:
    # 2 (m n) (k + 64) at 100 FLOP a second. Backward of 2 x 4 by 4 x 3: 2 x 8 x 67 for the input,
    # 2 x 12 x 66 for the weight.
    one = small_job(**ENDLESS)
    assert matmul.gradient_products_s(one, HALF, 2.0, 3.0, 4.0, 100.0) == pytest.approx(26.56)
    # Two tokens, 8 wide, twice 10 inside: 2 x 40 x 72 up, 2 x 16 x 74 down.
    assert experts.dense_forward_s(one, HALF, 2.0, 100.0) == pytest.approx(81.28)
    # 2 x 16 x 84 + 2 x 160 x 66 and 2 x 20 x 72 + 2 x 80 x 66.
    assert experts.dense_backward_s(one, HALF, 2.0, 100.0) == pytest.approx(372.48)


def test_rates_that_are_left() -> None:
    assert rates.step_share(time_facts(power_scale=0.5), HALF) == 0.25
    # bekman2024: 8 bits measured at 1.77 times 16; without that the data sheet's twice, or once.
    assert rates.gain(1.77, 1.0, 2.0, 1.0) == 1.77
    assert rates.gain(0.0, 1.0, 2.0, 1.0) == 2.0
    assert rates.gain(0.0, 1.0, 0.0, 1.0) == 1.0


def test_traffic_beside_products() -> None:
    # A token moves 20 x 8, then 4 x (8 + 8) to place heads and 6 x 10 at the gate; going back
    # 24 x 8, 64 and 10 x 10. Three tokens at 500 a second.
    found = layer.elementwise_s(small_job(), time_facts(), HALF, 3.0)
    assert found["forward"] == pytest.approx(3 * 284 / 500)
    assert found["backward"] == pytest.approx(3 * 356 / 500)


def test_adding_gradients_up() -> None:
    # A gradient of 2 bytes is read, a sum of 4 read and written: 10 bytes each.
    stack = time_facts(sent_gradient_bytes=4.0)
    one = small_job()
    assert elementwise.accumulation_s(one, stack, HALF, 50.0, 2.0) == 1.0
    assert elementwise.accumulation_s(one, stack, HALF, 50.0, 1.0) == 0.0
    fused = time_facts(sent_gradient_bytes=4.0, fused_accumulation=1.0)
    assert elementwise.accumulation_s(one, fused, HALF, 50.0, 2.0) == 0.0


@pytest.mark.parametrize(("layers", "share"), [(0.0, 1.0), (1.0, 0.5), (2.0, 1.0), (3.0, 1.0)])
def test_layers_that_run_again(layers: float, share: float) -> None:
    # Four layers on two stages: two each.
    stack = time_facts(recompute_layers=layers)
    assert modules.full_share(small_job(pp=2.0, recompute_full=1.0), stack) == share
    assert modules.full_share(small_job(pp=2.0), stack) == 0.0


def test_tokens_of_a_device() -> None:
    assert layer.tokens_per_device(job(micro_batch_size=2.0, seq_length=16.0, cp=4.0)) == 8.0


# ---- a sum on paper: links


def test_an_exchange_inside_and_beyond_a_domain() -> None:
    # Of 80 bytes on 4 ranks 20 go to the neighbour, 40 beyond: 8 s at 5 a second, and a hop.
    one = small_job()
    assert links.all_ranks_exchange_s(one, HALF, 80.0, 4.0, 2.0) == 9.0
    assert links.all_ranks_exchange_s(one, HALF, 80.0, 1.0, 1.0) == 0.0


def test_what_shows_beside_work() -> None:
    # Of 10 s, 6 may hide, behind work of 4: 4 + 2 show, and a quarter of 4.
    assert links.beside_s(HALF, 10.0, 0.6, 4.0) == 7.0


def test_keys_and_values_round_a_ring_or_at_once() -> None:
    # 120 bytes on 4 ranks, 2 in a domain: 90 at 5 a second and three hops; gathered, 60 leave the
    # domain over two adapters at 10 a second, and three hops.
    one = small_job(cp=4.0)
    assert context.moved_s(one, time_facts(cp_ring=1.0), HALF, 120.0, 1.0) == 21.0
    assert context.moved_s(one, time_facts(cp_ring=0.0), HALF, 120.0, 1.0) == 9.0


def test_tokens_turned_into_heads() -> None:
    # 8 tokens a rank: 8 + 8 numbers of queries and result, 8 + 8 of keys and values, which have a
    # copy of their only head on each: 512 bytes, of which half leaves; and a hop.
    one = small_job(cp=2.0, micro_batch_size=1.0, seq_length=16.0)
    assert context.heads_s(one, HALF, 2.0) == pytest.approx(256 / 50 + 1)


def test_links_of_an_exchange_by_hand() -> None:
    # lepikhin2020: each copy by itself. Two experts a token on 4 ranks in 2 domains: one copy
    # stays near, of which half moves, 50 of 100 bytes at 50 a second; both may leave, 100 at 5.
    stack = time_facts(plain_exchange=1.0)
    one = small_job(ep=4.0, top_k=2.0)
    assert exchanges.links_s(one, stack, HALF, 100.0, 1.0) == {"near": 1.0, "far": 20.0}
    assert exchanges.quickest_links_s(one, stack, HALF, 100.0) == 20.0


def test_a_domain_that_is_slower_than_its_network_is_not_used() -> None:
    # Four ranks in a domain: 150 bytes at 50 a second. By a network of 500: 150 of them too.
    stack = time_facts(plain_exchange=1.0)
    one = small_job(ep=4.0, top_k=2.0, nvlink_domain=4.0, network_bytes_per_s=1000.0)
    assert exchanges.links_s(one, stack, HALF, 100.0, 1.0) == {"near": 3.0, "far": 0.0}
    assert exchanges.quickest_links_s(one, stack, HALF, 100.0) == pytest.approx(0.3)


# ---- a sum on paper: sharing and stages


def test_where_stages_cross_servers() -> None:
    assert layer.crosses_servers(small_job(pp=2.0)) == 0.0
    assert layer.crosses_servers(small_job(pp=2.0, tp=2.0)) == 1.0
    assert layer.crosses_servers(small_job(tp=4.0)) == 0.0


def test_ranks_that_are_near() -> None:
    # Of eight ranks two share a domain; DualPipe's mirrors lie at the other end.
    one = small_job(pp=2.0, dp=4.0)
    assert shards.near_ranks(one, 8.0, 1.0) == 2.0
    mirrored = small_job(pp=2.0, dp=1.0, nvlink_domain=1.0, schedule=DUALPIPE)
    assert shards.near_ranks(mirrored, 2.0, 1.0) == 1.0
    assert shards.near_ranks(small_job(pp=2.0, dp=1.0, schedule=DUALPIPE), 2.0, 1.0) == 2.0


def test_hops_of_buckets() -> None:
    # Four ranks in two domains. 40 parameters of 4 bytes in buckets of 40: four of them pass two
    # domains; new weights of 2 bytes, two.
    stack = time_facts(sent_gradient_bytes=4.0, bucket_bytes=40.0)
    one: Any = {"shared": 30.0, "routed": 10.0}
    assert sharing.hops_s(small_job(dp=4.0), stack, HALF, one, 0.0) == 8.0
    assert sharing.hops_s(small_job(dp=4.0, zero_stage=1.0), stack, HALF, one, 1.0) == 4.0
    assert sharing.hops_s(small_job(dp=4.0, zero_stage=2.0), stack, HALF, one, 0.0) == 0.0
    assert sharing.hops_s(small_job(dp=2.0), stack, HALF, one, 0.0) == 0.0


def test_edges_of_full_sharding() -> None:
    # rajbhandari2020, Sec. 7: first weights and last gradients hide behind nothing. A layer has
    # 432 parameters of 2 bytes: on two ranks 432 at 50 a second and a hop, gathered twice.
    stack = time_facts(sent_gradient_bytes=2.0)
    rounds: Any = {"forward": 1.0, "backward": 1.0, "scatter": 0.0}
    one = small_job(dp=2.0, zero_stage=3.0)
    assert sharing.edges_s(one, stack, HALF, rounds) == pytest.approx(2 * (432 / 50 + 1))
    assert sharing.edges_s(small_job(dp=2.0, zero_stage=1.0), stack, HALF, rounds) == 0.0


def test_the_rank_with_the_head() -> None:
    # deepseek2024, Sec. 3.2.1: half of the micro-batches pass the first stage, half the last.
    cut: Any = {"first": 4.0, "middle": 4.0, "last": 2.0}
    plain = stages.end_rank(job(pp=2.0), cut)
    assert plain == {"layers": 2.0, "heads": 1.0, "embeddings": 0.0, "others": 1.0}
    both = stages.end_rank(job(pp=2.0, schedule=DUALPIPE), cut)
    assert both == {"layers": 3.0, "heads": 0.5, "embeddings": 0.5, "others": 0.0}


def test_chunks_longer_than_their_share() -> None:
    # Nine layers on two stages of two chunks: chunks of 3 pace 12, a stage alone 10.
    assert stages.longer_chunks(job(num_layers=9.0, pp=2.0, vpp=2.0)) == pytest.approx(1.2)
    assert stages.longer_chunks(job(num_layers=8.0, pp=2.0, vpp=2.0)) == 1.0


def test_what_a_stage_does_waits_for_its_longest_chunk() -> None:
    # Nine layers on two stages: of one chunk the longer runs 5, of two chunks of 3 it runs 6.
    # Ranks wait for half as long, as a chunk is half of a stage; what is shared stays.
    asked = {"model": "mixtral-8x7b", "accelerator": "h100", "seq_length": 4096}
    sizes = {"global_batch_size": 64, "tp": 2, "cp": 2, "pp": 2, "ep": 2, "dp": 2}
    found = predict(**asked, **sizes, micro_batch_size=1, recompute="full")
    whole = replace(found.step.job(), num_layers=9.0)
    chunks = {"vpp": 2.0, "schedule": float(SCHEDULES.index("interleaved-1f1b"))}
    hopper = published_constants().of("hopper")
    one, two = (
        roofline_step(record, found.software.time, hopper)
        for record in (whole, replace(whole, **chunks))
    )
    names = ("compute", "recompute", "tensor_parallel", "context_parallel", "expert_parallel")
    assert min(one[name] for name in names) > 0.0  # type: ignore[literal-required]
    # 64 sequences over two copies: 32 micro-batches of 5 layers.
    again = layer_parts(whole, found.software.time, hopper, 32.0)["recompute"]
    assert one["recompute"] == pytest.approx(32.0 * 5.0 * again, rel=1e-12)
    longer = {name: 1.2 for name in names} | {"bubble": 0.6, "data_parallel": 1.0}
    for name, factor in longer.items():
        assert two[name] == pytest.approx(factor * one[name], rel=1e-12), name  # type: ignore[literal-required]


def test_chunks_that_land_in_buffers() -> None:
    # torch2026, _symmetric_memory: before a gather of 400 bytes each of four ranks copies its 100
    # twice, read and written, 400; after a scatter the 400 that landed are read and 100 written.
    # Two of either a pass, at 500 bytes a second.
    one = small_job(tp=4.0, nvlink_domain=4.0, sequence_parallel=1.0)
    copied = time_facts(overlap_tp=1.0, tp_chunk_copies=1.0)
    wanted = {"gathers": 2 * 400 / 500, "scatters": 2 * 500 / 500}
    assert tensor.landed_s(one, copied, HALF, 400.0, 400.0) == wanted
    for stack in (time_facts(overlap_tp=1.0), time_facts(tp_chunk_copies=1.0)):
        assert set(tensor.landed_s(one, stack, HALF, 400.0, 400.0).values()) == {0.0}
