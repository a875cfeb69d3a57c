"""V-Min: the V of ZB-V, spaced so that a third of the memory is enough.

Also turned into JavaScript, and its formulas run on arrays.
"""

from __future__ import annotations

from steptime.formulas.number import Number, floor
from steptime.formulas.records import HeldLine
from steptime.formulas.schedules.forms import held
from steptime.formulas.schedules.v_block import block_orders
from steptime.formulas.schedules.v_forms import table_forms
from steptime.formulas.schedules.v_min_table import V_MIN_FORMS

V_MIN = {
    "name": "v-min",
    "title": "V-Min",
    "inventor": "Qi et al., 2024",
    "source": "qi2024, Fig. 4; zbpp2025, zbv_greedy.py",
    "constraints": "v = 2",
    "splits_backward": True,
    "bubble": "(4p - 5) F of a chunk, (4p - 7) F where 3 divides p, where F = I = W and m >= p",
    "activations": "floor((p + 4) / 3)",
    "idea": "A V spaced so that it needs a third of the memory.",
    "torchtitan": "",
    "chunks": 2.0,
    "whole_rounds": 0.0,
    "even": 0.0,
    "two_each": 0.0,
    "vee": 1.0,
    "copies": 1.0,
    "pairs": 0.0,
}


def v_min_order(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of V-Min: about a third of 1F1B's memory, two thirds of its bubble.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; 2 here.

    References:
        qi2024, Fig. 4; zbpp2025, zbv_greedy.py (the block where 3 divides p).
    """
    gap = 2 if p % 3 == 0 else 0
    blocks = []
    for rank in range(p):
        turn = 2 * p
        blocks.append([rank, turn - 1 - rank, turn + gap + rank, 2 * turn + gap - 1 - rank])
    return block_orders(blocks, m)


def v_min_idle(p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        derived here, see `v_forms`.
    """
    return table_forms(p, m, V_MIN_FORMS, 1.0, 1.5)


def v_min_held(p: Number, m: Number, v: Number) -> HeldLine:
    """Return the micro-batches times chunks that ranks hold, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        zbpp2025, its playground, description1.md.
    """
    return held(2.0 * floor((p + 4.0) / 3.0), 0.0, 2.0 * m)
