"""Rows that stand out, and what a user is told of them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from steptime.cli.main import run as command
from steptime.cli.validation_words import print_doubts
from steptime.evidence.diagnose import diagnoses
from steptime.evidence.judge import validation
from steptime.evidence.schema import PublishedRow
from steptime.inputs.constants import published_constants

PLAIN = PublishedRow.model_validate(
    {
        "id": "r1",
        "source": "acme2026",
        "model": "llama3-8b",
        "gpu": "h100",
        "gpus": 16,
        "tp": 2,
        "pp": 1,
        "mbs": 1,
        "gbs": 128,
        "seq_len": 8192,
        "recompute": "none",
        "precision": "bf16",
        "zero": "1",
        "step_time_s": 7.0,
    }
)


# ---- limit: a slip in the unit is found


@pytest.mark.parametrize(
    ("slip", "words"),
    [
        ({"step_time_s": 1000.0}, "milliseconds"),
        ({"mfu_pct": 0.01}, "fraction"),
        ({"tokens_per_s_per_gpu": 16.0}, "whole job"),
    ],
)
def test_a_slip_in_the_unit_is_named(slip: dict[str, float], words: str) -> None:
    (column, factor), *_ = slip.items()
    time_s = validation([PLAIN]).rows[0].step_time_s
    tokens = 128 * 8192 / 16 / time_s
    exact = {
        "step_time_s": time_s,
        "tokens_per_s_per_gpu": tokens,
        "mfu_pct": validation([PLAIN]).rows[0].tflops_per_gpu / 989 * 100,
    }[column]
    names = ("step_time_s", "tokens_per_s_per_gpu", "mfu_pct")
    only = {name: (exact if name == column else None) for name in names}
    rows = [PLAIN.model_copy(update={**only, "id": f"r{n}"}) for n in range(4)]
    rows[2] = rows[2].model_copy(update={column: exact * factor})
    (doubt,) = diagnoses(rows, validation(rows).rows, published_constants())
    assert (doubt.id, doubt.suspicion) == ("r2", "mis-described")
    assert words in doubt.why


# ---- limit: what no device can do


def test_a_row_over_the_peak_is_named_even_alone() -> None:
    (row,) = [PLAIN.model_copy(update={"step_time_s": 0.7})]
    (doubt,) = diagnoses([row], validation([row]).rows, published_constants())
    assert doubt.suspicion == "mis-measured"
    assert "over the device's peak of 989" in doubt.why
    assert doubt.typical == 0.0


def test_a_batch_in_tokens_that_outruns_the_peak_is_read_again() -> None:
    # 65,536 tokens are 8 sequences; too few for the reader to take them for tokens.
    time_s = validation([PLAIN.model_copy(update={"gbs": 8})]).rows[0].step_time_s
    row = PLAIN.model_copy(update={"gbs": 8 * 8192, "step_time_s": time_s})
    (doubt,) = diagnoses([row], validation([row]).rows, published_constants())
    assert doubt.suspicion == "mis-described"
    assert "gbs in tokens" in doubt.why


def test_a_row_too_slow_for_any_cluster_is_mis_described_even_alone() -> None:
    time_s = validation([PLAIN]).rows[0].step_time_s
    rows = [PLAIN.model_copy(update={"id": f"r{n}", "step_time_s": 12.0 * time_s}) for n in (1, 2)]
    doubts = diagnoses(rows, validation(rows).rows, published_constants())
    assert {doubt.suspicion for doubt in doubts} == {"mis-described"}
    assert [doubt.id for doubt in doubts] == ["r1", "r2"]
    assert all("12 times apart: check units" in doubt.why for doubt in doubts)


# ---- invariant: one convention, the table's


def _beside_three(**changes: object) -> tuple[PublishedRow, ...]:
    """Return a row with changes and the time of `PLAIN`, and three that are as slow as most."""
    time_s = validation([PLAIN]).rows[0].step_time_s
    usual = [
        PLAIN.model_copy(update={"id": f"u{n}", "gbs": 128 * n, "step_time_s": 1.2 * n * time_s})
        for n in (1, 2, 3)
    ]
    return PLAIN.model_copy(update={"id": "odd", **changes}), *usual


def test_a_reading_that_leaves_the_tables_error_as_large_is_not_proposed() -> None:
    """In a file that is a fifth slow, one row is faster: fp8 would be off as far the other way."""
    time_s = validation([PLAIN]).rows[0].step_time_s
    odd, _, *usual = _beside_three(step_time_s=0.85 * time_s)
    rows = [odd, *usual]
    results = validation(rows).rows
    (doubt,) = diagnoses(rows, results, published_constants())
    fp8 = validation([rows[0].model_copy(update={"precision": "fp8"})]).rows[0]
    before = results[0].error_fraction
    assert before == pytest.approx(-0.15)
    # As ln(predicted / measured) beside the middle it would be a mend; as the table has it, none.
    assert abs(fp8.error_fraction) > 0.5 * abs(before)
    assert (doubt.id, doubt.suspicion) == ("odd", "unexplained")
    assert doubt.why == "its error is -15.0 %, faster than predicted"


def test_a_reading_is_told_with_the_error_that_the_table_would_show() -> None:
    eight = PLAIN.model_copy(update={"precision": "fp8"})
    time_s = 0.97 * validation([eight]).rows[0].step_time_s
    base_s = validation([PLAIN]).rows[0].step_time_s
    usual = [
        PLAIN.model_copy(update={"id": f"u{n}", "gbs": 128 * n, "step_time_s": n * base_s})
        for n in (1, 2, 3)
    ]
    rows = [PLAIN.model_copy(update={"id": "odd", "step_time_s": time_s}), *usual]
    (doubt,) = diagnoses(rows, validation(rows).rows, published_constants())
    told = validation([eight.model_copy(update={"step_time_s": time_s})]).rows[0].error_fraction
    assert told == pytest.approx(-0.03)
    assert doubt.why == f"with precision fp8 the error would be {100 * told:+.1f} %"


def test_a_row_that_is_too_fast_is_not_told_to_look_for_a_slow_node(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for time_s, words in ((0.7, "the clock waits"), (None, "slow node")):
        odd, *usual = _beside_three(step_time_s=0.7)
        if time_s is None:
            # Its twin is one of the three: the same layout, 60 % slower.
            odd = odd.model_copy(update={"step_time_s": 1.6 * (usual[0].step_time_s or 0.0)})
        rows = [odd, *usual]
        doubts = diagnoses(rows, validation(rows).rows, published_constants())
        assert [(one.id, one.suspicion) for one in doubts] == [("odd", "mis-measured")]
        print_doubts(doubts)
        advice = capsys.readouterr().out.partition("what to do:")[2]
        assert words in advice
        assert ("slow node" in advice) == (words == "slow node")


def test_no_row_no_doubt() -> None:
    assert diagnoses([PLAIN], [], published_constants()) == ()


# ---- invariant: a whole source that is off


@pytest.mark.parametrize(("factor", "side"), [(0.7, "faster"), (1.4, "slower")])
def test_a_source_that_is_off_as_a_whole_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], factor: float, side: str
) -> None:
    time_s = factor * validation([PLAIN]).rows[0].step_time_s
    head = "id,source,model,gpu,gpus,tp,pp,mbs,gbs,seq_len,recompute,precision,zero,step_time_s\n"
    cells = "acme2026,llama3-8b,h100,16,2,1,1,128,8192,none,bf16,1"
    lines = [f"r{n},{cells},{time_s * (1.0 + 0.01 * n)!r}\n" for n in range(4)]
    (tmp_path / "runs.csv").write_text(head + "".join(lines), encoding="utf-8")
    assert command(["validate", str(tmp_path / "runs.csv")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    bias = abs(math.log(factor) + sum(math.log1p(0.01 * n) for n in range(4)) / 4)
    size = f"{100 * math.expm1(bias):.0f} %"
    assert f"the 4 rows of acme2026 are on average {size} {side} than predicted: name" in said
