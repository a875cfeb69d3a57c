"""What ranks hold, rules of sizes, slots and traces, each on paper."""

from __future__ import annotations

from fractions import Fraction
from xml.etree import ElementTree

import pytest

from steptime.inputs.errors import ConfigError
from steptime.pipeline.draw import drawing
from steptime.pipeline.held import peak_in_flight
from steptime.pipeline.overlay import overlay_svg, overlay_trace
from steptime.pipeline.schedules import check_schedule
from steptime.pipeline.svg import MARGIN
from steptime.pipeline.timeline import LARGEST_SLOT, Work, simulate, whole_slots

# --- by hand


@pytest.mark.parametrize(
    ("order", "peak"),
    [
        # One stage, two micro-batches: F are 2 and 3, B 4 and 5, I 6 and 7, W 8 and 9. A
        # micro-batch is held until its W, or its B.
        ([2, 6, 8, 3, 7, 9], 1),
        ([2, 6, 3, 7, 8, 9], 2),
        ([2, 4, 3, 5], 1),
        ([2, 3, 4, 5], 2),
        ([2, 3, 4, 7, 9], 2),
    ],
)
def test_micro_batches_in_flight(order: list[int], peak: int) -> None:
    assert peak_in_flight(order, 1, 2) == peak


def test_one_chunk_a_rank_asks_for_no_rounds() -> None:
    # 9 are two rounds of 4 and one over; 10 are two of 5, and 8 and 12 two and three of 4.
    assert check_schedule("interleaved-1f1b", 4, 9, 1) == 1
    assert check_schedule("interleaved-1f1b", 4, 10, 2) == 2
    with pytest.raises(ConfigError, match="use micro_batches=8 or 12"):
        check_schedule("interleaved-1f1b", 4, 9, 2)


def test_slots_are_whole_up_to_the_largest() -> None:
    most = LARGEST_SLOT
    for times, slots in (
        ([Fraction(most), Fraction(1)], ([most, 1], 1)),
        ([Fraction(1, most), Fraction(0)], ([1, 0], most)),
    ):
        assert whole_slots(times) == slots
        assert all(isinstance(slot, int) for slot in whole_slots(times)[0])
    for over in (Fraction(most + 1), Fraction(1, most + 1)):
        assert whole_slots([over]) == ([float(over)], 1)
    # A third and a quarter of a unit are 4 and 3 of its twelve slots.
    assert whole_slots([Fraction(1, 3), Fraction(1, 4)]) == ([4, 3], 12)


def test_a_trace_has_both_pipelines_in_microseconds() -> None:
    # F 1 and B 2 of a unit of 2 ms; measured from 3 ms to 5.5.
    timeline = simulate("1f1b", 1, 1, 1, Work(forward=1, backward=2))
    events = overlay_trace(timeline, [[(0.003, 0.0055, "F")]], 0.002)["traceEvents"]
    spans = {
        (event["pid"], event["name"]): (event["ts"], event["dur"])
        for event in events
        if event["ph"] == "X"
    }
    assert spans == {
        (0, "0F0"): (0.0, 2000.0),
        (0, "0B0"): (2000.0, 4000.0),
        (1, "F"): pytest.approx((3000.0, 2500.0)),
    }


@pytest.mark.parametrize("measured_s", [0.003, 0.012])
def test_both_rows_fit_the_page_and_the_longer_fills_it(measured_s: float) -> None:
    # Predicted are 6 ms, of which F takes a third.
    timeline = simulate("1f1b", 1, 1, 1, Work(forward=1, backward=2))
    root = ElementTree.fromstring(
        overlay_svg(timeline, [[(0.0, measured_s, "F")]], measured_s, 0.002)
    )
    boxes = [
        (float(box.get("x", "0")) - MARGIN, float(box.get("width", "0")))
        for box in root.iter("{http://www.w3.org/2000/svg}rect")
    ]
    wide = 960 - MARGIN - 8
    a_second = wide / max(0.006, measured_s)
    assert max(x + width for x, width in boxes) == pytest.approx(wide, abs=0.02)
    assert (0.0, pytest.approx(0.002 * a_second, abs=1.01)) in boxes
    assert (0.0, pytest.approx(measured_s * a_second, abs=0.02)) in boxes


def test_a_drawing_in_bands_is_the_whole_cut_in_pieces() -> None:
    def rows(columns: int) -> list[str]:
        lines = ["".join(text for text, _ in line) for line in drawing(timeline, columns)]
        own = [line.split(" ", 2) for line in lines if line.startswith("rank ")]
        return ["".join(row for _, rank, row in own if rank == name) for name in ("0", "1")]

    timeline = simulate("1f1b", 2, 6)
    whole = rows(200)
    # 6 forwards of a slot and 6 backwards of two, with 3 slots idle: 21 of two columns.
    assert [len(row) for row in whole] == [42, 42]
    assert rows(30) == whole
    # Of 30 columns 7 are the rank's name; 22 hold eleven slots, and ten are left.
    bands = ["".join(text for text, _ in line[1:]) for line in drawing(timeline, 30)]
    assert [len(band) for band in bands if band] == [22, 22, 20, 20]
