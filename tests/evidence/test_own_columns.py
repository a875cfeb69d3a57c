"""A column may be headed as the option or the parameter that states the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import steptime
from steptime.evidence.own_cells import column_of
from steptime.evidence.own_rows import own_rows
from steptime.evidence.row_question import question_of_run
from steptime.evidence.runs import run_of
from steptime.inputs.fields import FIELDS
from steptime.inputs.training_step import TrainingStep

ROW = {
    **{"model": "gpt3-175b", "gpu": "a100-80gb", "gpus": "128", "tp": "8", "pp": "8"},
    **{"mbs": "1", "gbs": "256", "seq_len": "2048", "recompute": "full", "vpp": "1"},
    **{"zero": "1", "sp": "y", "step_time_s": "30"},
}


def step_of(folder: Path, **cells: str) -> TrainingStep:
    row = ROW | cells
    path = folder / "runs.csv"
    path.write_text("\n".join((",".join(row), ",".join(row.values()))), encoding="utf-8")
    (read,) = own_rows(path).rows
    return question_of_run(run_of(read)).step


# Invariant: nothing that a question can state is without a column


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_each_option_names_a_column(field: object) -> None:
    names = {field.name, *(flag for flag in field.flags[:1] for flag in flag.split("/")[:1])}  # type: ignore[attr-defined]
    # `--fact` states one, a cell states several between semicolons.
    columns = {column_of(name) for name in names - {"--fact"}}
    assert None not in columns
    assert len(columns) == 1


def test_a_network_is_read_as_the_option_states_it(tmp_path: Path) -> None:
    asked = {"model": "gpt3-175b", "accelerator": "a100-80gb", "network_gbit": 100}
    sizes = {"tp": 8, "pp": 8, "num_gpus": 128, "seq_length": 2048, "global_batch_size": 256}
    said = steptime.training_step(**asked, **sizes, recompute="full").accelerator  # type: ignore[arg-type]
    for head in ("network_gbit", "--network-gbit", "network"):
        assert step_of(tmp_path, **{head: "100"}).accelerator == said
    bare = step_of(tmp_path).accelerator
    assert bare == replace(said, network_bytes_per_s=bare.network_bytes_per_s, network_stated=False)
    assert bare.network_bytes_per_s != said.network_bytes_per_s


def test_ends_of_the_pipeline_and_rank_order_are_read(tmp_path: Path) -> None:
    plain = step_of(tmp_path).layout
    ends = step_of(tmp_path, first_stage_layers="6", last_stage_layers="6").layout
    assert ends == replace(plain, first_stage_layers=6, last_stage_layers=6)
    assert step_of(tmp_path, order="llama3").layout == replace(plain, order="llama3")
    assert step_of(tmp_path, order="n/a", first_stage_layers="-").layout == plain


def test_a_large_b_is_the_whole_batch_and_a_small_one_a_micro_batch() -> None:
    assert (column_of("B"), column_of("b")) == ("gbs", "mbs")


# Refusal


def test_an_order_that_a_model_does_not_know_is_skipped_with_the_way_out(tmp_path: Path) -> None:
    row = ROW | {"order": "llama3", "id": "r1"}
    path = tmp_path / "runs.csv"
    path.write_text("\n".join((",".join(row), ",".join(row.values()))), encoding="utf-8")
    ((name, reason),) = steptime.validate(path).skipped
    assert name == "r1"
    assert "--predictor baseline" in reason
    assert not steptime.validate(path, predictor="baseline").skipped
