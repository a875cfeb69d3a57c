"""What the accuracy chart gets from Python."""

from __future__ import annotations

import html
import json
import math
import re
import statistics
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy")

from steptime.book import accuracy_page, accuracy_static
from steptime.book.results import cache
from steptime.book.results.notebooks import all_notebooks
from steptime.book.study.accuracy import MIME, MODELS
from steptime.evidence.residuals import DENSE, residuals

Points = dict[str, Any]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, accuracy_points: Points) -> Path:
    """Return a folder with everything that the chart needs."""
    folder = tmp_path_factory.mktemp("web")
    accuracy_page.write_accuracy(folder, accuracy_points)
    return folder


def _data(points: Points) -> dict[str, Any]:
    text = accuracy_page.data_module(points)
    found: dict[str, Any] = json.loads(text.split("DATA=")[1].strip().rstrip(";"))
    return found


# ---- published


def test_a_published_run_is_told_as_its_source_prints_it(accuracy_points: Points) -> None:
    # Narayanan et al. 2021, Table 1, last row: 1008 billion on 3072 GPUs, 163 TFLOP/s.
    run = next(one for one in accuracy_points["runs"] if one["id"] == "nar21-t1-010")
    assert run["gpus"] == 3072
    assert run["accelerator"] == "a100-80gb"
    assert run["layout"] == "TP 8 × PP 64 × DP 6"
    assert run["batch"].startswith("3,072 sequences of 2,048 tokens, micro-batch 1, full")
    assert run["place"] == "Table 1 (p.8)"
    assert accuracy_points["sources"][run["source"]]["name"] == "Narayanan et al. 2021, Table 1"
    # Its Eq. 3 with l = 128, h = 25600, V = 51200.
    size, layers, width, length, words = 3072, 128, 25600, 2048, 51200
    flop = 96 * size * length * layers * width**2
    flop *= 1 + length / (6 * width) + words / (16 * layers * width)
    assert run["published_s"] == pytest.approx(flop / (163e12 * 3072), rel=2e-3)


@pytest.mark.parametrize(
    ("where", "link"),
    [
        ("arXiv:2104.04473", "https://arxiv.org/abs/2104.04473"),
        ("arXiv:2407.21783v3", "https://arxiv.org/abs/2407.21783v3"),
        (
            "pytorch/torchtitan@b5bcd76c benchmarks/",
            "https://github.com/pytorch/torchtitan/tree/b5bcd76c",
        ),
        ("a talk", ""),
    ],
)
def test_sources_have_addresses(where: str, link: str) -> None:
    assert accuracy_page.address(where) == link


@pytest.mark.parametrize(
    ("name", "shown"),
    [("a100-80gb", "A100 80 GB"), ("h100-96gb-500w", "H100 96 GB 500 W"), ("gb200", "GB200")],
)
def test_accelerators_are_named_as_printed(name: str, shown: str) -> None:
    assert accuracy_static.accelerator_name(name) == shown


def test_numbers_are_printed_to_what_is_known() -> None:
    assert [accuracy_static.seconds_text(s) for s in (0.26089, 9.996, 23.71, 175.7)] == [
        "0.261 s",
        "10.0 s",
        "23.7 s",
        "176 s",
    ]
    assert [accuracy_static.error_text(e) for e in (0.0442, -0.6112, -0.0001)] == [
        "+4.4 %",
        "−61.1 %",
        "0.0 %",
    ]


# ---- invariant


def test_every_left_out_run_is_there_once_with_its_error(accuracy_points: Points) -> None:
    kept = {one.id: one.error for one in residuals()}
    found = {run["id"]: run["errors"]["roofline"] for run in accuracy_points["runs"]}
    assert len(accuracy_points["runs"]) == len(found)
    assert found == kept


def test_shares_of_a_step_add_up(accuracy_points: Points) -> None:
    for run in accuracy_points["runs"]:
        for name, shares in run["shares"].items():
            assert len(shares) == len(accuracy_points["parts"][name])
            assert all(share >= 0 for share in shares)
            assert math.fsum(shares) == pytest.approx(1, abs=5e-4)


def test_the_baseline_says_nothing_of_eight_bits_and_the_others_of_all(
    accuracy_points: Points,
) -> None:
    for run in accuracy_points["runs"]:
        assert run["errors"]["roofline"] is not None
        assert run["errors"]["share"] is not None
        assert ("baseline" in run["shares"]) == (run["errors"]["baseline"] is not None)
        sixteen = run["batch"].rsplit(" ", 1)[1] in ("fp16", "bf16")
        assert (run["errors"]["baseline"] is not None) == sixteen


def test_the_page_gets_what_the_notebook_hands_over(written: Path, accuracy_points: Points) -> None:
    data = _data(accuracy_points)
    assert len(data["rows"]) == len(accuracy_points["runs"])
    for row, run in zip(data["rows"], accuracy_points["runs"], strict=True):
        assert row[0] == run["id"]
        assert data["texts"][row[5]] == run["layout"]
        assert data["sources"][row[7]][0] == run["source"]
        assert row[11] == [run["errors"][name] for name in MODELS]
        assert [data["texts"][at] for at in row[13]] == run["assumed"]
        assert row[8] in data["works"]


def test_the_stand_in_tells_the_same_in_words_picture_and_table(accuracy_points: Points) -> None:
    page = accuracy_static.fragment(accuracy_points)
    sizes = [abs(run["errors"]["roofline"]) for run in accuracy_points["runs"]]
    assert f'<b data-out="rows">{len(sizes)}</b>' in page
    assert f'<b data-out="mean">{100 * statistics.fmean(sizes):.1f} %</b>' in page
    assert f'<b data-out="median">{100 * statistics.median(sizes):.1f} %</b>' in page
    assert page.count('<tr><th scope="row">') == len(sizes)
    drawn = re.findall(r'data-kind="(\d)"[^>]*points="([^"]+)"', page)
    # Each run twice: by time, and by error.
    assert sum(len(spots.split(",")) for _, spots in drawn) == 2 * len(sizes)


def test_marks_of_the_stand_in_stay_in_the_picture(accuracy_points: Points) -> None:
    page = accuracy_static.fragment(accuracy_points)
    for spots in re.findall(r'data-kind="\d"[^>]*points="([^"]+)"', page):
        for spot in spots.split(","):
            x, y = map(float, spot.split())
            assert accuracy_static.LEFT <= x <= accuracy_static.WIDTH
            assert 0 <= y <= accuracy_static.TOP + accuracy_static.MAIN + 154


def test_the_script_is_small(written: Path, accuracy_points: Points) -> None:
    scripts = list(written.rglob("*.js"))
    assert [path.name for path in scripts] == ["index.js"]
    runs = len(accuracy_page.data_module(accuracy_points).encode())
    assert scripts[0].stat().st_size - runs <= 25_000
    assert (written / "accuracy" / "style.css").stat().st_size <= 10_000


def test_the_page_alone_holds_the_stand_in(written: Path, accuracy_points: Points) -> None:
    page = (written / "accuracy" / "index.html").read_text(encoding="utf-8")
    assert accuracy_static.fragment(accuracy_points) in page
    assert html.unescape(page).count('id="accuracy"') == 1


# ---- regression


def test_a_notebook_that_hands_over_nothing_is_told(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="make results"):
        accuracy_page.read_points(tmp_path)
    path = tmp_path / f"{accuracy_page.NOTEBOOK}.ipynb"
    path.write_text('{"cells": [{"outputs": [{"data": {"text/plain": "1"}}]}]}', encoding="utf-8")
    with pytest.raises(LookupError, match="hands over no runs"):
        accuracy_page.read_points(tmp_path)
    output = {"data": {MIME: {"runs": []}}}
    path.write_text(json.dumps({"cells": [{}, {"outputs": [output]}]}), encoding="utf-8")
    assert accuracy_page.read_points(tmp_path) == {"runs": []}


def test_the_executed_notebook_agrees_with_the_errors_kept_in_data() -> None:
    (notebook,) = (one for one in all_notebooks() if one.name == accuracy_page.NOTEBOOK)
    if not cache.is_fresh(notebook, cache.key(notebook)):
        pytest.skip("the notebook has not run since something changed")
    kept = {one.id: one.error for one in residuals() if one.kind == DENSE}
    runs = {one["id"]: one["errors"]["roofline"] for one in accuracy_page.read_points()["runs"]}
    assert kept.keys() <= runs.keys()
    assert [runs[key] for key in kept] == pytest.approx(list(kept.values()), abs=6e-4)
