"""Each schedule's order as its paper draws it, and its idle time and memory as printed.

Two ranks and four micro-batches are drawn, a rank a line; idle time and memory are those of four
ranks and eight micro-batches, with F, I and W of 10, 12 and 9, or as told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from steptime.formulas.schedules import (
    alternation,
    dualpipe,
    dualpipe_v,
    eight_steps,
    forms,
    gpipe,
    interleaved_1f1b,
    interleaved_zb,
    looped_bfs,
    one_f_one_b,
    registry,
    v_block,
    v_forms,
    v_half,
    v_min,
    v_pull,
    zb_h1,
    zb_h2,
    zb_searched,
    zb_v,
)
from steptime.pipeline.codes import action_names

Order = Callable[[int, int, int], list[list[int]]]

DRAWN: dict[Order, tuple[int, str]] = {
    # huang2019, Fig. 2 (c): all forward, all back.
    gpipe.gpipe_order: (
        1,
        "0F0 0F1 0F2 0F3 0B0 0B1 0B2 0B3 | 1F0 1F1 1F2 1F3 1B0 1B1 1B2 1B3",
    ),
    # narayanan2021, Fig. 4 (top): p - 1 - r forwards first, then one of each.
    one_f_one_b.one_f_one_b_order: (
        1,
        "0F0 0F1 0B0 0F2 0B1 0F3 0B2 0B3 | 1F0 1B0 1F1 1B1 1F2 1B2 1F3 1B3",
    ),
    # narayanan2021, Fig. 4 (bottom): rounds of p micro-batches in each of two chunks.
    interleaved_1f1b.interleaved_1f1b_order: (
        2,
        "0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 2B2 2B3 0B2 0B3 | "
        "1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 1B2 1B3",
    ),
    # lamypoirier2023: every micro-batch through a chunk, then the next chunk.
    looped_bfs.looped_bfs_order: (
        2,
        "0F0 0F1 0F2 0F3 2F0 2F1 2F2 2F3 2B3 2B2 2B1 2B0 0B3 0B2 0B1 0B0 | "
        "1F0 1F1 1F2 1F3 3F0 3F1 3F2 3F3 3B3 3B2 3B1 3B0 1B3 1B2 1B1 1B0",
    ),
    # qi2023, Fig. 3 (top): 1F1B whose W lags by the rank.
    zb_h1.zb_h1_order: (
        1,
        "0F0 0F1 0I0 0W0 0F2 0I1 0W1 0F3 0I2 0W2 0I3 0W3 | "
        "1F0 1I0 1F1 1I1 1W0 1F2 1I2 1W1 1F3 1I3 1W2 1W3",
    ),
    # qi2023, Fig. 3 (bottom): 2 (p - 1 - r) forwards first, W lags by 2 r.
    zb_h2.zb_h2_order: (
        1,
        "0F0 0F1 0F2 0I0 0W0 0F3 0I1 0W1 0I2 0W2 0I3 0W3 | "
        "1F0 1I0 1F1 1I1 1F2 1I2 1W0 1F3 1I3 1W1 1W2 1W3",
    ),
    # ansel2024, torch.distributed.pipelining: interleaved 1F1B whose W lags by the rank.
    interleaved_zb.interleaved_zb_order: (
        2,
        "0F0 0F1 2F0 2F1 2I0 2W0 0F2 2I1 2W1 0F3 0I0 0W0 2F2 0I1 0W1 2F3 2I2 2W2 2I3 2W3 "
        "0I2 0W2 0I3 0W3 | 1F0 1F1 3F0 3I0 3F1 3I1 3W0 1F2 1I0 3W1 1F3 1I1 1W0 3F2 3I2 1W1 "
        "3F3 3I3 3W2 1I2 3W3 1I3 1W2 1W3",
    ),
}


@pytest.mark.parametrize("order", DRAWN)
def test_orders_are_as_drawn(order: Order) -> None:
    v, drawn = DRAWN[order]
    ranks = order(2, 4, v)
    assert " | ".join(" ".join(action_names(rank, 2 * v, 4)) for rank in ranks) == drawn


def test_the_two_halves_of_dualpipe_mirror_each_other() -> None:
    # deepseek2024, Fig. 5: micro-batches 2 and 3 come in at the other end.
    near, far = (action_names(one, 2, 4) for one in dualpipe.dualpipe_order(2, 4, 1))
    assert near == ["0F0", "1F2", "0F1", "1B2", "(1F3;0B0)OVERLAP_F_B", "1B3", "0I1", "0W1"]
    swapped = str.maketrans({"0": "2", "1": "3", "2": "0", "3": "1"})
    for one, other in zip(near, far, strict=True):
        parts = [part.strip("()") for part in one.removesuffix("OVERLAP_F_B").split(";")]
        mirrored = [part[:-1] + part[-1].translate(swapped) for part in parts]
        assert mirrored == [
            part.strip("()") for part in other.removesuffix("OVERLAP_F_B").split(";")
        ]


def test_the_first_rank_of_dualpipe_v_waits_for_its_v() -> None:
    # dualpipe2025, README: cut in half; with two ranks a micro-batch is back in the first after
    # three forwards.
    orders = dualpipe_v.dualpipe_v_order(2, 4, 2)
    first = action_names(orders[0], 4, 4)
    assert first[:6] == ["0F0", "0F1", "0F2", "3F0", "3I0", "3W0"]
    assert sum("OVERLAP" in name for order in orders for name in action_names(order, 4, 4)) == 6


def test_the_last_rank_of_a_v_turns_at_once() -> None:
    # qi2023, Fig. 5; qi2024, Fig. 4: the two middle stages lie on the last rank.
    for order in (zb_v.zb_v_order, v_half.v_half_order, v_min.v_min_order):
        first, last = (action_names(rank, 4, 4) for rank in order(2, 4, 2))
        assert last[:2] == ["1F0", "2F0"]
        # The first rank's own backward follows its second forward.
        back = first.index("3F0")
        assert first[back + 1] == "3I0"
        assert sorted(first + last) == sorted(
            f"{s}{k}{j}" for s in range(4) for k in "FIW" for j in range(4)
        )


# ---- published: idle time and memory

Idle = Callable[[float, float, float], list[list[Any]]]
Held = Callable[[float, float, float], Any]
USUAL, EQUAL, ALIKE = (10.0, 12.0, 9.0), (1.0, 1.0, 1.0), (10.0, 10.0, 9.0)

PRINTED: dict[str, tuple[Idle, Held, float, tuple[float, ...], float, float]] = {
    # huang2019, Sec. 2.3; narayanan2021, Sec. 2.2; lamypoirier2023: (p - 1) (F + I + W).
    "gpipe": (gpipe.gpipe_idle, gpipe.gpipe_held, 1.0, USUAL, 93.0, 8.0),
    "1f1b": (
        *(one_f_one_b.one_f_one_b_idle, one_f_one_b.one_f_one_b_held),
        *(1.0, USUAL, 93.0, 4.0),
    ),
    "interleaved-1f1b": (
        *(interleaved_1f1b.interleaved_1f1b_idle, interleaved_1f1b.interleaved_1f1b_held),
        *(2.0, USUAL, 93.0, 11.0),
    ),
    "looped-bfs": (looped_bfs.looped_bfs_idle, looped_bfs.looped_bfs_held, 2.0, USUAL, 93.0, 16.0),
    # qi2023, Table 2: (p - 1) (F + I - W); p and 2 p - 1 micro-batches.
    "zb-h1": (zb_h1.zb_h1_idle, zb_h1.zb_h1_held, 1.0, USUAL, 39.0, 4.0),
    "zb-h2": (zb_h2.zb_h2_idle, zb_h2.zb_h2_held, 1.0, USUAL, 30.0, 7.0),
    # qi2023, Sec. 3.1, of p, 2 p and all m micro-batches: (p - 1) F at least, or ZB-H1's.
    "zb-1p": (zb_searched.zb_1p_idle, zb_searched.zb_1p_held, 1.0, USUAL, 39.0, 4.0),
    "zb-2p": (zb_searched.zb_2p_idle, zb_searched.zb_2p_held, 1.0, USUAL, 30.0, 8.0),
    "zb-auto": (zb_searched.zb_auto_idle, zb_searched.zb_auto_held, 1.0, USUAL, 30.0, 8.0),
    # qi2023, Sec. 6: the last rank starts p - 1 chunks late, in as much memory as 1F1B.
    "zb-v": (zb_v.zb_v_idle, zb_v.zb_v_held, 2.0, EQUAL, 3.0, 8.0),
    "interleaved-zb": (
        *(interleaved_zb.interleaved_zb_idle, interleaved_zb.interleaved_zb_held),
        *(2.0, EQUAL, 3.0, 8.0),
    ),
    # zbpp2025, its playground: 3 p - 7 and 4 p - 5 slots of a chunk; floor((p + 2) / 2) and
    # floor((p + 4) / 3) micro-batches of two chunks.
    "v-half": (v_half.v_half_idle, v_half.v_half_held, 2.0, EQUAL, 5.0, 6.0),
    "v-min": (v_min.v_min_idle, v_min.v_min_held, 2.0, EQUAL, 11.0, 4.0),
    # deepseek2024, Table 2: (p / 2 - 1) (F&B + B - 3 W) and p + 1; of twice as many stages in a V.
    "dualpipe": (dualpipe.dualpipe_idle, dualpipe.dualpipe_held, 1.0, ALIKE, 21.0, 5.0),
    "dualpipe-v": (dualpipe_v.dualpipe_v_idle, dualpipe_v.dualpipe_v_held, 2.0, ALIKE, 63.0, 9.0),
}


@pytest.mark.parametrize("name", PRINTED)
def test_idle_time_and_memory_are_as_printed(name: str) -> None:
    idle, held, v, lengths, slots, most = PRINTED[name]
    assert forms.highest(idle(4.0, 8.0, v), *lengths) == slots
    assert held(4.0, 8.0, v)["base"] == most
    # And by its name.
    code = registry.place_of(name)
    assert registry.ENTRIES[code]["name"] == name
    assert registry.idle_of(code, 4.0, 8.0, v) == idle(4.0, 8.0, v)
    assert registry.held_of(code, 4.0, 8.0, v) == held(4.0, 8.0, v)
    if v == 1.0:
        assert registry.order_of(code, 4, 8, 1)


def test_every_schedule_has_its_paper() -> None:
    assert set(PRINTED) == set(registry.SCHEDULES)


# ---- a sum on paper


def test_turns_by_hand() -> None:
    # Codes of two forwards and two backwards: rank 0 of two, one chunk, rounds of two.
    forwards, backwards = alternation.chunk_rounds(2, 2, 1, 2, 0)
    assert (forwards, backwards) == ([2, 3], [8, 9])
    assert alternation.alternate(forwards, backwards, 1) == [2, 3, 8, 9]
    assert alternation.alternate(forwards, backwards, 0) == [2, 8, 3, 9]
    # I is 4 codes up, W 8; it lags by one.
    split = alternation.alternate_split(forwards, backwards, 4, 1, 1)
    assert split == [2, 3, 12, 13, 16, 17]


def test_eight_steps_of_one_turn() -> None:
    # One rank from end to turn, two micro-batches of each stream: its forward and backward codes
    # are taken in order, and 99 makes a pair of the next two.
    order = eight_steps.eight_steps(1, 2, 0, [10, 20], [30, 40], 100, 99)
    assert order == [10, 20, 11, 40, 99, 21, 30, 41, 131, 231]


def test_a_block_by_hand() -> None:
    # One rank, one micro-batch: down and up the V, then each I, and W in the first empty slots.
    orders = v_block.block_orders([[0, 1, 2, 3]], 1)
    assert [name for name in action_names(orders[0], 2, 1)] == [
        "0F0",
        "1F0",
        "1I0",
        "1W0",
        "0I0",
        "0W0",
    ] or orders
    filled = v_pull.with_weights([0, 1, 2, -1, 3], 1, split=False)
    assert filled == [0, 1, 2, 4, 3, 5]
    assert v_pull.pulled_forward([[0, 1, 2, -1, 3]], 1) == [[0, 1, 2, 4, 3, 5]]


def test_forms_of_a_pair_by_hand() -> None:
    # Three turns of F + B, less the B and W that run meanwhile.
    assert eight_steps.pair_forms(3.0)[1] == [6.0, 3.0, -3.0]


def test_a_row_of_a_table_by_hand() -> None:
    # One rank: 3 F + I + 2 W for one micro-batch; settled, 4 F and an F more for each.
    table = {
        **{"first": [0.0, 1.0], "last": [0.0, 1.0], "start": [1.0, 2.0], "forms": [0.0]},
        **{"slope": [0.0, 1.0], "forward": [3.0, 4.0], "input": [1.0, 0.0], "weight": [2.0, 0.0]},
        **{"slopes_forward": [0.0, 1.0], "slopes_input": [0.0, 0.0], "slopes_weight": [0.0, 0.0]},
    }
    assert v_forms.table_forms(1.0, 1.0, table, 1.0, 0.0) == [[3.0, 1.0, 2.0]]
    assert v_forms.table_forms(1.0, 5.0, table, 1.0, 0.0) == [[9.0, 0.0, 0.0]]
