"""Tensor parallelism's messages: how many, and how much of them products hide."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steptime.formulas.records import Job, Products, TimeFacts
from steptime.formulas.roofline.tensor import chunk_share, tensor_s
from steptime.inputs.constants import published_constants
from steptime.inputs.training_step import training_step

FREE = replace(published_constants().of("hopper"), hop_s=0.0, contention=0.0)
TOKENS = 8192.0


def one(tp: int = 8) -> Job:
    return training_step(
        model="llama3-70b",
        accelerator="h100",
        seq_length=8192,
        global_batch_size=8,
        tp=tp,
        sequence_parallel=tp > 1,
    ).job()


def lasting(forward: float, backward: float) -> Products:
    return {
        "forward": forward,
        "backward": backward,
        "attention_forward": forward,
        "down_forward": forward,
    }


LONG, NONE = lasting(1.0, 2.0), lasting(0.0, 0.0)


# Published


def test_each_pass_gathers_and_scatters_twice() -> None:
    """korthikanti2022, Sec. 4.2.2: two all-gathers and two reduce-scatters of s b h each pass."""
    found = tensor_s(one(), TimeFacts(), FREE, TOKENS, NONE)
    size = TOKENS * 8192 * 2
    expected = 4 * 7 / 8 * size / (450e9 * float(FREE.link_efficiency))
    assert found["tensor"] == pytest.approx(expected, rel=1e-12)
    assert found["tensor_back"] == pytest.approx(expected, rel=1e-12)


# Limits


def test_long_products_hide_all_chunks_but_one() -> None:
    plain = tensor_s(one(), TimeFacts(), FREE, TOKENS, LONG)["tensor"]
    cut = tensor_s(one(), TimeFacts(overlap_tp=1.0), FREE, TOKENS, LONG)["tensor"]
    assert cut == pytest.approx(plain / 8.0, rel=1e-12)


def test_no_more_hides_than_products_last() -> None:
    plain = tensor_s(one(), TimeFacts(), FREE, TOKENS, LONG)["tensor"]
    short = lasting(0.25 * plain, 0.5 * plain)
    cut = tensor_s(one(), TimeFacts(overlap_tp=1.0), FREE, TOKENS, short)
    assert cut["tensor"] == pytest.approx(0.75 * plain, rel=1e-12)
    assert cut["tensor_back"] == pytest.approx(0.5 * plain, rel=1e-12)


def test_the_weights_product_hides_the_backward_messages_alone() -> None:
    plain = tensor_s(one(), TimeFacts(), FREE, TOKENS, LONG)["tensor"]
    facts = TimeFacts(overlap_tp_backward=1.0)
    found = tensor_s(one(), facts, FREE, TOKENS, LONG)
    assert (found["tensor"], found["tensor_back"]) == (plain, 0.0)
    half = tensor_s(one(), facts, FREE, TOKENS, lasting(1.0, plain))
    assert half["tensor_back"] == pytest.approx(0.5 * plain, rel=1e-12)


CUT = TimeFacts(overlap_tp=0.5)


def test_chunks_stay_in_one_domain_unless_they_are_sent() -> None:
    """torch2026, CUDASymmetricMemory.cu: all ranks must be in the same NVLink domain."""
    sent = replace(CUT, tp_chunks_sent=1.0)
    # A server has 8, a rack 72.
    rack = replace(one(16), nvlink_domain=72.0)
    for job, landed, travelled in ((one(8), 0.5, 0.5), (one(16), 0.0, 0.5), (rack, 0.5, 0.5)):
        assert (chunk_share(job, CUT), chunk_share(job, sent)) == (landed, travelled)
    assert chunk_share(one(1), sent) == 0.0


def test_beyond_a_domain_messages_show_as_if_they_were_not_cut() -> None:
    copied = replace(CUT, tp_chunk_copies=1.0)
    for facts in (CUT, copied):
        assert tensor_s(one(16), facts, FREE, TOKENS, LONG) == tensor_s(
            one(16), TimeFacts(), FREE, TOKENS, LONG
        )
    # What the weight's product hides is sent, and goes on anywhere.
    back = TimeFacts(overlap_tp_backward=1.0)
    assert tensor_s(one(16), back, FREE, TOKENS, LONG)["tensor_back"] == 0.0


def test_an_all_reduce_is_not_cut() -> None:
    """megatronlm2026, arguments.py: --tp-comm-overlap asks for --sequence-parallel."""
    whole = replace(one(), sequence_parallel=0.0)
    assert chunk_share(whole, replace(CUT, tp_chunks_sent=1.0)) == 0.0
    assert tensor_s(whole, CUT, FREE, TOKENS, LONG) == tensor_s(
        whole, TimeFacts(), FREE, TOKENS, LONG
    )


def test_one_rank_sends_nothing() -> None:
    assert set(tensor_s(one(1), TimeFacts(), FREE, TOKENS, LONG).values()) == {0.0}


# Invariant


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_faster_products_never_make_a_layer_slower(share: float) -> None:
    slower = float("inf")
    facts = TimeFacts(overlap_tp=share, overlap_tp_backward=share)
    for scale in (1.0, 0.5, 0.1, 0.01, 0.001):
        work = lasting(0.01 * scale, 0.02 * scale)
        found = tensor_s(one(), facts, published_constants().of("hopper"), TOKENS, work)
        total = work["forward"] + work["backward"] + found["tensor"] + found["tensor_back"]
        assert total <= slower
        slower = total
