"""What a part of a measured step could differ by: asked of the model, then what is usual."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from steptime.answer import predict
from steptime.answer.answer import Prediction
from steptime.evidence.trace_beside import beside, predicted_parts
from steptime.inputs.datafiles import data_path
from steptime.inputs.stack import FACT_NAMES
from steptime.planning.causes import Asker, causes_known, wide_slowdown, wide_time_s
from steptime.planning.part_causes import PartCause, part_causes
from steptime.readers.trace.kernel_names import parts

QUESTION: dict[str, Any] = {
    "model": "llama3-8b",
    "accelerator": "h100",
    "tp": 2,
    "dp": 4,
    "seq_length": 4096,
    "global_batch_size": 32,
    "stack": "megatron",
}


def causes(told: Prediction, changed: dict[str, float]) -> dict[str, PartCause]:
    """Return the causes where parts were measured otherwise, the rest as predicted."""
    said = predicted_parts(told)
    rows = beside(said | changed, {}, said)
    return part_causes(rows, Asker(own=told, software=told.software.stack.family))


# what the model was asked


@pytest.mark.parametrize(
    ("facts", "part", "name", "flag"),
    [
        ({"kernel": "stored"}, "attention", "attention", "--attention-backend flash"),
        ({"eager": 1.0}, "elementwise", "eager", "--transformer-impl transformer_engine"),
    ],
)
def test_a_run_with_a_cause_is_told_that_cause(
    facts: dict[str, Any], part: str, name: str, flag: str
) -> None:
    told, run = predict(**QUESTION), predict(**QUESTION, facts=facts)
    found = causes(told, {part: predicted_parts(run)[part]})
    best = found[part].asked[0]
    assert (best.name, best.flag) == (name, flag)
    assert best.gap_fraction == pytest.approx(1.0)
    assert best.part_s == pytest.approx(predicted_parts(run)[part])
    assert found[part].side == "slower"
    # And from the other side: a run without what was taken to be so.
    again = causes(run, {part: predicted_parts(told)[part]})[part]
    assert again.side == "faster"
    assert all(one.flag == "" for one in again.asked)


def test_products_in_32_bits_are_as_much_slower_as_the_rates_say() -> None:
    told = predict(**QUESTION)
    # 989.4 TFLOP/s in 16 bits, 67 in 32: the data sheet.
    assert wide_slowdown(told) == pytest.approx(989.4 / 67, rel=1e-3)
    slow = predicted_parts(told)["products"] * 989.4 / 67
    best = causes(told, {"products": slow})["products"].asked[0]
    assert best.name == "fp32"
    assert best.gap_fraction == pytest.approx(1.0, rel=1e-3)
    assert wide_slowdown(predict(**QUESTION, precision="fp8")) is None
    assert wide_time_s(predict(**QUESTION, precision="fp8")) is None


def test_what_explains_nothing_of_a_gap_is_not_named() -> None:
    told = predict(**QUESTION)
    said = predicted_parts(told)
    found = causes(told, {"attention": said["attention"] + 0.03 * told.step_time_s})["attention"]
    # Stored scores would cost several times that.
    assert found.asked == ()
    assert "kernel" in found.usual


def test_a_small_gap_is_not_spoken_of() -> None:
    told = predict(**QUESTION)
    said = predicted_parts(told)
    changed = {
        "products": said["products"] + 0.01 * told.step_time_s,
        "host": 0.5 * told.step_time_s,
    }
    found = causes(told, changed)
    assert set(found) == {"host"}
    assert "CUDA graphs" in found["host"].remedy


def test_attention_that_no_kernel_shows_is_said_to_be_stored_not_faster() -> None:
    told = predict(**QUESTION)
    found = causes(told, {"attention": 0.0})["attention"]
    assert (found.side, found.asked) == ("missing", ())
    assert "scores are stored" in found.usual


def test_computing_in_one_part_is_spoken_for_by_products() -> None:
    told = predict(**QUESTION, predictor="baseline")
    found = causes(told, {"products": 2.0 * told.step_time_s})["compute"]
    assert found.side == "slower"
    assert "nvidia-smi" in found.remedy


# the table


def test_every_part_has_its_causes() -> None:
    table = tomllib.loads(data_path("causes.toml").read_text(encoding="utf-8"))
    usual = {part: sides for part, sides in table["usual"].items() if part != "least"}
    assert set(usual) == set(parts())
    for part, sides in usual.items():
        assert {"slower", "faster"} <= set(sides) or part in ("unknown", "messages")
        for side in sides.values():
            assert set(side) == {"cause", "try", "source"}
    for entry in causes_known().values():
        assert set(entry["parts"]) <= set(parts())


def test_facts_that_the_table_tells_to_state_exist() -> None:
    text = data_path("causes.toml").read_text(encoding="utf-8")
    named = re.findall(r"--fact (\w+)=", text)
    assert len(named) >= 4
    assert set(named) <= set(FACT_NAMES)
