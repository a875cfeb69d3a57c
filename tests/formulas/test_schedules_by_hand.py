"""Closed forms of schedules against what their papers print, or a sum on paper.

Four ranks and eight micro-batches.
"""

from __future__ import annotations

import pytest

from steptime.formulas import schedule
from steptime.formulas.bubble import bubble_fraction
from steptime.formulas.flops import attention_share
from steptime.formulas.schedules.registry import SCHEDULES
from steptime.inputs.training_step import training_step

P, M = 4.0, 8.0


def place(name: str) -> float:
    return float(SCHEDULES.index(name))


# ---- published


@pytest.mark.parametrize(
    ("name", "v", "lengths", "idle"),
    [
        # huang2019, Sec. 2.3, and qi2023, Table 2: (p - 1) (F + I + W).
        ("gpipe", 1.0, (10.0, 12.0, 9.0), 93.0),
        ("1f1b", 1.0, (10.0, 12.0, 9.0), 93.0),
        # narayanan2021, Sec. 2.2.2: as long in chunks, so half as long with two of them.
        ("interleaved-1f1b", 2.0, (10.0, 12.0, 9.0), 93.0),
        ("looped-bfs", 2.0, (10.0, 12.0, 9.0), 93.0),
        # qi2023, Table 2: (p - 1) (F + I - W), and (p - 1) (F + I - 2 W).
        ("zb-h1", 1.0, (10.0, 12.0, 9.0), 39.0),
        ("zb-h2", 1.0, (10.0, 12.0, 2.0), 54.0),
        # Where that is less than (p - 1) F: the last rank starts as late, and all end together.
        ("zb-h2", 1.0, (10.0, 12.0, 9.0), 30.0),
        # deepseek2024, Table 2, F and I alike: (p / 2 - 1) (F&B + B - 3 W), B with its W, F&B
        # one F and one B.
        ("dualpipe", 1.0, (10.0, 10.0, 9.0), 21.0),
        # dualpipe2025, README: the same of twice as many stages.
        ("dualpipe-v", 2.0, (10.0, 10.0, 9.0), 63.0),
    ],
)
def test_idle_time_is_the_papers(
    name: str, v: float, lengths: tuple[float, float, float], idle: float
) -> None:
    assert schedule.idle_time(place(name), P, M, v, *lengths) == idle
    overhead = schedule.bubble_overhead(place(name), P, M, v, *lengths)
    assert overhead == idle / (8.0 * v * sum(lengths))


@pytest.mark.parametrize(
    ("lengths", "more"),
    [
        # deepseek2024, Table 2, at 8 ranks: 3 (F&B + B - 3 W) = 3 (F + 2 I - W), as F&B = F + B.
        ((10.0, 10.0, 9.0), 0.0),
        # F longer by 2: 3 (2 F + I - W) = 63 for 57 printed. I longer by 2: 66 - 12 + 12 for 75.
        ((12.0, 10.0, 9.0), 6.0),
        ((10.0, 12.0, 9.0), -6.0),
        # I twice F: the printed less one F.
        ((5.0, 10.0, 2.0), -5.0),
    ],
)
def test_dualpipe_beside_the_papers_formula(
    lengths: tuple[float, float, float], more: float
) -> None:
    f, i, w = lengths
    pair, backward = f + i + w, i + w
    printed = 3.0 * (pair + backward - 3.0 * w)
    assert schedule.idle_time(place("dualpipe"), 8.0, 16.0, 1.0, *lengths) == printed + more


@pytest.mark.parametrize("name", ["zb-v", "interleaved-zb"])
def test_the_last_rank_starts_three_forwards_late_and_then_never_waits(name: str) -> None:
    # With F = I = W nothing is left but that, where W of two chunks fill every other gap.
    assert schedule.idle_time(place(name), P, M, 2.0, 1.0, 1.0, 1.0) == 3.0


@pytest.mark.parametrize(
    ("name", "v", "held"),
    [
        # huang2019: every micro-batch. lamypoirier2023, Sec. 4: in every chunk.
        ("gpipe", 1.0, 8.0),
        ("looped-bfs", 2.0, 16.0),
        # qi2023, Table 2: p, p and 2 p - 1.
        ("1f1b", 1.0, 4.0),
        ("zb-h1", 1.0, 4.0),
        ("zb-h2", 1.0, 7.0),
        # korthikanti2022, Sec. 4.2.3: L (1 + (p - 1) / (p v)) layers' worth, p v + p - 1 chunks.
        ("interleaved-1f1b", 2.0, 11.0),
        # zbpp2025: as much as 1F1B, in chunks of half the layers.
        ("zb-v", 2.0, 8.0),
        # deepseek2024, Table 2: p + 1. dualpipe2025: of twice as many stages.
        ("dualpipe", 1.0, 5.0),
        ("dualpipe-v", 2.0, 9.0),
    ],
)
def test_the_first_rank_holds_what_the_papers_say(name: str, v: float, held: float) -> None:
    assert schedule.peak_in_flight(place(name), P, M, v, 0.0) == held


# ---- a sum on paper


@pytest.mark.parametrize(("rank", "held"), [(0.0, 4.0), (1.0, 3.0), (3.0, 1.0)])
def test_later_ranks_of_1f1b_hold_one_less_each(rank: float, held: float) -> None:
    assert schedule.peak_in_flight(place("1f1b"), P, M, 1.0, rank) == held


@pytest.mark.parametrize(
    ("name", "v", "rank", "sends"),
    [
        # Eight activations on, and from ranks between eight gradients back.
        ("1f1b", 1.0, 0.0, 8.0),
        ("1f1b", 1.0, 1.0, 16.0),
        ("1f1b", 1.0, 3.0, 8.0),
        # Both chunks of the first rank send on, its second one back.
        ("interleaved-1f1b", 2.0, 0.0, 24.0),
        ("interleaved-1f1b", 2.0, 2.0, 32.0),
        ("interleaved-1f1b", 2.0, 3.0, 24.0),
        # The V turns in the last rank: no message there. The first sends its last chunk's back.
        ("zb-v", 2.0, 3.0, 16.0),
        ("zb-v", 2.0, 0.0, 16.0),
    ],
)
def test_messages_of_a_rank(name: str, v: float, rank: float, sends: float) -> None:
    assert schedule.sends_per_rank(place(name), P, M, v, rank) == sends


def test_idle_share_of_the_whole_step() -> None:
    # Three slots of eleven, and of nineteen with two chunks.
    assert bubble_fraction(P, M, 1.0) == pytest.approx(3.0 / 11.0, rel=1e-15)
    assert bubble_fraction(P, M, 2.0) == pytest.approx(3.0 / 19.0, rel=1e-15)


def test_the_share_of_attention_in_gpt3() -> None:
    # A token of GPT-3 under the causal mask: 96 layers of 24 h h FLOP and of 2 s h.
    asked = {"model": "gpt3-175b", "accelerator": "a100-80gb", "seq_length": 2048}
    job = training_step(**asked, global_batch_size=8, tp=8).job()  # type: ignore[arg-type]
    layers, core = 96 * 24 * 12288**2, 96 * 2 * 2048 * 12288
    logits = 2 * 12288 * job.vocab_size
    assert attention_share(job) == pytest.approx(core / (layers + core + logits), rel=2e-3)
