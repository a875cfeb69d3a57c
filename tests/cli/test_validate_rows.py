"""Rows that `steptime validate` cannot score as they stand: bounds, impossible runs, bad words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steptime.evidence.contradictions import WILD

Call = Callable[..., tuple[int, str, str]]

# 8 GPUs, 64 sequences of 4096 tokens in 8 s: 4096 tokens a second and GPU, 208 TFLOP/s.
RUN = {
    "id": "mine",
    "model": "llama3-8b",
    "gpu": "h100",
    "gpus": "8",
    "tp": "1",
    "pp": "1",
    "gbs": "64",
    "mbs": "1",
    "seq_len": "4096",
    "recompute": "selective",
    "zero": "3",
    "step_time_s": "8",
    "tflops_per_gpu": "",
    "software": "",
}


@pytest.fixture
def told(steptime: Call, tmp_path: Path) -> Callable[..., tuple[int, dict[str, Any], str, str]]:
    def ask(*changes: dict[str, str]) -> tuple[int, dict[str, Any], str, str]:
        rows = [RUN | {"id": f"r{n}"} | one for n, one in enumerate(changes)]
        lines = [",".join(RUN), *(",".join(row.values()) for row in rows)]
        path = tmp_path / "mine.csv"
        path.write_text("\n".join(lines) + "\n")
        status, out, err = steptime("validate", str(path), "--json")
        _, text, _ = steptime("validate", str(path))
        return status, json.loads(out), " ".join(text.split()), err

    return ask


# ---- bounds


@pytest.mark.parametrize(
    ("blank", "columns", "choices"),
    [
        (("mbs",), ["mbs"], 3),
        (("mbs", "zero"), ["mbs", "zero"], 12),
        (("mbs", "recompute", "zero"), ["mbs", "recompute", "zero"], 36),
    ],
)
def test_what_is_open_gives_bounds_over_every_choice(
    told: Callable[..., Any], blank: tuple[str, ...], columns: list[str], choices: int
) -> None:
    status, found, text, _ = told({}, dict.fromkeys(blank, ""))
    assert status == 0
    (one,) = found["open"]
    assert (one["id"], one["open"], one["choices"]) == ("r1", columns, choices)
    assert found["skipped"] == []
    assert [row["id"] for row in found["rows"]] == ["r0"]
    # The choice that r0 states lies between.
    assert one["step_time_low_s"] <= found["rows"][0]["step_time_low_s"]
    assert found["rows"][0]["step_time_high_s"] <= one["step_time_high_s"]
    assert "runs that leave something open" in text


def test_recomputation_that_software_has_no_habit_of_is_bounded(told: Callable[..., Any]) -> None:
    _, found, _, _ = told({"software": "paxml", "recompute": ""})
    (one,) = found["open"]
    assert one["open"] == ["recompute"]
    assert (one["fastest"], one["slowest"]) == ("recompute none", "recompute full")


# ---- impossible


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"step_time_s": "1"}, "over the device's peak of 989"),
        ({"step_time_s": "8000"}, "times apart: check units"),
        ({"tflops_per_gpu": "900"}, "contradicts tflops_per_gpu 900"),
    ],
)
def test_what_no_device_measured_is_named_and_in_no_mean(
    told: Callable[..., Any], change: dict[str, str], words: str
) -> None:
    status, found, text, _ = told({}, change)
    alone = told({})[1]
    assert status == 0
    (one,) = found["kept_out"]
    assert one["id"] == "r1"
    assert words in one["reason"]
    assert [row["kept_out"] for row in found["rows"]] == ["", one["reason"]]
    assert found["summary"] == alone["summary"]
    assert f"r1 is no measurement, no mean or fit counts it: {one['reason']}" in text


def test_a_slow_cluster_is_no_impossible_run(told: Callable[..., Any]) -> None:
    _, found, _, _ = told({"step_time_s": "30"})
    assert found["kept_out"] == []
    assert found["rows"][0]["published_step_time_s"] < WILD * found["rows"][0]["step_time_s"]


# ---- words


@pytest.mark.parametrize("stage", ["7", "4", "1.5", "-1", "\N{MINUS SIGN}2"])
def test_a_number_that_is_no_stage_of_zero_is_refused(told: Callable[..., Any], stage: str) -> None:
    _, found, _, _ = told({}, {"zero": stage})
    assert [row["id"] for row in found["rows"]] == ["r0"]
    (one,) = found["skipped"]
    assert one["id"] == "r1"
    assert f"zero '{stage}' is no stage: 0, 1, 2 and 3 are" in one["reason"]
    # Words are still reported, and numbers that are stages still read.
    _, found, _, _ = told({"zero": "3.0"}, {"zero": "sharded"})
    assert [row["not_understood"] for row in found["rows"]] == [{}, {"zero": "sharded"}]


def test_a_word_that_nobody_knows_stands_in_its_row(told: Callable[..., Any]) -> None:
    _, found, text, _ = told({}, {"recompute": "selectve", "software": "fspd"})
    assert [row["not_understood"] for row in found["rows"]] == [
        {},
        {"recompute": "selectve", "software": "fspd"},
    ]
    assert "not understood" in text
    assert "'selectve'" in text


# ---- refusal


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (({"gpu": "abacus"},), "no row could be scored: r0: unknown accelerator 'abacus'"),
        (({"step_time_s": "0.001"},), "no row could be scored: r0: it amounts to"),
    ],
)
def test_a_file_of_which_nothing_can_be_scored_is_refused(
    told: Callable[..., Any], changes: tuple[dict[str, str], ...], words: str
) -> None:
    status, found, _, err = told(*changes)
    assert status == 2
    assert found["summary"]["rows"] == 0
    assert words in err


TABLE = "model,gpu,gpus,tp,pp,mbs,gbs,seq_len,step_time_s,network"


@pytest.mark.parametrize(
    ("more", "cells", "told", "untold"),
    [
        ("", ",", "name their software and network (columns of that name), or fit", "torchtitan"),
        (
            "",
            ",400 Gb/s per GPU",
            "name their software (columns of that name), or fit",
            "network (",
        ),
        (
            ",software",
            ",,torchtitan",
            "name their network (columns of that name), or fit",
            "name their software",
        ),
        (
            ",software",
            ",400 Gb/s per GPU,torchtitan",
            "than predicted: fit the constants",
            "name their",
        ),
    ],
)
def test_rows_to_one_side_are_asked_for_what_they_leave_open_alone(
    steptime: Call, tmp_path: Path, more: str, cells: str, told: str, untold: str
) -> None:
    path = tmp_path / "runs.csv"
    sizes = [(16, 128, 15.2), (32, 256, 15.4), (64, 512, 15.6), (128, 1024, 15.8)]
    rows = [f"llama3-8b,h100,{n},1,1,1,{b},8192,{s}{cells}" for n, b, s in sizes]
    path.write_text("\n".join([TABLE + more, *rows, ""]))
    status, out, _ = steptime("validate", str(path))
    shown = " ".join(out.split())
    assert status == 0
    assert "the 4 rows are on average" in shown
    assert told in shown
    assert untold not in shown.partition("the 4 rows are")[2].partition("--fit")[0]
    fitted = steptime("validate", str(path), "--fit", str(tmp_path / "fit.toml"))[1]
    words = " ".join(fitted.split())
    # Two means of the same rows: the other one says that it is of logarithms.
    assert words.count("mean error ") == 1 + words.count("mean error in ln(step time)") > 1
