"""Terms that larger ones hide from tests of whole steps, on paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made import constants, job, memory_facts, small_job, time_facts

from steptime.formulas.memory.activations import sequence_split, token_bytes
from steptime.formulas.memory.stages import mixed_rank
from steptime.formulas.memory.states import whole_terms
from steptime.formulas.number import taken
from steptime.formulas.roofline import attention, layer, modules, stages
from steptime.formulas.roofline.context import context_s
from steptime.formulas.roofline.exchanges import quickest_links_s
from steptime.formulas.roofline.tensor import tensor_s
from steptime.formulas.roofline.vocabulary import vocabulary_s
from steptime.formulas.schedule import SCHEDULES

FREE = constants(hop_s=0.0, contention=0.0)


def test_inputs_that_stay_gathered_are_kept_beside_the_norms() -> None:
    """korthikanti2022: two inputs of 16 bits, 4 bytes a value, of which 3 of 4 ranks' are new."""
    cut = job(hidden_size=8.0, tp=4.0, sequence_parallel=1.0)
    assert sequence_split(cut) == 4.0
    norms = [
        token_bytes(cut, memory_facts(norm_input_bytes=2.0, gathered_inputs=kept))["norms"]
        for kept in (0.0, 1.0)
    ]
    assert norms[1] - norms[0] == 4.0 * 8.0 * 3.0 / 4.0


def test_a_dense_model_has_no_rank_with_leading_dense_layers() -> None:
    cut = small_job(num_layers=9.0, pp=4.0, first_stage_layers=1.0, num_dense_layers=9.0)
    shared: Any = {"dense_layers": 9.0}
    # None of its layers is counted as leading, so the first rank between the ends is the one.
    assert mixed_rank(cut, shared) == 1.0
    # Of experts, layers 2 to 9 are eight over three ranks: 3, 3 and 2, the last one at its end.
    assert mixed_rank(replace(cut, num_experts=4.0), shared) == 3.0


@pytest.mark.parametrize(("dp", "shared"), [(1.0, 0.0), (4.0, 1.0)])
def test_parameters_that_no_rank_shares_out_are_never_gathered(dp: float, shared: float) -> None:
    cut = small_job(dp=dp, num_experts=4.0, zero_stage=3.0)
    found = whole_terms(cut, memory_facts(weight_bytes=2.0, gradient_bytes=4.0))
    assert (found["shared"], found["routed_shared"]) == (shared, shared)


def test_a_place_before_a_table_is_its_first_entry() -> None:
    assert [taken([5.0, 6.0, 7.0], float(place)) for place in (-2, -1, 0, 1, 2, 3)] == [
        *(5.0, 5.0, 5.0, 6.0, 7.0, 7.0)
    ]
    assert np.array_equal(taken([5.0, 6.0], np.array([-1.0, 0.0, 1.0, 9.0])), [5.0, 5.0, 6.0, 6.0])


@pytest.mark.parametrize(
    ("flash", "tokens", "share"),
    # A kernel that stores none, one that does, and three in ten of unnamed software's; no kernel
    # that stores scores goes on for sequences over 16,384 tokens.
    [(1.0, 10.0, 1.0), (0.0, 10.0, 0.0), (0.3, 10.0, 0.3), (0.3, 16385.0, 1.0), (0.0, 1e6, 0.0)],
)
def test_the_share_of_software_that_stores_no_scores(
    flash: float, tokens: float, share: float
) -> None:
    assert attention.flash_share(small_job(seq_length=tokens), time_facts(flash=flash)) == share


def test_stored_scores_by_hand() -> None:
    """A head of 4, so no tensor cores in full; of 2 heads one is here. Traffic takes nothing."""
    rich = small_job(seq_length=20.0, tp=2.0, hbm_bytes_per_s=1e30)
    found = attention.stored_s(rich, time_facts(), FREE, 10.0, 100.0)
    # Two products of 10 x 20 x 4 x 2 FLOP; a sum of 4 takes 64 more to fill: 17 times.
    forward = 2 * (2 * 10 * 20 * 4) / 100.0 * 17.0 * attention.WITHOUT_TENSOR_CORES
    assert found["forward"] == pytest.approx(forward)
    assert found["backward"] == pytest.approx(2.0 * forward)
    # Heads of 8 and of 16 are multiples of eight; 12 is none.
    rates = {}
    for width in (8.0, 12.0, 16.0):
        one = attention.stored_s(replace(rich, head_dim=width), time_facts(), FREE, 10.0, 100.0)
        rates[width] = one["forward"] / (2 * 2 * 10 * 20 * width / 100.0 * (1.0 + 64.0 / width))
    assert rates[8.0] == rates[16.0] == pytest.approx(1.0)
    assert rates[12.0] == pytest.approx(attention.WITHOUT_TENSOR_CORES)
    # Without arithmetic: 4 bytes and 3 for each of 10 x 20 scores of the head, at 500 a second.
    poor = small_job(seq_length=20.0, tp=2.0, head_dim=8.0)
    found = attention.stored_s(poor, time_facts(), FREE, 10.0, 1e30)
    assert found["forward"] == pytest.approx(7 * 10 * 20 / 500.0)
    dropped = attention.stored_s(poor, time_facts(dropout=1.0), FREE, 10.0, 1e30)
    assert dropped["forward"] == pytest.approx(12 * 10 * 20 / 500.0)


def test_a_ring_of_half_the_ranks_hides_behind_half_of_its_blocks() -> None:
    """Four ranks, two of them share heads: a ring of two, which hides behind one block of two."""
    wide = small_job(cp=4.0, nvlink_domain=8.0, seq_length=20.0, micro_batch_size=1.0)
    core = {"forward": 2.0, "backward": 4.0}
    shown, hidden = (
        context_s(
            wide,
            time_facts(cp_ring=1.0, cp_head_ranks=2.0, cp_gradient_bytes=2.0, overlap_cp=overlaps),
            FREE,
            core,
        )
        for overlaps in (0.0, 1.0)
    )
    assert shown["forward"] - hidden["forward"] == pytest.approx(2.0 / 2.0)
    assert shown["backward"] - hidden["backward"] == pytest.approx(4.0 / 2.0)


def test_one_domain_used_as_two_by_hand() -> None:
    """Four ranks on 100 bytes a second, halved, with all copies and no routing groups.

    As one domain three quarters of 2 copies of 1000 bytes go over NVLink. As two, both copies
    reach both halves; of a rank's own half one of two ranks, and as much again crosses.
    """
    near = small_job(ep=4.0, nvlink_domain=4.0, num_experts=4.0, top_k=2.0)
    near = replace(near, network_bytes_per_s=1e9)
    facts = time_facts(plain_exchange=1.0)
    found = [
        quickest_links_s(replace(near, nvlink_domain=domain), facts, FREE, 1000.0)
        for domain in (4.0, 2.0, 1.0)
    ]
    # A domain of two is what one of four can be used as, and one of one too.
    assert found[0] == pytest.approx(min(found))
    assert found[0] < 3 / 4 * 2 * 1000 / 50.0


def test_products_of_a_tensor_parallel_rank_by_hand() -> None:
    """Half of 16 outputs in, half of 8 inputs back; half of a network of 10, gated."""
    rich = small_job(tp=2.0, hbm_bytes_per_s=1e30)
    found = layer.products_s(rich, time_facts(), FREE, 10.0)
    # Every sum takes 64 more values to fill; half of 100 FLOP a second.
    into, back = 10 * 8 * (8 + 64), 10 * 8 * (4 + 64)
    assert found["attention_forward"] == pytest.approx(2 * (into + back) / 50.0)


def test_experts_that_run_again_come_on_top_of_norms() -> None:
    facts: dict[str, Any] = {"recompute_norms": 1.0, "recompute_experts": 1.0}
    cut = small_job(num_experts=4.0, top_k=2.0, num_layers=4.0, micro_batch_size=1.0)
    cut = replace(cut, seq_length=10.0)
    both, norms, experts = (
        modules.modules_again_s(cut, time_facts(**chosen), FREE, 10.0)
        for chosen in (facts, {"recompute_norms": 1.0}, {"recompute_experts": 1.0})
    )
    assert norms > 0.0
    assert experts > 0.0
    assert both == pytest.approx(norms + experts)


@pytest.mark.parametrize(
    ("layers", "counts", "cut"),
    [
        # 14 and two ends are four chunks of 4, two a stage: 8 layers, and one less at the end.
        (14.0, 1.0, (8.0, 8.0, 7.0)),
        # 126 layers and two ends over 16 stages are even; software that counts no ends has 8.
        (126.0, 1.0, (8.0, 8.0, 7.0)),
        (126.0, 0.0, (8.0, 8.0, 7.0)),
        # 30 and two ends: 8 each, and one less at the end; without: 8, and 7 at the end.
        (30.0, 1.0, (8.0, 8.0, 7.0)),
        # 32 are even by themselves, whether ends count or not.
        (32.0, 1.0, (8.0, 8.0, 8.0)),
        (32.0, 0.0, (8.0, 8.0, 8.0)),
        # 14 alone are two stages of 7.
        (14.0, 0.0, (7.0, 7.0, 7.0)),
    ],
)
def test_the_longest_chunks_of_a_rank(
    layers: float, counts: float, cut: tuple[float, float, float]
) -> None:
    ranks, chunks = {126.0: (16.0, 1.0), 14.0: (2.0, 2.0)}.get(layers, (4.0, 1.0))
    asked = small_job(num_layers=layers, pp=ranks, vpp=chunks)
    found = stages.longest(asked, time_facts(edges_count=counts))
    assert (found["first"], found["middle"], found["last"]) == cut


@pytest.mark.parametrize(("name", "layers"), [("1f1b", 2.0), ("v-half", 5.0)])
def test_a_v_comes_back_to_the_first_rank(name: str, layers: float) -> None:
    cut = small_job(num_layers=10.0, pp=4.0, first_stage_layers=5.0, last_stage_layers=2.0)
    cut = replace(cut, schedule=float(SCHEDULES.index(name)))
    found = stages.longest(cut, time_facts())
    assert stages.end_rank(cut, found)["layers"] == layers


def test_chunks_that_land_are_copied_in_gathers_and_in_scatters() -> None:
    """Eight ranks on a fast link: what shows is what memory moves for the chunks."""
    cut = small_job(tp=8.0, nvlink_domain=8.0, sequence_parallel=1.0, nvlink_bytes_per_s=1e30)
    products: Any = dict.fromkeys(("forward", "backward", "attention_forward"), 1.0)
    copied = time_facts(overlap_tp=1.0, tp_chunk_copies=1.0)
    found = tensor_s(cut, copied, FREE, 10.0, products | {"down_forward": 1.0})
    # 10 x 8 values of 2 bytes. Two gathers copy a rank's slice twice, read and written; two
    # scatters read all and write a slice.
    size = 10 * 8 * 2
    assert found["tensor"] == pytest.approx((2 * 4 * size / 8 + 2 * (size + size / 8)) / 500.0)


@pytest.mark.parametrize(
    ("layers", "pp", "counts", "shown"),
    # 14 layers and two ends are four even stages: the first one's layer less hides its sum.
    [
        (14.0, 4.0, 1.0, False),
        (14.0, 4.0, 0.0, True),
        (16.0, 4.0, 1.0, True),
        (14.0, 1.0, 1.0, True),
    ],
)
def test_the_embeddings_sum_hides_where_its_stage_is_shorter(
    layers: float, pp: float, counts: float, shown: bool
) -> None:
    cut = small_job(num_layers=layers, pp=pp, tp=2.0)
    found = vocabulary_s(cut, time_facts(edges_count=counts), FREE, 10.0)
    # An all-reduce of two ranks sends the buffer once, at 50 bytes a second.
    assert found["first"] == (pytest.approx(10 * 8 * 2 / 50.0) if shown else 0.0)
