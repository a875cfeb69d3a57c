"""What is tried and what is written, choice by choice."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from steptime.answer import Question, predict
from steptime.inputs.errors import ConfigError
from steptime.inputs.layout import Batch, Layout
from steptime.inputs.model import ModelShape
from steptime.inputs.presets import accelerator, model
from steptime.inputs.training_step import training_step
from steptime.planning import faster, part_causes, remedy
from steptime.planning import question as asked
from steptime.planning.cause_flags import _has
from steptime.planning.cuts import chunk_counts
from steptime.planning.emit import emitted
from steptime.planning.emit.best import _facts
from steptime.planning.emit.words import context_names
from steptime.planning.placement import domains_needed, place
from steptime.planning.search import search

LLAMA: dict[str, Any] = {
    **{"model": "llama3-8b", "accelerator": "h100", "seq_length": 4096},
    "global_batch_size": 64,
}
BATCH = Batch(global_batch_size=64, seq_length=4096)
AXES = ["tp", "cp", "dp", "pp"]


def script(kind: str, **sizes: Any) -> str:
    return emitted(kind, model("llama3-8b"), Layout(**{"dp": 8, "zero_stage": 1} | sizes), BATCH)


@pytest.mark.parametrize(
    ("layers", "pp", "counts"),
    [
        (12, 4, [1, 2, 3]),
        # 126 over 16: chunks of 8 layers; of 7, 6, 5 and 4 two; of 3 three; of 2 four; of 1 eight.
        (126, 16, [1, 2, 3, 4, 8]),
        (7, 1, [1]),
    ],
)
def test_counts_of_chunks_worth_trying(layers: int, pp: int, counts: list[int]) -> None:
    assert chunk_counts(layers, pp) == counts


def changes(found: Any) -> list[dict[str, Any]]:
    """Return what each change does to a step that has nothing of it."""
    plain = training_step(**LLAMA, dp=8, micro_batch_size=4, zero_stage=0)
    changed = [change.asked(Question(step=plain)) for change in found(plain)]
    return [
        {"zero": one.step.layout.zero_stage, "micro": one.step.batch.micro_batch_size}
        for one in changed
        if one is not None
    ]


def test_a_faster_step_is_sought_in_all_sharding_and_both_sizes() -> None:
    tried = changes(faster._switches)
    assert {one["zero"] for one in tried} == {0, 1, 3}
    # Twice as large and half as large.
    assert {one["micro"] for one in tried} == {2, 4, 8}


def test_what_fits_is_sought_with_one_sequence_at_a_time() -> None:
    tried = changes(remedy._switches)
    assert {one["micro"] for one in tried} == {1, 4}
    assert {one["zero"] for one in tried} == {0, 1, 2, 3}


def test_megatron_is_told_its_core_models_and_to_overlap_gradients() -> None:
    # megatronlm2026, training/arguments.py: --use-mcore-models and --overlap-grad-reduce are flags.
    words = script("megatron", dp=2).split()
    assert "--use-mcore-models" in words
    assert "--overlap-grad-reduce" in words
    alone = script("megatron", dp=1, tp=8, sequence_parallel=True, zero_stage=0).split()
    assert "--overlap-grad-reduce" not in alone


def test_deepspeeds_file_is_written_two_spaces_in() -> None:
    assert '\n  "train_batch_size": 64,\n' in script("deepspeed")


@pytest.mark.parametrize(
    ("cp", "tp", "sizes"),
    # The inner ranks share heads inside a server of 8, beside tensor ranks; the rest is a ring.
    [
        *((8, 1, [8, 1]), (16, 1, [8, 2]), (8, 2, [4, 2]), (4, 1, [4, 1]), (12, 1, [4, 3])),
        *((3, 1, [1, 3]), (4, 8, [1, 4]), (4, 16, [1, 4])),
    ],
)
def test_both_levels_of_context_ranks(cp: int, tp: int, sizes: list[int]) -> None:
    layout = Layout(cp=cp, tp=tp, sequence_parallel=tp > 1)
    names = context_names({"cp_comm_type": "a2a+p2p"}, layout)
    assert names["hierarchical_context_parallel_sizes"] == sizes


def test_a_file_says_what_its_words_can_of_named_software() -> None:
    dense = predict(**LLAMA, dp=8, stack="megatron-core")
    assert "plain_exchange" not in _facts("megatron", dense)
    mixed = predict(**LLAMA | {"model": "mixtral-8x7b"}, dp=8, ep=8, stack="megatron-core")
    assert "plain_exchange" in _facts("megatron", mixed)
    # Nothing is named, so nothing is said but that; and waits of the host have no word.
    unnamed = predict(**LLAMA, dp=8)
    assert set(_facts("megatron", unnamed)) <= {"overlap_tp"}
    assert "host_layer_s" not in _facts("megatron", dense)
    assert dense.software.lines["host_layer_s"].value > 0.0
    assert _facts("megatron", dense) != {}


@pytest.mark.parametrize("told", [None, 1.5])
def test_a_cause_that_says_nothing_of_parts_has_none(told: float | None) -> None:
    name = next(name for name, entry in part_causes.causes_known().items() if not entry.get("wide"))
    asker: Any = SimpleNamespace(
        with_cause=lambda _: told, without_cause=lambda _: told, constants=None
    )
    row: Any = SimpleNamespace(gap_s=1.0, predicted_s=1.0, part="compute")
    assert part_causes._part_s(row, asker, name) is None


def test_what_no_software_has_counts_as_none() -> None:
    bare = predict(**LLAMA, dp=8, predictor="baseline")
    assert not _has(bare, {"least": {"no such fact": 1}})
    assert not _has(bare, {"least": {"no such fact": 0.5}})
    assert _has(bare, {"most": {"no such fact": 0.0}, "least": {"dp": 8}})


@pytest.mark.parametrize(("ep", "used"), [(1, 5), (2, 4), (4, 4)])
def test_expert_ranks_stay_in_a_domain(ep: int, used: int) -> None:
    """Of 5 GPUs of a domain pairs and fours use 4, and ranks without experts all."""
    layout = Layout(ep=ep, dp=20)
    assert domains_needed(layout, 5, AXES) == (20 // used, used)


def test_sizes_are_bounded_where_they_say() -> None:
    with pytest.raises(ConfigError, match="domain_size"):
        place(Layout(dp=8), domain_size=10**6 + 1)
    assert place(Layout(dp=8), domain_size=10**6)
    given: dict[str, Any] = {"model": model("llama3-8b"), "accelerator": accelerator("h100")}
    given |= {"num_devices": 8, "global_batch_size": 8}
    with pytest.raises(ConfigError, match="seq_length"):
        asked.Question(**given, seq_length=10**9 + 1)
    assert asked.Question(**given, seq_length=10**9).seq_length == 10**9


def test_sizes_that_cannot_be_cut_are_counted_by_their_reason() -> None:
    """Seven heads: no two tensor ranks share them."""
    odd = ModelShape(
        **{"name": "odd", "num_layers": 8, "hidden_size": 448, "ffn_hidden_size": 1792},
        **{"num_attention_heads": 7, "num_query_groups": 7, "vocab_size": 32000},
    )
    found = search(
        asked.Question(
            model=odd,
            accelerator=accelerator("h100"),
            num_devices=8,
            global_batch_size=64,
            seq_length=2048,
        )
    )
    told = " ".join(found.dropped)
    assert "heads" in told, found.dropped


def test_a_heavy_head_lightens_the_last_of_two_stages() -> None:
    """Gemma's vocabulary on two stages: fewer layers beside the head save time."""
    found = search(
        asked.Question(
            **{"model": model("gemma2-9b"), "accelerator": accelerator("h100")},
            **{"num_devices": 16, "global_batch_size": 64, "seq_length": 2048},
            pinned=(("pp", (2,)), ("tp", (1, 2))),
        )
    )
    ends = [(one.layout.first_stage_layers, one.layout.last_stage_layers) for one in found.best[:9]]
    assert any(0 < last < first for first, last in ends), ends
    # What splits that were not tried would have to save is more than nothing, and less than all.
    assert 0.0 < (found.splits.to_win or 0.0) < 1.0
    # Ties are those that the model cannot tell from the first.
    near = found.best[0].step_time_s * (1.0 + found.tie_fraction)
    assert found.num_ties == sum(one.step_time_s <= near for one in found.best) > 1
