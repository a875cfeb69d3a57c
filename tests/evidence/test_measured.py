import re

import pytest

from steptime.evidence.measured import flop_convention, published_step_time_s
from steptime.evidence.runs import Incomplete, run_of
from steptime.evidence.schema import PublishedRow, published_rows

BY_ID = {row.id: row for row in published_rows()}


def row(**cells: object) -> PublishedRow:
    base = {
        "id": "x",
        "model": "Llama-3-8B",
        "layers": 32,
        "hidden": 4096,
        "heads": 32,
        "kv_heads": 8,
        "ffn": 14336,
        "gated_mlp": "y",
        "vocab": 128256,
        "seq_len": 8192,
        "gpu": "H100-80GB SXM",
        "gpus": 8,
        "tp": 1,
        "pp": 1,
        "mbs": 1,
        "gbs": 128,
        "precision": "bf16",
        "recompute": "none",
    }
    return PublishedRow.model_validate(base | cells)


# published


def test_printed_seconds_come_first() -> None:
    assert published_step_time_s(run_of(BY_ID["kor22-001"])) == 1.42


TABLE_2 = [name for name, row in BY_ID.items() if re.match(r"\d+ days for 300B", row.notes)]


@pytest.mark.parametrize("name", TABLE_2)
def test_narayanan2021_table_2_days_follow_from_its_rates(name: str) -> None:
    run = run_of(BY_ID[name])
    tokens = run.batch.global_batch_size * run.batch.seq_length
    seconds = published_step_time_s(run) * 300e9 / tokens
    printed = int(BY_ID[name].notes.split(" days")[0])
    assert seconds / 86400 == pytest.approx(printed, abs=1)


def test_table_2_has_all_its_rows() -> None:
    assert len(TABLE_2) == 12


# invariant


def test_tokens_and_seconds_agree() -> None:
    by_tokens = published_step_time_s(run_of(row(tokens_per_s_per_gpu=10000)))
    assert by_tokens == pytest.approx(128 * 8192 / 8 / 10000, rel=1e-12)


def test_utilisation_needs_the_peak() -> None:
    by_share = published_step_time_s(run_of(row(mfu_pct=50)))
    by_rate = published_step_time_s(run_of(row(tflops_per_gpu=0.5 * 989)))
    assert by_share == pytest.approx(by_rate, rel=1e-12)


def test_hardware_utilisation_counts_what_was_recomputed() -> None:
    plain = published_step_time_s(run_of(row(hfu_pct=50)))
    full = published_step_time_s(run_of(row(hfu_pct=50, recompute="full")))
    assert plain == pytest.approx(published_step_time_s(run_of(row(mfu_pct=50))), rel=1e-12)
    assert 1.25 < full / plain < 1.34
    # Model FLOP utilisation never counts them, beside whatever else a source does.
    both = row(mfu_pct=50, hfu_pct=66, recompute="full", flop_convention="hardware-full")
    assert published_step_time_s(run_of(both)) == pytest.approx(plain, rel=1e-12)


def test_six_per_parameter() -> None:
    seconds = published_step_time_s(run_of(row(tflops_per_gpu=400, flop_convention="6ND")))
    # Printed parameters of Llama 3 8B, half of their last digit; norms are left out here.
    assert seconds == pytest.approx(6 * 8.03e9 * 128 * 8192 / 8 / 400e12, rel=1e-3)


@pytest.mark.parametrize(
    ("text", "convention"),
    [
        ("hardware-full", "hardware"),
        ("hardware-full-implied", "hardware"),
        ("model-causal", "causal"),
        ("model-full", "model"),
        ("not-stated", "model"),
        ("", "model"),
        (
            "96*B*s*L*h^2*(1+s/6h+V/16Lh): recompute forward counted (HFU-like), full (not "
            "causal-halved) attention",
            "hardware",
        ),
        ("6N + 12LHQT", "model"),
        ("6ND", "parameters"),
        ("6*N per token", "parameters"),
        ("HFU", "hardware"),
        ("8*N*D", "hardware"),
        ("attention halved", "causal"),
        ("no causal discount", "model"),
    ],
)
def test_conventions_are_told_apart(text: str, convention: str) -> None:
    assert flop_convention(text) == convention


# refusal


def test_a_row_without_outcome_is_incomplete() -> None:
    with pytest.raises(Incomplete, match="no outcome"):
        published_step_time_s(run_of(row()))
