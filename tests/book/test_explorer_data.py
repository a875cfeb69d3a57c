"""What the explorer knows beside the formulas: presets, schedules, published layouts."""

from __future__ import annotations

from typing import Any

import pytest

from steptime.answer import predict
from steptime.book.explorer_data import explorer_data
from steptime.book.explorer_runs import published_layouts
from steptime.book.references import with_names
from steptime.evidence.schema import published_rows
from steptime.inputs.job import JOB_FIELDS
from steptime.inputs.layout import SCHEDULES
from steptime.inputs.presets import accelerator_names, model, model_names
from steptime.inputs.software_taken import MIXTURES


# --- limit
def test_data_of_the_page_covers_every_preset_and_field() -> None:
    data = explorer_data()
    assert [one["key"] for one in data["models"]][:3] == [
        "gpt3-175b",
        "megatron-1008b",
        "llama3-405b",
    ]
    assert {one["key"] for one in data["models"]} == set(model_names())
    assert {one["key"] for one in data["accelerators"]} == set(accelerator_names())
    said = [data["blank_job"], data["models"][0]["fields"], data["accelerators"][0]["fields"]]
    assert sorted(name for part in said for name in part) == sorted(JOB_FIELDS)
    assert [one["key"] for one in data["schedules"]] == list(SCHEDULES)
    assert all(one["source"] for one in data["models"] + data["accelerators"])


def test_published_layouts_are_legal_and_fit_as_they_did() -> None:
    found = published_layouts()
    assert set(found) >= {"gpt3-175b", "megatron-1008b", "llama3-405b", "deepseek-v3"}
    for name, entry in found.items():
        state = entry["state"]
        found = predict(
            model=name,
            accelerator=state["gpu"],
            seq_length=state["seq"],
            global_batch_size=state["batch"],
            micro_batch_size=state["mb"],
            dp=state["n"] // (state["tp"] * state["cp"] * state["pp"]),
            sequence_parallel=bool(state["sp"]),
            zero_stage=state["zero"],
            **{key: state[key] for key in ("tp", "cp", "pp", "vpp", "ep", "etp")},
            **{key: state[key] for key in ("recompute", "precision", "schedule")},
        )
        assert found.fits, (name, entry["id"])


def test_a_published_layout_is_of_the_model_itself() -> None:
    found = published_layouts()
    rows = {row.id: row for row in published_rows()}
    assert "mistral-7b" not in found
    # Its published run has one server's 1,048,576 tokens: only its own software makes them fit.
    assert "qwen3-8b" not in found
    for name, entry in found.items():
        row = rows[entry["id"]]
        assert model(row.model.split(" (")[0]).name == model(name).name
        assert entry["source"] == with_names(row.source)


# --- what the stories say beside their numbers
def test_full_recomputation_fits_the_long_sequence_too_in_more_time() -> None:
    shared: dict[str, Any] = {
        "model": "llama3-8b",
        "accelerator": "h100",
        "tp": 8,
        "seq_length": 131072,
    }
    shared |= {"global_batch_size": 64, "zero_stage": 0, "predictor": "baseline"}
    kept = predict(**shared, cp=4, dp=1)
    again = predict(**shared, cp=1, dp=4, recompute="full")
    assert not predict(**shared, cp=1, dp=4).fits
    assert kept.fits
    assert again.fits
    assert again.step_time_s > 1.1 * kept.step_time_s


def test_memory_hardly_moves_with_the_number_of_micro_batches() -> None:
    shared: dict[str, Any] = {
        "model": "gpt3-175b",
        "accelerator": "a100",
        "tp": 8,
        "pp": 8,
        "seq_length": 2048,
    }
    few, many = (predict(**shared, global_batch_size=size, recompute="full") for size in (10, 64))
    assert few.memory.total_bytes == pytest.approx(many.memory.total_bytes, rel=0.01)


def test_the_page_says_which_sharding_runs_on_other_software() -> None:
    told = explorer_data()["software"]
    assert [MIXTURES[one["name"]] in one["title"] for one in told] == [True, True]
    assert "ZeRO-3" in told[0]["title"]
    assert "ZeRO-0 to 2" in told[1]["title"]
