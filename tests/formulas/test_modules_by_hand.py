"""What runs again of a layer's modules, on paper."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from steptime.formulas.records import TimeFacts
from steptime.formulas.roofline.modules import modules_again_s

FACTS: dict[str, Any] = {"attention_flop_per_s": 1.0, "power_scale": 1.0}


def job(**sizes: float) -> Any:
    """Give 12 tokens' layer of 20 values, 60 inside, on a device that moves 100 bytes a second."""
    usual = {"hidden_size": 20.0, "ffn_hidden_size": 60.0, "gated": 1.0, "tp": 2.0, "etp": 1.0}
    usual |= {"num_experts": 0.0, "num_shared_experts": 0.0, "expert_ffn_hidden_size": 0.0}
    usual |= {"top_k": 0.0, "ep": 1.0, "num_layers": 4.0, "num_dense_layers": 0.0}
    usual |= {"pp": 1.0, "recompute_full": 0.0}
    return SimpleNamespace(**(usual | sizes), hbm_bytes_per_s=100.0)


@pytest.mark.parametrize(
    ("fact", "moved_bytes"),
    [
        ("dropout", 0.0),
        # Two norms: 20 values of 12 tokens read and written, half of them here.
        ("recompute_norms", 2 * 4 * 12 * 20 / 2),
        # Gate and up read, their product written, in 16 bits.
        ("recompute_activation", 3 * 2 * 12 * 60 / 2),
        # No experts, so none of theirs.
        ("recompute_expert_activation", 0.0),
    ],
)
def test_a_dense_layers_modules_by_hand(fact: str, moved_bytes: float) -> None:
    stack = TimeFacts(**FACTS, **{fact: 1.0})
    constants: Any = SimpleNamespace(hbm_efficiency=0.5)
    assert modules_again_s(job(), stack, constants, 12.0) == moved_bytes / (100.0 * 0.5)
    # Where the whole layer runs again, the module is in it; in half of the layers here.
    assert modules_again_s(job(recompute_full=1.0), stack, constants, 12.0) == 0.0
    half = TimeFacts(**FACTS, **{fact: 1.0}, recompute_layers=2.0)
    some = modules_again_s(job(recompute_full=1.0), half, constants, 12.0)
    assert some == moved_bytes / (100.0 * 0.5) / 2.0
