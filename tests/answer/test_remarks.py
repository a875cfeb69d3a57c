"""What an answer says where a stated fact counts for nothing, and where an MFU passes 100 %."""

from __future__ import annotations

from typing import Any

import pytest

from steptime.answer import Prediction, predict
from steptime.answer.remarks import over_the_peak
from steptime.answer.unused import UNUSED
from steptime.inputs.chance import chance_text
from steptime.inputs.errors import ConfigError
from steptime.inputs.presets import accelerator

DENSE: dict[str, Any] = {"model": "llama3-8b", "accelerator": "h100", "tp": 2, "seq_length": 4096}
LONG: dict[str, Any] = {"accelerator": "h100", "cp": 8, "dp": 1, "seq_length": 2**17}

UNUSED_HERE = f"overlap_tp: {UNUSED}"


def said(found: Prediction, what: str) -> str:
    return "; ".join(str(one) for one in found.assumed if one.what == what)


def test_one_head_of_keys_leaves_one_rank_to_exchange_heads() -> None:
    """gemma3-1b has one head of keys and values, so eight ranks cannot each have one."""
    asked = {**LONG, "model": "gemma3-1b", "global_batch_size": 1}
    both = predict(**asked, facts={"cp_comm_type": "a2a+p2p"})
    ring = predict(**asked, facts={"cp_comm_type": "p2p"})
    assert both.step_time_s == ring.step_time_s
    assert "over 1 rank here" in said(both, "cp_comm_type")
    assert "number 1 over tp=1, context ranks in an NVLink domain 8" in said(both, "cp_comm_type")
    assert "refuses those on a ring" in said(ring, "cp_comm_type")


@pytest.mark.parametrize(
    ("model", "kind", "cp", "refused"),
    [
        # Five of six layers have a window (gemma2025, Sec. 2.1): 22 of 26.
        ("gemma3-1b", "p2p", 8, True),
        ("gemma3-1b", "all_gather", 8, False),
        ("gemma3-1b", "p2p", 1, False),
        ("llama3-8b", "p2p", 8, False),
    ],
)
def test_windows_on_a_ring_are_what_transformer_engine_refuses(
    model: str, kind: str, cp: int, refused: bool
) -> None:
    """transformerengine2026, context_parallel.py: windows go with a2a or all_gather alone."""
    asked = {**LONG, "model": model, "cp": cp, "global_batch_size": 1}
    line = said(predict(**asked, facts={"cp_comm_type": kind}), "cp_comm_type")
    assert ("22 layers have a sliding window, and Transformer Engine refuses" in line) == refused


def test_eight_heads_of_keys_leave_nothing_to_say() -> None:
    asked = {**LONG, "model": "llama3-8b", "global_batch_size": 1}
    assert said(predict(**asked, facts={"cp_comm_type": "a2a+p2p"}), "cp_comm_type") == ""


def test_chunks_that_no_domain_holds_hide_nothing_and_it_says_so() -> None:
    asked = {**DENSE, "global_batch_size": 64, "dp": 2, "facts": {"overlap_tp": 1.0}}
    plain = {**asked, "facts": {"overlap_tp": 0.0}}
    for tp, device, domain in ((16, "h100", 8), (16, "b200", 8), (16, "gb200", 0), (8, "h100", 0)):
        cut = {"tp": tp, "accelerator": device, "sequence_parallel": True}
        one, other = predict(**asked | cut), predict(**plain | cut)
        line = said(one, "overlap_tp")
        assert (f"over tp={tp}" in line and f"NVLink domain of {domain} map" in line) == bool(
            domain
        )
        assert (one.step_time_s == other.step_time_s) == bool(domain)
        assert said(other, "overlap_tp") == ("" if not domain else UNUSED_HERE)
    whole = {"tp": 8, "sequence_parallel": False}
    assert "an all-reduce is not cut" in said(predict(**asked | whole), "overlap_tp")


@pytest.mark.parametrize(
    ("stack", "device"),
    [
        *(("nemo", "h100"), ("megatron-bridge", "h100"), ("torchtitan", "h100")),
        ("mindspeed", "ascend-910b"),
    ],
)
def test_no_software_hides_messages_between_servers_but_what_sends_chunks(
    stack: str, device: str
) -> None:
    """torch2026 and transformerengine2026 map the memory of one NVLink domain."""
    asked = {**DENSE, "global_batch_size": 64, "dp": 2, "tp": 16, "stack": stack}
    own = asked | {"accelerator": device}
    times = {predict(**own, facts={"overlap_tp": share}).step_time_s for share in (0.0, 1.0)}
    assert len(times) == 1
    assert predict(**asked | {"stack": "maxtext"}, facts={"overlap_tp": 1.0}).step_time_s < (
        predict(**asked | {"stack": "maxtext"}, facts={"overlap_tp": 0.0}).step_time_s
    )


@pytest.mark.parametrize("mode", ["none", "selective"])
def test_layers_to_recompute_count_with_full_recomputation_alone(mode: str) -> None:
    asked = {**DENSE, "global_batch_size": 8}
    some = predict(**asked, recompute=mode, facts={"recompute_layers": 5})
    assert some.step_time_s == predict(**asked, recompute=mode).step_time_s
    assert said(some, "recompute_layers") == (
        "recompute_layers: not used: it counts where everything is recomputed (--recompute full)"
    )
    full = predict(**asked, recompute="full", facts={"recompute_layers": 5})
    assert said(full, "recompute_layers") == ""


@pytest.mark.parametrize(
    ("name", "layers", "error"),
    [
        ("recompute_layers", 33, "is 33, but Llama 3 8B has 32 layers"),
        ("offloaded_layers", 40, "is 40, but Llama 3 8B has 32 layers"),
        ("recompute_layers", 2.5, "must be a whole number"),
    ],
)
def test_no_more_layers_than_the_model_has(name: str, layers: float, error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        predict(**DENSE, global_batch_size=8, recompute="full", facts={name: layers})


def test_an_mfu_over_the_peak_in_16_bits_says_what_a_mask_skips() -> None:
    device = accelerator("a100")
    assert over_the_peak(1.013, 0.6, device, "bf16") == (
        "over 100 %: attention in full counts what a causal mask skips"
    )
    assert "no device computes faster than its peak" in over_the_peak(1.5, 1.2, device, "bf16")
    assert over_the_peak(1.0, 0.6, device, "bf16") == ""
    found = predict(**DENSE, global_batch_size=8)
    assert found.mfu_remark == ""


def test_an_mfu_over_the_peak_in_8_bits_says_its_share_of_that_peak() -> None:
    found = predict(
        **DENSE | {"model": "llama3-70b", "tp": 8, "accelerator": "h20"},
        global_batch_size=64,
        precision="fp8",
    )
    device = found.step.accelerator
    share = found.mfu_fraction * device.peak_flop_per_s / device.peak_fp8_flop_per_s
    assert found.mfu_fraction > 1.0
    assert found.mfu_remark == (
        f"over 100 %: products run in 8 bits: {100 * share:.1f} % of the 8-bit peak"
    )


def test_a_switch_is_named_by_options_that_can_be_typed() -> None:
    asked = DENSE | {"model": "llama3-70b", "tp": 8, "dp": 4}
    found = predict(**asked, global_batch_size=64)
    (one,) = (one for one in found.unstated if one.what == "sequence_parallel")
    assert one.how == "--sequence-parallel or --no-sequence-parallel"
    assert {one.fastest, one.slowest} <= {"on", "off"}


@pytest.mark.parametrize(
    ("chance", "long", "short"),
    [
        (0.9999, "over 99 %", ">99%"),
        (1.0, "over 99 %", ">99%"),
        (0.994, "99 %", "99%"),
        (0.5, "50 %", "50%"),
        (0.004, "under 1 %", "<1%"),
        (0.0, "under 1 %", "<1%"),
        (None, "-", "-"),
    ],
)
def test_no_chance_is_shown_as_certain(chance: float | None, long: str, short: str) -> None:
    assert (chance_text(chance), chance_text(chance, short=True)) == (long, short)


@pytest.mark.parametrize(
    ("model", "seq_length", "positions"),
    [
        # brown2020, Table 2.1: 2,048 tokens; grattafiori2024, Sec. 3.4.2: 128K; scao2022 has no
        # table of positions (ALiBi).
        ("gpt3-175b", 2048, 0),
        ("gpt3-175b", 4096, 2048),
        ("llama3-8b", 2**17, 0),
        ("llama3-8b", 2**18, 2**17),
        ("bloom-176b", 2**18, 0),
    ],
)
def test_a_sequence_past_the_positions_of_a_model_is_said(
    model: str, seq_length: int, positions: int
) -> None:
    asked: dict[str, Any] = {"accelerator": "h100", "tp": 8, "global_batch_size": 1}
    line = said(predict(**asked, model=model, seq_length=seq_length), "sequence")
    told = f"{seq_length:,} tokens are more than the {positions:,} positions"
    assert (told in line) == (positions > 0)
    assert bool(line) == (positions > 0)
