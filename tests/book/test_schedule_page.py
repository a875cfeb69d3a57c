"""What the schedule figure gets from Python."""

from __future__ import annotations

import html
import itertools
import json
import re
from pathlib import Path
from urllib.parse import parse_qs

import pytest

pytest.importorskip("pscript")

from steptime.book import schedule_page
from steptime.book.site.stage_times import figure_address
from steptime.inputs.layout import SCHEDULES
from steptime.pipeline.stage_times import presets


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with everything that the figure needs."""
    folder = tmp_path_factory.mktemp("web")
    schedule_page.write_schedule(folder)
    return folder


# ---- published


def test_the_stand_in_shows_1f1b_with_its_closed_form() -> None:
    page = schedule_page.fallback_html()
    p, m = 4, 8
    share = 100 * (p - 1) / (m + p - 1)
    assert f'<b data-out="idle">{share:.1f} %</b>' in page
    assert f'<b data-out="step">{3 * (m + p - 1)} units</b>' in page
    assert f'<b data-out="peak">{p} micro-batches</b>' in page


def test_stage_times_open_the_figure_by_its_address() -> None:
    # zbpp2025, v_schedule.py: 18,522, 18,086, 9,337 and 601 microseconds; F is the unit.
    address = figure_address(presets()["qi2023-1.5b"])
    assert address == "?w=sched&s=1f1b&c=zb-v&p=8&m=24&ti=0.976&tw=0.504&ts=0.032#sched"
    equal = figure_address(presets()["equal"])
    assert equal == "?w=sched&s=1f1b&c=zb-v&p=8&m=24&ti=1.0&tw=1.0&ts=0.0#sched"


# ---- invariant


def test_the_figure_takes_every_address_of_stage_times() -> None:
    """A tenth of F to nine times as long, and a message of at most four."""
    for times in presets().values():
        chosen = parse_qs(figure_address(times).split("#")[0].removeprefix("?"))
        assert {chosen["s"][0], chosen["c"][0]} <= set(SCHEDULES)
        assert 0.1 <= float(chosen["ti"][0]) <= 9.0
        assert 0.0 <= float(chosen["tw"][0]) <= 9.0
        assert 0.0 <= float(chosen["ts"][0]) <= 4.0
        assert chosen["p"][0] in ("8", "16", "32")


def test_the_stand_in_has_every_action_in_picture_and_table() -> None:
    page = schedule_page.fallback_html()
    assert len(re.findall(r'<rect class=k\d data-gpu="\d" data-op="[FB]"', page)) == 2 * 4 * 8
    rows = re.findall(r"<tr><th scope=row>(\d)<td>([FB])<td>(\d)<td>", page)
    assert len(rows) == len(set(rows)) == 2 * 4 * 8


def test_boxes_of_the_stand_in_do_not_overlap() -> None:
    boxes = schedule_page.boxes(schedule_page.timeline())
    for rank in range(4):
        row = [box for box in boxes if box["rank"] == rank]
        assert all(one["end"] <= two["start"] for one, two in itertools.pairwise(row))


def test_the_page_knows_all_schedules() -> None:
    text = schedule_page.data_module()
    rows = json.loads(text.split("SCHEDULES =")[1].strip().rstrip(";"))
    assert [row["name"] for row in rows] == list(SCHEDULES)
    assert [row["name"] for row in rows if row["copies"]] == ["dualpipe"]


def test_a_figure_is_one_plain_script(written: Path) -> None:
    assert [path.name for path in written.rglob("*.js")] == ["index.js"]
    script = (written / "schedule" / "index.js").read_text(encoding="utf-8")
    assert not re.search(r"\b(?:import|export)\b[ ({]", script)


def test_no_other_host_is_named(written: Path) -> None:
    for path in written.rglob("*.*"):
        found = set(re.findall(r"https?://[^\s\"'`)]+", path.read_text(encoding="utf-8")))
        assert found <= {"http://www.w3.org/2000/svg"}, path


def test_the_same_sources_give_the_same_bytes(written: Path, tmp_path: Path) -> None:
    schedule_page.write_schedule(tmp_path)
    first = {path.relative_to(written): path.read_bytes() for path in written.rglob("*.*")}
    second = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.*")}
    assert first == second


def test_the_page_alone_holds_the_stand_in(written: Path) -> None:
    page = (written / "schedule" / "index.html").read_text(encoding="utf-8")
    assert schedule_page.fallback_html() in page
    assert html.unescape(page).count('id="sched"') == 1
