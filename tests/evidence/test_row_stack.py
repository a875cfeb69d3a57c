"""From a row's columns, date and model to the facts of its software."""

from __future__ import annotations

from dataclasses import replace

import pytest
from steptime.evidence.row_stack import run_stack, software_stack, stack_name

from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.inputs.stack import BLOCK_SLOWDOWN, ROW_SLOWDOWN, StackFacts, stack_names

BY_ID = {row.id: row for row in published_rows()}


def facts(name: str, **cells: object) -> StackFacts:
    row: PublishedRow = BY_ID[name].model_copy(update=cells)
    return run_stack(run_of(row))[0]


# ---- published


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
    ("date", "release", "old", "plain"),
    [
        ("2026-08", "", 0.0, 0.0),
        ("2026-06", "", 0.0, 0.0),
        ("2026-05", "", 1.0, 0.0),
        ("2025-02", "", 1.0, 0.0),
        ("2025-01", "", 1.0, 1.0),
        ("", "26.04.01", 1.0, 0.0),
        ("", "24.07", 1.0, 1.0),
        ("", "", 0.0, 0.0),
    ],
)
def test_experts_change_with_the_date(date: str, release: str, old: float, plain: float) -> None:
    found = facts("mbridge-008", date=date, release=release)
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


def test_the_tables_overlaps_reach_the_runs() -> None:
    """narayanan2021: torch DDP up to 18B; torchtitan2025: asynchronous TP in some rows."""
    assert [facts(f"nar21-t1-{n:03d}").overlap_dp for n in (1, 4, 5)] == [1.0, 1.0, 0.0]
    assert [facts(name).overlap_tp for name in ("titan-011", "titan-012")] == [0.0, 1.0]


# ---- the columns of everyone's rows


@pytest.mark.parametrize(
    ("column", "cell", "fact", "value"),
    [
        ("overlap", "none", "overlap_dp", 0.0),
        ("overlap", "tp, dp", "overlap_tp", 1.0),
        ("overlap", "no-pp; tp", "overlap_sends", 0.0),
        ("compiled", "n", "eager", 1.0),
        ("compiled", "y", "eager", 0.0),
        ("attention_kernel", "eager", "flash", 0.0),
        ("facts", "gradient_bytes=2", "gradient_bytes", 2.0),
        ("facts", "memory.flash=0; host_layer_s=1e-3", "host_layer_s", 1e-3),
    ],
)
def test_a_column_sets_its_fact(column: str, cell: str, fact: str, value: float) -> None:
    named, assumed = run_stack(run_of(BY_ID["kor22-001"].model_copy(update={column: cell})))
    assert getattr(named, fact) == value
    assert assumed.assumed == ()


def test_a_dispatcher_wins_over_what_the_date_says() -> None:
    assert facts("mbridge-008", date="2024", dispatcher="DeepEP").plain_exchange == 0.0
    assert facts("mbridge-008", date="2026-08", dispatcher="alltoall").plain_exchange == 1.0


def test_kernels_run_at_their_own_rates() -> None:
    slow, fast = (facts("mpt-002", attention_kernel=name) for name in ("triton", "flash-3"))
    assert slow.attention_flop_per_s < facts("mpt-002", attention_kernel="fa2").attention_flop_per_s
    assert fast.attention_flop_per_s > 2.0 * slow.attention_flop_per_s


@pytest.mark.parametrize(
    ("text", "year", "stack"),
    [
        ("Megatron-LM", 2021.5, "megatron-2021"),
        ("megatron lm", 2022.4, "megatron-2022"),
        ("Megatron-LM", 2024.0, "megatron-core"),
        ("Megatron-LM", None, "megatron-core"),
        ("NeMo", 2026.0, "megatron-bridge"),
        ("DeepSpeed", 2021.5, "deepspeed-zero3-2021"),
        ("PyTorch FSDP2", None, "torch-fsdp"),
        ("torchtitan", None, "torchtitan"),
        ("MaxText", None, ""),
        ("", None, ""),
    ],
)
def test_a_family_is_read_by_its_date(text: str, year: float | None, stack: str) -> None:
    assert software_stack(text, year) == stack


def test_sharded_weights_of_2021_are_deepspeeds() -> None:
    assert software_stack("Megatron-LM", 2021.5, 3) == "deepspeed-zero3-2021"
    assert software_stack("Megatron-LM", 2024.5, 3) == "megatron-core"


@pytest.mark.parametrize("name", stack_names())
def test_every_stack_stands_for_itself_whatever_the_date(name: str) -> None:
    assert {software_stack(name, year) for year in (None, 2020.0, 2030.0)} == {name}


def test_a_family_is_told_and_leaves_the_interval_narrow() -> None:
    row = BY_ID["nanotron-006"].model_copy(update={"software": "NeMo", "date": "2025"})
    named = stack_name(run_of(row))
    assert (named.name, named.known) == ("megatron-bridge", True)
    assert [one.what for one in named.assumed] == ["stack"]


# ---- words that nobody knows are told, and nothing is read from prose


@pytest.mark.parametrize(
    ("column", "what"),
    [
        ("software", "software"),
        ("date", "date"),
        ("release", "release"),
        ("attention_kernel", "attention_kernel"),
        ("dispatcher", "dispatcher"),
        ("overlap", "overlap"),
    ],
)
def test_an_unknown_word_is_reported(column: str, what: str) -> None:
    cells = {"date": "", column: "gloss"}
    _, named = run_stack(run_of(BY_ID["mbridge-008"].model_copy(update=cells)))
    (record,) = (one for one in named.assumed if one.word)
    assert (record.what, record.word) == (what, "gloss")
    assert "'gloss' not understood" in str(record)
    assert "not stated" not in str(record)
    assert named.known == (column != "software")


@pytest.mark.parametrize("cell", ["nosuch=1", "flash=much", "flash", "memory.nosuch=1", "flash=-1"])
def test_a_fact_that_is_none_is_refused(cell: str) -> None:
    with pytest.raises(Incomplete, match="facts: "):
        facts("kor22-001", facts=cell)
