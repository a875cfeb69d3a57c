"""One number worked out by hand for each formula that the other tests leave a sign free in.

Every record here is made of small whole numbers, so that each sum can be done on paper; the
comment at each shows it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from made import constants, job, memory_facts

from steptime.formulas.baseline import chapter_step, data_parallel_s
from steptime.formulas.memory.stored import checkpoint_token_bytes
from steptime.formulas.messages import tensor
from steptime.formulas.placement import group_spans, link_bytes_per_s, used_per_domain
from steptime.formulas.records import BaselineConstants, Job
from steptime.formulas.roofline.experts import shared_products_s
from steptime.formulas.roofline.shards import routed_layer_parameters, shared_layer_parameters
from steptime.formulas.roofline.sharing import stage_parameters
from steptime.formulas.schedule import SCHEDULES

GIGA = 1e9


def record(**changed: float) -> Job:
    """Return a mixture of 6 layers, 2 of them dense, on 64 devices."""
    numbers = {
        **{"num_layers": 6.0, "num_dense_layers": 2.0, "hidden_size": 1000.0, "gated": 1.0},
        **{"num_attention_heads": 2.0, "num_query_groups": 1.0, "head_dim": 4.0},
        **{"ffn_hidden_size": 10.0, "vocab_size": 100.0},
        **{"num_experts": 8.0, "top_k": 2.0, "expert_ffn_hidden_size": 500.0},
        **{"seq_length": 1024.0, "micro_batch_size": 1.0, "global_batch_size": 128.0},
        **{"pp": 2.0, "dp": 32.0, "ep": 4.0, "etp": 4.0},
        **{"nvlink_domain": 8.0, "nvlink_bytes_per_s": 100 * GIGA},
        **{"network_bytes_per_s": GIGA, "peak_flop_per_s": 1.0, "hbm_bytes_per_s": 1.0},
    }
    return job(**(numbers | changed))


LATENCY = BaselineConstants(eta=1.0, latency_s=1e-6)
# A byte a second of memory is a byte a second, and nothing hides at a price.
WHOLE = constants(hbm_efficiency=1.0, contention=0.0)


# --- by hand: the baseline's experts


@pytest.mark.parametrize(
    ("ep", "etp", "bytes_per_s"),
    [
        # An expert group of 4 x 4 devices is over the domain of 8.
        (4.0, 4.0, GIGA),
        # 8 x 1 and 4 x 2 just fit; 4 x 1 does easily.
        (8.0, 1.0, 100 * GIGA),
        (4.0, 2.0, 100 * GIGA),
        (4.0, 1.0, 100 * GIGA),
        (16.0, 1.0, GIGA),
    ],
)
def test_an_exchange_of_tokens_by_hand(ep: float, etp: float, bytes_per_s: float) -> None:
    # Two experts a token: 2 x 1024 tokens x 1000 numbers x 2 bytes = 4.096 MB, of which all
    # but an ep-th goes out, with ep - 1 latencies. 128 / 32 = 4 micro-batches, 4 mixture layers
    # on 2 stages, 4 exchanges each: 32 in all.
    one = 4.096e6 * (ep - 1) / ep / bytes_per_s + (ep - 1) * 1e-6
    parts = chapter_step(record(ep=ep, etp=etp), LATENCY)
    assert parts["expert_parallel"] == pytest.approx(32 * one)


def test_the_gradients_of_experts_by_hand() -> None:
    # 4 layers x 8 experts x 3 x 1000 x 500 = 48e6 parameters more for each 500 of width, over
    # 4 x 4 x 2 devices at 2 bytes: 3 MB. 32 ranks hold them 32 / 16 = 2 times: an all-reduce of
    # two sends its whole size once, 3 ms, and 2 latencies.
    narrow = data_parallel_s(record(), LATENCY, GIGA)
    wide = data_parallel_s(record(expert_ffn_hidden_size=1000.0), LATENCY, GIGA)
    assert wide - narrow == pytest.approx(3e-3)
    # 16 ranks or fewer hold each expert once, and have nobody to add its gradients up with.
    for dp in (16.0, 8.0):
        one = data_parallel_s(record(dp=dp), LATENCY, GIGA)
        assert data_parallel_s(record(dp=dp, expert_ffn_hidden_size=1000.0), LATENCY, GIGA) == one
    without = data_parallel_s(record(num_experts=0.0, num_dense_layers=6.0), LATENCY, GIGA)
    dense = data_parallel_s(record(num_experts=0.0, ffn_hidden_size=1010.0), LATENCY, GIGA)
    # 6 layers x 3 x 1000 x 1000 more, over 2 stages at 2 bytes: 18 MB, 31/32 of it twice.
    assert dense - without == pytest.approx(2 * 31 / 32 * 18e-3)


# --- by hand: what tensor parallelism sends


def test_messages_of_tensor_parallelism_by_hand() -> None:
    # 2 sequences x 3 tokens x 5 wide x 4 bytes = 120; one number a token: 24.
    sizes = (2.0, 3.0, 5.0, 4.0)
    named = {
        tensor.tensor_block: [("forward", 1.0, 120.0), ("backward", 1.0, 120.0)],
        tensor.recomputed_block: [("backward", 1.0, 120.0)],
        tensor.vocabulary_embedding: [("forward", 1.0, 120.0)],
        tensor.vocabulary_loss: [("forward", 3.0, 24.0), ("backward", 1.0, 120.0)],
    }
    for formula, wanted in named.items():
        lines = formula(*sizes)
        assert [(line["phase"], line["count"], line["bytes"]) for line in lines] == wanted
        assert {(line["kind"], line["axis"]) for line in lines} == {("all_reduce", "tp")}


def test_keys_and_values_that_devices_share_by_hand() -> None:
    # A matrix of 5 x 7 in 4 bytes, for keys and for values, where 4 devices share 2 heads.
    for tp, count in ((4.0, 2.0), (2.0, 0.0), (1.0, 0.0)):
        (line,) = tensor.shared_heads(tp, 2.0, 5.0, 7.0, 4.0)
        assert (line["count"], line["bytes"], line["axis"]) == (count, 140.0, "tp_copies")


# --- by hand: parameters and products of the roofline model


def test_shared_experts_by_hand() -> None:
    # Endless arithmetic and a byte a second of memory: the seconds are the bytes. 10 tokens,
    # 4 wide, 2 shared experts of 3, cut in two. Up and gate: 10 x 4 and 4 x 6 in, 10 x 6 out,
    # 124 numbers; down: 10 x 3 and 3 x 4 in, 10 x 4 out, 82. Two bytes each.
    one = record(num_shared_experts=2.0, expert_ffn_hidden_size=3.0, hidden_size=4.0, tp=2.0)
    assert shared_products_s(one, WHOLE, 10.0, 1e300) == 2 * 124 + 2 * 82
    one = replace(one, num_shared_experts=0.0)
    assert shared_products_s(one, WHOLE, 10.0, 1e300) == 0.0


def test_parameters_of_a_stage_by_hand() -> None:
    # Dense, 8 wide: attention takes (2 + 2) x 4 in and 2 x 4 back, the network 3 x 10: 54 wide,
    # 432 parameters, half on each of 2 devices: 216. The vocabulary has 100 x 8, half of it.
    dense = record(num_experts=0.0, hidden_size=8.0, tp=2.0)
    assert shared_layer_parameters(dense) == 216.0
    assert routed_layer_parameters(dense) == 0.0
    assert stage_parameters(dense, 3.0) == {"shared": 3 * 216 + 400, "routed": 0.0}
    # In DualPipe a rank holds its mirror's stage too.
    dense = replace(dense, schedule=float(SCHEDULES.index("dualpipe")))
    assert stage_parameters(dense, 3.0)["shared"] == 2 * (3 * 216 + 400)
    # 4 of 6 layers are mixtures: on average 2/3 of (1 shared expert of 5) and 1/3 of 10 wide.
    mixture = record(hidden_size=8.0, num_shared_experts=1.0, expert_ffn_hidden_size=5.0)
    assert shared_layer_parameters(mixture) == pytest.approx((24 + 3 * (10 / 3 + 10 / 3)) * 8)
    # 8 experts of 3 x 5 x 8 = 120 over 16 devices, in 2/3 of the layers: 40.
    assert routed_layer_parameters(mixture) == pytest.approx(40.0)
    # 24 + 3 x 20/3 = 44 wide, 352 parameters: 3 layers of it and a vocabulary of 800.
    wanted = {"shared": 3 * 352 + 800, "routed": 3 * 40}
    assert stage_parameters(mixture, 3.0) == pytest.approx(wanted)


# --- by hand: memory


def test_checkpoints_by_hand() -> None:
    # A layer's input of 24 bytes a token, once in two layers; in slices over 4 of tp, of which
    # 2 are split already.
    per_token = {"boundary": 24.0, "split": 2.0}
    for sliced, group, wanted in ((0.0, 1.0, 24.0), (0.0, 2.0, 12.0), (1.0, 1.0, 12.0)):
        facts = memory_facts(sliced_checkpoints=sliced, recompute_group=group)
        assert checkpoint_token_bytes(record(tp=4.0), facts, per_token) == wanted


# --- by hand: placement


@pytest.mark.parametrize(
    ("domain", "tp", "cp", "experts", "inside", "used"),
    [
        # 72 devices hold four blocks of 16, and 8 stay idle; blocks of 8 fill them.
        (72.0, 8.0, 2.0, 1.0, 0.0, 64.0),
        (72.0, 8.0, 1.0, 1.0, 0.0, 72.0),
        # Experts count only where data-parallel ranks are neighbours.
        (72.0, 8.0, 1.0, 64.0, 0.0, 72.0),
        (72.0, 8.0, 1.0, 64.0, 1.0, 64.0),
        # 16 and 24 have neither in the other: blocks of 384 do not fit, so those of 16 count.
        (72.0, 8.0, 2.0, 24.0, 1.0, 64.0),
        # 6 and 4: blocks of 24.
        (30.0, 6.0, 1.0, 4.0, 1.0, 24.0),
        # 12 does not fit in 10, 3 does; 11 does not fit at all.
        (10.0, 3.0, 4.0, 1.0, 0.0, 9.0),
        (10.0, 11.0, 1.0, 1.0, 0.0, 10.0),
    ],
)
def test_devices_in_use_by_hand(
    domain: float, tp: float, cp: float, experts: float, inside: float, used: float
) -> None:
    assert used_per_domain(domain, tp, cp, experts, inside) == used


def test_spans_by_hand() -> None:
    # t 2, c 3, p 5, d 7: 210 devices.
    sizes = {"tp": 2.0, "cp": 3.0, "pp": 5.0, "dp": 7.0, "ep": 1.0, "etp": 1.0}
    far = group_spans(record(**sizes))
    assert far == {"tensor": 2, "context": 6, "expert": 1, "pipeline": 30, "data": 210}
    near = group_spans(record(**sizes, data_inside=1.0))
    assert near == {"tensor": 2, "context": 6, "expert": 1, "pipeline": 210, "data": 42}
    assert group_spans(record(**sizes | {"dp": 1.0}))["data"] == 6
    # Experts on 6 of 6 neighbours; on 42, all of a stage, which leaps over 5 stages; on 4, which
    # divides not.
    for ep, etp, span in ((3.0, 2.0, 6.0), (21.0, 2.0, 210.0), (2.0, 2.0, 210.0)):
        experts = sizes | {"ep": ep, "etp": etp}
        assert group_spans(record(**experts))["expert"] == span
        assert group_spans(record(**experts, data_inside=1.0))["expert"] == ep * etp


def test_the_link_of_each_kind_by_hand() -> None:
    # t 4, c 2, p 2, d 2 on 32 devices, 8 in a domain: t c just fit; stages and data do not.
    one = record(tp=4.0, cp=2.0, pp=2.0, dp=2.0, ep=2.0, etp=1.0)
    near, far = one.nvlink_bytes_per_s, one.network_bytes_per_s
    wanted = {"tensor": near, "context": near, "expert": near, "pipeline": far, "data": far}
    assert link_bytes_per_s(one) == wanted
    # Alone, a stage and a copy send nothing, and get NVLink's rate.
    one = replace(one, pp=1.0, dp=1.0)
    assert set(link_bytes_per_s(one).values()) == {near}
    # 16 devices of one tensor group over two domains; who is alone in a group sends nothing.
    one = replace(one, tp=16.0, cp=1.0, ep=1.0)
    wanted = {"tensor": far, "context": near, "expert": near, "pipeline": near, "data": near}
    assert link_bytes_per_s(one) == wanted


def test_experts_over_half_a_stage_leap_over_the_other_stages() -> None:
    # 2 neighbours a stage, 4 stages, 8 copies: ranks 0, 1, 8, 9, 16, 17, 24 and 25 exchange
    # tokens, within 32 neighbours of 64.
    one = record(tp=2.0, cp=1.0, pp=4.0, dp=8.0, ep=8.0, etp=1.0)
    assert group_spans(one)["expert"] == 32.0
