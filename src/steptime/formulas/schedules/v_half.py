"""V-Half: the V of ZB-V, spaced so that half of the memory is enough.

Also turned into JavaScript, and its formulas run on arrays.
"""

from __future__ import annotations

from steptime.formulas.number import Number, floor
from steptime.formulas.records import HeldLine
from steptime.formulas.schedules.forms import held
from steptime.formulas.schedules.v_block import block_orders
from steptime.formulas.schedules.v_forms import table_forms
from steptime.formulas.schedules.v_half_table import V_HALF_FORMS

V_HALF = {
    "name": "v-half",
    "title": "V-Half",
    "inventor": "Qi et al., 2024",
    "source": "qi2024, Fig. 4; zbpp2025, zbv_greedy.py",
    "constraints": "v = 2",
    "splits_backward": True,
    "bubble": (
        "(3p - 4) F of a chunk for odd p, (3p - 7) F for even p > 2, where F = I = W and m >= 3p/2"
    ),
    "activations": "floor((p + 2) / 2)",
    "idea": "A V spaced so that it needs half of the memory.",
    "torchtitan": "",
    "chunks": 2.0,
    "whole_rounds": 0.0,
    "even": 0.0,
    "two_each": 0.0,
    "vee": 1.0,
    "copies": 1.0,
    "pairs": 0.0,
}


def v_half_order(p: int, m: int, v: int) -> list[list[int]]:
    """Return the orders of V-Half: about half of 1F1B's memory, half of its bubble.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds; 2 here.

    References:
        qi2024, Fig. 4; zbpp2025, zbv_greedy.py (the block of an even p).
    """
    # Keeps a rank's backwards out of its forwards' slots.
    gap = 3 if p % 2 == 0 else 0
    blocks = []
    for rank in range(p):
        turn = 3 * p - 1
        blocks.append([2 * rank, turn - 1 - rank, turn + gap + 2 * rank, 2 * turn + gap - rank])
    return block_orders(blocks, m)


def v_half_idle(p: Number, m: Number, v: Number) -> list[list[Number]]:
    """Return the forms of the idle time, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        derived here, see `v_forms`.
    """
    return table_forms(p, m, V_HALF_FORMS, 1.5, 2.0)


def v_half_held(p: Number, m: Number, v: Number) -> HeldLine:
    """Return the micro-batches times chunks that ranks hold, see `forms`.

    Args:
        p: Pipeline ranks.
        m: Micro-batches.
        v: Chunks a rank holds.

    References:
        zbpp2025, its playground, description1.md.
    """
    return held(2.0 * floor((p + 2.0) / 2.0), 0.0, 2.0 * m)
