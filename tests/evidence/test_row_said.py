"""From a row's columns, date and model to the facts of its software."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steptime.evidence.row_question import RunQuestion, question_of_run
from steptime.evidence.row_said import said_of
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.schema import PublishedRow, published_rows
from steptime.formulas.records import TimeFacts
from steptime.inputs.habits import usual_stack
from steptime.inputs.precision import precision_named
from steptime.inputs.run_words import word_of
from steptime.inputs.said import Said
from steptime.inputs.stack import families, stack_names

BY_ID = {row.id: row for row in published_rows()}


def asked(name: str, **cells: object) -> RunQuestion:
    row: PublishedRow = BY_ID[name].model_copy(update=cells)
    return question_of_run(run_of(row))


def facts(name: str, **cells: object) -> TimeFacts:
    return asked(name, **cells).stack


def stack_of(text: str, date: str) -> str:
    said, _ = said_of(PublishedRow(software=text, date=date))
    return "" if said.stack is None else usual_stack(said).name


def slowdown(word: str) -> float:
    found = word_of("precision", word)
    assert found is not None
    return found.facts["scaled_products"]


# ---- published


def test_scaling_words_choose_casts_products_and_gathers() -> None:
    tensor = facts("titan-027")
    rows = facts("titan-029")
    blocks = facts("mbridge-226", precision="fp8 blockwise")
    assert (tensor.scaled_products, tensor.narrow_gathers) == (0.0, 1.0)
    assert (rows.scaled_products, rows.narrow_gathers) == (slowdown("fp8-rows"), 0.0)
    assert (blocks.scaled_products, blocks.block_scaled) == (slowdown("fp8-blocks"), 1.0)
    assert slowdown("fp8-rows") > 5.0 * slowdown("fp8-blocks") > 0.0
    narrow = {fact.name: fact.value for fact in precision_named("mxfp8").facts}
    assert facts("mbridge-042").scaled_products == narrow["scaled_products"]
    assert narrow["scaled_products"] == slowdown("fp8-blocks")


def by_operation(run: RunQuestion) -> float:
    """Return whether what is recomputed of a run is chosen by operation."""
    return run.job.recompute_selective * run.stack.recompute_per_op


def test_torchtitan_recomputes_by_operation_unless_told_otherwise() -> None:
    assert by_operation(asked("titan-031")) == 1.0
    assert by_operation(asked("titan-031", recompute="none")) == 0.0
    assert by_operation(asked("titan-031", recompute="")) == 1.0
    assert by_operation(asked("titan-011")) == 0.0
    assert by_operation(asked("mbridge-041", recompute="")) == 0.0


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
    # Exact software is no older than itself: Megatron-Core has been there for all these months.
    found = facts("mbridge-008", date=date, release=release, software="Megatron-Core")
    assert (found.old_experts, found.plain_exchange) == (old, plain)


def test_a_dense_run_has_no_experts_to_date() -> None:
    dense = facts("mbridge-041")
    assert dense == replace(dense, old_experts=0.0, plain_exchange=0.0, eager_experts=0.0)


def test_latent_attentions_expansions_are_recomputed_unless_a_run_says_otherwise() -> None:
    assert facts("mbridge-118").recompute_up_projection == 1.0
    assert facts("mbridge-025").recompute_up_projection == 0.0
    assert facts("mbridge-132").recompute_up_projection == 0.0


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
        ("facts", "sent_gradient_bytes=4", "sent_gradient_bytes", 4.0),
        ("facts", "kernel=flash-2; host_layer_s=1e-3", "host_layer_s", 1e-3),
        ("facts", "kernel=flash-2", "flash", 1.0),
    ],
)
def test_a_column_sets_its_fact(column: str, cell: str, fact: str, value: float) -> None:
    plain, told = asked("kor22-001"), asked("kor22-001", **{column: cell})
    assert getattr(told.stack, fact) == value
    assert told.assumed == plain.assumed


def test_a_fact_of_both_moves_time_and_memory() -> None:
    run = asked("mbridge-008", recompute="selective modules [mla_up_proj, mlp]")
    for kept in (run.stack, run.software.memory):
        assert (kept.recompute_up_projection, kept.recompute_mlp) == (1.0, 1.0)
    stored = asked("mbridge-008", facts="flash=0")
    assert (stored.stack.flash, stored.software.memory.flash) == (0.0, 0.0)


def test_a_dispatcher_wins_over_what_the_date_says() -> None:
    old = {"date": "2024-06", "software": "Megatron-Core"}
    assert facts("mbridge-008", **old, dispatcher="DeepEP").plain_exchange == 0.0
    assert facts("mbridge-008", date="2026-08", dispatcher="alltoall").plain_exchange == 1.0


def test_kernels_run_at_their_own_rates() -> None:
    slow, fast = (facts("mpt-002", attention_kernel=name) for name in ("triton", "flash-3"))
    assert slow.attention_flop_per_s < facts("mpt-002", attention_kernel="fa2").attention_flop_per_s
    assert fast.attention_flop_per_s > 2.0 * slow.attention_flop_per_s


@pytest.mark.parametrize(
    ("text", "date", "stack"),
    [
        ("Megatron-LM", "2021", "megatron-2021"),
        ("megatron lm", "2022-05", "megatron-2022"),
        ("Megatron-LM", "2024-01", "megatron-2023"),
        ("Megatron-LM", "2024-03", "megatron-core"),
        ("Megatron-LM", "", "megatron-core"),
        ("NeMo", "2026-01", "megatron-bridge"),
        ("NeMo 24.09 container", "2024-09", "nemo-2024"),
        # What ran before the first of a family is read as that; a source's own stack never is.
        ("DeepSpeed", "2021", "deepspeed-2023"),
        ("Megatron-DeepSpeed", "2021-11", "megatron-deepspeed-2021"),
        ("PyTorch FSDP2", "", "torch-fsdp2"),
        ("PyTorch FSDP", "2023-06", "torch-fsdp"),
        ("torchtitan", "", "torchtitan-2024"),
        ("MaxText", "", "maxtext-2023"),
        ("", "", ""),
    ],
)
def test_a_family_is_read_by_its_date(text: str, date: str, stack: str) -> None:
    assert stack_of(text, date) == stack


@pytest.mark.parametrize("name", stack_names())
def test_every_stack_stands_for_itself_whatever_the_date(name: str) -> None:
    # What is assumed where nobody names anything is no name.
    stands_for = "" if Said(stack=name).nobodys else name
    assert {stack_of(name, date) for date in ("", "2020-01", "2030-01")} == {stands_for}


def test_a_family_is_told_and_only_an_exact_name_narrows_the_interval() -> None:
    exact, family = (asked("kor22-001", software=name) for name in ("megatron-2022", "Megatron-LM"))
    assert family.software.stack == exact.software.stack
    assert (exact.software.known, family.software.known) == (True, False)
    assert exact.software.assumed == ()
    (record,) = family.software.assumed
    assert (record.what, record.value) == ("stack", "megatron-2022")
    assert "current in 2022-06 of megatron" in str(record)
    assert "megatron" in set(families()) - set(stack_names())


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
    named = asked("mbridge-008", **cells)
    (record,) = (one for one in named.assumed if one.word)
    assert (record.what, record.word) == (what, "gloss")
    assert "'gloss' not understood" in str(record)
    assert "not stated" not in str(record)
    assert named.software.known == (column != "software")


@pytest.mark.parametrize(
    "cell", ["nosuch=1", "flash=much", "flash", "memory.flash=1", "flash=-1", "kernel=slow"]
)
def test_a_fact_that_is_none_is_refused(cell: str) -> None:
    with pytest.raises(Incomplete, match=r"(fact|kernel).*(nosuch|flash|slow)"):
        facts("kor22-001", facts=cell)
