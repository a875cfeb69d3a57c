"""From a row's words, date and model to the facts of its software."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steptime.evidence.row_stack import run_stack, stack_name
from steptime.evidence.runs import run_of
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.inputs.stack import BLOCK_SLOWDOWN, ROW_SLOWDOWN, StackFacts

BY_ID = {row.id: row for row in published_rows()}


def facts(name: str, **cells: object) -> StackFacts:
    row: PublishedRow = BY_ID[name].model_copy(update=cells)
    return run_stack(run_of(row))[0]


def test_scaling_words_choose_casts_products_and_gathers() -> None:
    tensor = facts("titan-027")
    rows = facts("titan-029")
    blocks = facts("mbridge-226", precision="fp8 blockwise")
    assert (tensor.scaled_products, tensor.narrow_gathers) == (0.0, 1.0)
    assert (rows.scaled_products, rows.narrow_gathers) == (ROW_SLOWDOWN, 0.0)
    assert (blocks.scaled_products, blocks.block_scaled) == (BLOCK_SLOWDOWN, 1.0)
    assert facts("mbridge-042").scaled_products == BLOCK_SLOWDOWN


def test_torchtitan_recomputes_by_operation_unless_told_otherwise() -> None:
    assert facts("titan-031").recompute_per_op == 1.0
    assert facts("titan-031", recompute="none").recompute_per_op == 0.0
    assert facts("titan-011").recompute_per_op == 0.0
    assert facts("mbridge-041", recompute="").recompute_per_op == 0.0


@pytest.mark.parametrize(
    ("notes", "old", "plain"),
    [
        ("release 26.08.", 0.0, 0.0),
        ("release 26.04.01.", 1.0, 0.0),
        ("release 24.07.", 1.0, 1.0),
        ("", 0.0, 0.0),
    ],
)
def test_experts_change_with_the_date(notes: str, old: float, plain: float) -> None:
    found = facts(
        "mbridge-008", notes=notes, location="", source="someone", url_or_path="megatron-bridge"
    )
    assert (found.old_experts, found.plain_exchange) == (old, plain)


def test_a_dense_run_has_no_experts_to_date() -> None:
    dense = facts("mbridge-041")
    assert dense == replace(dense, old_experts=0.0, plain_exchange=0.0, eager_experts=0.0)


def test_latent_attentions_expansions_are_recomputed_unless_a_run_says_otherwise() -> None:
    assert facts("mbridge-118").recompute_latent == 1.0
    assert facts("mbridge-025").recompute_latent == 0.0
    assert facts("mbridge-132").recompute_latent == 0.0


def test_recipes_with_experts_leave_tensor_messages_to_the_backward_pass() -> None:
    mixture, dense = facts("mbridge-070"), facts("mbridge-042")
    assert (mixture.overlap_tp, mixture.overlap_tp_backward) == (0.0, 1.0)
    assert dense.overlap_tp == 1.0


@pytest.mark.parametrize(
    ("notes", "name"),
    [
        ("software: torch-fsdp", "torch-fsdp"),
        ("in Megatron-Core, on a cluster of ours", "megatron-core"),
        ("software: something-else", "nanotron"),
    ],
)
def test_a_software_that_a_row_names_wins_over_what_its_words_hint_at(
    notes: str, name: str
) -> None:
    origin = {} if "else" in notes else {"id": "a-1", "source": "someone", "location": ""}
    row = BY_ID["nanotron-006"].model_copy(update={"notes": notes, "url_or_path": "", **origin})
    assert stack_name(run_of(row)) == (name, "")
