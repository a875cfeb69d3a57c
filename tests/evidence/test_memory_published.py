"""Published memory peaks, and runs that ran."""

from __future__ import annotations

import math

import pytest

from steptime.evidence.memory_ran import ran
from steptime.evidence.memory_rows import memory_row, memory_rows, memory_summary
from steptime.evidence.nanotron_sweep import nanotron_sweep
from steptime.evidence.runs import Incomplete
from steptime.evidence.schema import PublishedRow, published_rows

BY_ID = {row.id: row for row in published_rows()}


# published


def test_bloom_rehearsals() -> None:
    """bigscience2022prequel: 28 rows; two that repeat one layout differ by 15 % themselves."""
    rows, skipped = memory_rows(row for row in published_rows() if row.id.startswith("bloom"))
    found = memory_summary(rows)
    assert skipped == ()
    assert found is not None
    assert found.rows == 28
    assert found.mean_fraction < 0.06
    assert abs(found.bias_fraction) < 0.03


def test_nanotron_rows() -> None:
    """tazi2025: 40 rows, each the fastest of its class."""
    rows, skipped = memory_rows(row for row in published_rows() if row.id.startswith("nanotron"))
    narrow = memory_summary([row for row in rows if row.run.layout.tp <= 8])
    assert skipped == ()
    assert len(rows) == 40
    assert narrow is not None
    assert narrow.mean_fraction < 0.06
    assert narrow.median_fraction < 0.05


def test_the_two_sources_that_memory_was_first_read_from() -> None:
    first = ("bigscience2022prequel", "tazi2025")
    rows, _ = memory_rows(row for row in published_rows() if row.source in first)
    whole = memory_summary(rows)
    assert whole is not None
    assert whole.rows == 68
    assert whole.mean_fraction < 0.06


@pytest.mark.parametrize(
    ("source", "count", "mean", "largest"),
    [
        # Measured: 4.7 and 8.2 %; 2.8 and 8.5 %; 4.3 and 7.3 %. Of ZB-2p all that it may hold is
        # counted, two micro-batches a rank; ZB-H2, one less in all, would be 3.8 % off.
        ("qi2023", 48, 0.05, 0.085),
        ("simumax2025", 43, 0.035, 0.105),
        ("atorch2023", 10, 0.045, 0.075),
    ],
)
def test_other_sources_of_peaks(source: str, count: int, mean: float, largest: float) -> None:
    rows, skipped = memory_rows(row for row in published_rows() if row.source == source)
    found = memory_summary(rows)
    assert skipped == ()
    assert found is not None
    assert found.rows == count
    assert found.mean_fraction < mean
    assert found.largest_fraction < largest


def test_a_million_tokens_with_activations_on_the_host() -> None:
    """trl2026: inputs of recomputed layers wait on the host, and from 30B on the states too."""
    rows, _ = memory_rows(row for row in published_rows() if row.source == "trl2026")
    found = {row.id: row for row in rows}
    errors = [abs(row.error_fraction) for row in rows]
    assert len(errors) == 5
    assert max(errors) < 0.18
    assert math.fsum(errors) / len(errors) < 0.125
    for name in ("cp-041", "cp-042"):
        parts = found[name].counted.parts_bytes
        assert parts["weights"] + parts["gradients"] + parts["optimizer"] == 0.0
        assert found[name].job.zero_stage == 3.0


def test_autocast_shards_whose_shape_over_the_devices_is_right() -> None:
    """atorch2023: from 8 to 64 devices the peak falls by 12 bytes a parameter over them."""
    rows, _ = memory_rows(
        row
        for row in published_rows()
        if row.id.startswith("atorch") and row.zero.startswith("FSDP")
    )
    errors = [row.error_fraction for row in rows]
    assert len(errors) == 4
    assert max(map(abs, errors)) < 0.03
    assert max(errors) - min(errors) < 0.01


def test_nanotron_sweep() -> None:
    rows, skipped = memory_rows(nanotron_sweep())
    assert skipped == ()
    assert len(rows) == 1078
    without = memory_summary([row for row in rows if row.run.layout.tp == 1])
    narrow = memory_summary([row for row in rows if 1 < row.run.layout.tp <= 8])
    wide = memory_summary([row for row in rows if row.run.layout.tp > 8])
    assert without is not None
    assert narrow is not None
    assert wide is not None
    assert without.mean_fraction < 0.04
    assert narrow.mean_fraction < 0.06
    assert wide.mean_fraction < 0.105
    assert wide.median_fraction < 0.06


def test_every_published_row_that_ran_fits_its_device_within_a_tenth() -> None:
    """But one that contradicts its device itself: it is passed over, and said why."""
    rows, left = memory_rows(published_rows())
    over = {row.id for row in rows if row.memory.total_bytes > 1.1 * row.memory.limit_bytes}
    assert over == set()
    assert "exceeds the card" in BY_ID["colossal-097"].check
    (why,) = (reason for name, reason in left if name == "colossal-097")
    assert "157.3 GB is more than a device has (h200: 150." in why
    assert "check mem_gb, mem_unit and gpu" in why
    with pytest.raises(Incomplete, match="more than a device has"):
        memory_row(replace_peak(BY_ID["colossal-097"], 151.0))
    assert memory_row(replace_peak(BY_ID["colossal-097"], 150.0)).published_gb == 150.0


def replace_peak(row: PublishedRow, mem_gb: float) -> PublishedRow:
    """Return a row that prints another peak."""
    return row.model_copy(update={"mem_gb": mem_gb})


# Compilers for TPUs free a layer's weights and logits before they hold others; what Paxml keeps
# of GPT-3 is less than its policy's products. Rows, those said to fit, the most over the device.
COMPILED = {"maxtext2024": (16, 3, 1.28), "dgxc2025": (113, 106, 1.24), "trl2026": (7, 7, 1.0)}


def test_runs_that_ran_are_said_to_fit() -> None:
    """Where the row says what is recomputed; the rest are within a tenth of the device."""
    stated = [one for one in ran(published_rows()) if one.recompute_stated]
    found = [one for one in stated if one.run.row.source not in COMPILED]
    assert len(found) > 400
    assert sum(one.memory.fits for one in found) / len(found) > 0.99
    unlike = {one.run.row.id: one for one in found if not one.memory.fits}
    doubted = unlike.pop("ascend-051")
    assert "no memory for it without recomputation" in doubted.run.row.check
    assert max(one.share for one in unlike.values()) < 1.1
    assert all("GB" in one.memory.reason for one in unlike.values())
    for source, (rows, fits, most) in COMPILED.items():
        of = [one for one in stated if one.run.row.source == source]
        assert (len(of), sum(one.memory.fits for one in of)) == (rows, fits)
        assert max(one.share for one in of) < most
