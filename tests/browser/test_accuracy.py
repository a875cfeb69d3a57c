"""The accuracy chart: what it shows, what its filters leave, its stories and its address."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

pytestmark = pytest.mark.browser

ALONE = "accuracy/index.html"
MODELS = ("roofline", "baseline", "share", "llm-analysis")
OUTS = """Object.fromEntries([...document.querySelectorAll('#accuracy [data-out]')]
  .map(e => [e.dataset.out, e.textContent]))"""
SHOWN = "stAccuracy.shown.map(run => run.id)"
DRAWN = "[...document.querySelectorAll('#accuracy path[data-run]')].map(e => e.dataset.run)"

Open = Callable[..., Any]
Points = dict[str, Any]


@pytest.fixture
def site(accuracy_site: str) -> str:
    """Serve the chart alone, so that these tests need no built site."""
    return accuracy_site


def expected(points: Points, model: str, **chosen: Any) -> list[dict[str, Any]]:
    """Return the runs that a choice leaves and the model predicts."""
    return [
        run
        for run in points["runs"]
        if run["errors"][model] is not None
        and all(run[key] == value for key, value in chosen.items())
    ]


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


# ---- what it shows


def test_picture_and_verdict_are_there_before_any_click(
    open_page: Open, accuracy_points: Points
) -> None:
    for width, height in ((1280, 800), (360, 740)):
        watched = open_page(ALONE, width=width, height=height)
        outs = watched.page.evaluate(OUTS)
        sizes = [abs(run["errors"]["roofline"]) for run in accuracy_points["runs"]]
        assert outs["rows"] == str(len(sizes))
        assert outs["mean"] == percent(statistics.fmean(sizes))
        assert outs["median"] == percent(statistics.median(sizes))
        assert sorted(watched.page.evaluate(DRAWN)) == sorted(
            run["id"] for run in accuracy_points["runs"]
        )
        top = watched.page.locator("#accuracy .verdict").bounding_box()
        chart = watched.page.locator("#accuracy .chart").bounding_box()
        assert chart["y"] + chart["height"] - top["y"] <= height
        watched.assert_clean()


def test_marks_stand_where_the_numbers_say(open_page: Open, accuracy_points: Points) -> None:
    page = open_page(ALONE).page
    spots = page.evaluate(
        "[...document.querySelectorAll('#accuracy path[data-run]')].map(e => [e.dataset.run,"
        " ...e.getAttribute('d').match(/^M([\\d.]+) ([\\d.]+)/).slice(1).map(Number)])"
    )
    runs = {run["id"]: run for run in accuracy_points["runs"]}
    ticks = page.evaluate(
        "[...document.querySelectorAll('#accuracy .plot text.mid')].map(e =>"
        " [parseFloat(e.textContent), Number(e.getAttribute('x'))])"
    )
    (low, left), (high, right) = ticks[0], ticks[-1]
    scale = (right - left) / math.log(high / low)
    for name, x, _ in spots:
        assert x == pytest.approx(
            left + scale * math.log(runs[name]["published_s"] / low), abs=0.11
        )
    # Above in the picture is later: same order as the predictions.
    by_time = sorted(
        spots,
        key=lambda s: runs[s[0]]["published_s"] * math.exp(runs[s[0]]["errors"]["roofline"]),
    )
    assert all(one[2] >= two[2] - 0.11 for one, two in itertools.pairwise(by_time))


@pytest.mark.parametrize("model", MODELS)
def test_the_summary_follows_model_and_filters(
    open_page: Open, accuracy_points: Points, model: str
) -> None:
    page = open_page(ALONE).page
    page.check(f'#accuracy input[name="accuracy-m"][value="{model}"]', force=True)
    page.check('#accuracy input[name="accuracy-k"][value="0"]', force=True)
    page.select_option("#accuracy-g", "a100-80gb")
    page.select_option("#accuracy-s", "vtrain")
    runs = expected(accuracy_points, model, kind=0, accelerator="a100-80gb", source="vtrain")
    sizes = [abs(run["errors"][model]) for run in runs]
    outs = page.evaluate(OUTS)
    assert outs["rows"] == str(len(runs))
    assert outs["mean"] == percent(statistics.fmean(sizes))
    assert outs["median"] == percent(statistics.median(sizes))
    assert set(page.evaluate(DRAWN)) == {run["id"] for run in runs}


def test_equal_weight_is_that_of_the_section(open_page: Open, accuracy_points: Points) -> None:
    page = open_page(f"{ALONE}?a.k=0").page
    groups: dict[str, list[float]] = {}
    for run in expected(accuracy_points, "roofline", kind=0):
        groups.setdefault(run["source"], []).append(abs(run["errors"]["roofline"]))
    outs = page.evaluate(OUTS)
    assert outs["each-mean"] == percent(
        statistics.fmean(statistics.fmean(one) for one in groups.values())
    )
    assert outs["each-median"] == percent(
        statistics.fmean(statistics.median(one) for one in groups.values())
    )


def test_a_run_tells_all_that_is_known_of_it(open_page: Open, accuracy_points: Points) -> None:
    for model in ("roofline", "baseline"):
        page = open_page(f"{ALONE}?a.r=nar21-t1-010&a.m={model}").page
        run = next(one for one in accuracy_points["runs"] if one["id"] == "nar21-t1-010")
        card = page.inner_text("#accuracy .known")
        for part in ("3,072 × A100 80 GB", run["layout"], run["batch"], run["place"], "103 s"):
            assert part in card
        assert (
            page.get_attribute("#accuracy .known a", "href") == "https://arxiv.org/abs/2104.04473"
        )
        shares = dict(zip(accuracy_points["parts"][model], run["shares"][model], strict=True))
        widths = dict(
            page.evaluate(
                "[...document.querySelectorAll('#accuracy .bar [data-part]')].map(e =>"
                " [e.dataset.part, e.getBoundingClientRect().width])"
            )
        )
        whole = sum(widths.values())
        assert set(widths) == {name for name, share in shares.items() if round(share, 3) >= 0.005}
        for name, width in widths.items():
            assert width / whole == pytest.approx(shares[name], abs=0.012)


def test_what_a_source_leaves_open_is_said(open_page: Open, accuracy_points: Points) -> None:
    run, note = next(
        (one, note)
        for one in accuracy_points["runs"]
        for note in one["assumed"]
        if note.startswith("zero: not stated")
    )
    page = open_page(f"{ALONE}?a.r={run['id']}").page
    assert note.replace("zero", "ZeRO", 1) in page.inner_text("#accuracy .known")


def test_the_table_equals_the_chart(open_page: Open, accuracy_points: Points) -> None:
    page = open_page(f"{ALONE}?a.k=2").page
    page.click("#accuracy .rows summary")
    page.wait_for_selector("#accuracy tbody tr")
    rows = page.evaluate(
        "[...document.querySelectorAll('#accuracy tbody tr')].map(e =>"
        " [e.dataset.row, e.lastChild.textContent])"
    )
    errors = {run["id"]: run["errors"]["roofline"] for run in accuracy_points["runs"]}
    assert [name for name, _ in rows] == page.evaluate(SHOWN)
    for name, said in rows:
        assert abs(float(said.replace("−", "-").removesuffix(" %")) - 100 * errors[name]) <= 0.051
    assert page.locator("#accuracy table caption").count() == 1
    assert page.locator("#accuracy thead th[scope=col]").count() == 7
    page.select_option("#accuracy-g", "h100")
    assert page.evaluate(
        "document.querySelectorAll('#accuracy tbody tr').length === stAccuracy.shown.length"
    )


def test_without_a_script_picture_and_table_are_there(
    open_page: Open, accuracy_points: Points
) -> None:
    page = open_page(ALONE, java_script_enabled=False).page
    assert page.locator("#accuracy tbody tr").count() == len(accuracy_points["runs"])
    name = page.get_attribute("#accuracy svg.plot", "aria-label")
    assert "mean error" in name
    assert page.inner_text('#accuracy [data-out="mean"]') in name


# ---- stories and the address


def test_stories_say_what_the_picture_shows(open_page: Open) -> None:
    page = open_page(ALONE).page
    queries = set()
    count = page.locator("#accuracy [data-story]").count()
    assert 5 <= count <= 7
    for number in range(1, count + 1):
        page.click(f'#accuracy [data-story="{number}"]')
        outs = page.evaluate(OUTS)
        says = page.evaluate(
            "[...document.querySelectorAll('#accuracy [data-says]')].map(e =>"
            " [e.dataset.says, e.textContent])"
        )
        assert says, number
        for name, value in says:
            assert value not in ("", "undefined", "–"), (number, name)
            key = {"ours": "ours-mean"}.get(name, name)
            assert outs.get(key, value) == value
        queries.add(page.evaluate("location.search"))
    assert len(queries) == count
    page.check('#accuracy input[name="accuracy-k"][value="0"]', force=True)
    assert "changed" in page.inner_text("#accuracy .told")
    page.click("#accuracy .reset")
    assert "changed" not in page.inner_text("#accuracy .told")
    page.go_back()
    assert page.locator(f'#accuracy [data-story="{count - 1}"][aria-pressed="true"]').count() == 1


def test_the_address_holds_the_state(open_page: Open, accuracy_points: Points) -> None:
    dice = random.Random(6)
    page = open_page(f"{ALONE}?l.tp=8").page
    runs = accuracy_points["runs"]
    for _ in range(12):
        what = dice.randrange(4)
        if what == 0:
            page.check(f'#accuracy input[value="{dice.choice(MODELS)}"]', force=True)
        elif what == 1:
            page.check(
                f'#accuracy input[name="accuracy-k"][value="{dice.choice("012")}"]', force=True
            )
        elif what == 2:
            page.select_option("#accuracy-g", dice.choice(["", *{r["accelerator"] for r in runs}]))
        else:
            page.select_option("#accuracy-s", dice.choice(["", *accuracy_points["sources"]]))
    outs, address = page.evaluate(OUTS), page.evaluate("location.search")
    assert "l.tp=8" in address
    again = open_page(f"{ALONE}{address}").page
    assert again.evaluate(OUTS) == outs


def test_garbage_in_the_address_is_told_and_left_out(open_page: Open) -> None:
    watched = open_page(f"{ALONE}?a.m=crystal&a.g=abacus&a.zz=1&l.tp=8")
    note = watched.page.inner_text("#accuracy .note")
    assert "a.m=crystal" in note
    assert "a.g=abacus" in note
    assert "l.tp" not in note
    assert watched.page.evaluate(OUTS)["rows"] == str(len(watched.page.evaluate(SHOWN)))
    watched.assert_clean()


def test_every_choice_shows_runs_or_a_way_out(open_page: Open, accuracy_points: Points) -> None:
    watched = open_page(ALONE)
    page = watched.page
    runs = accuracy_points["runs"]
    devices = ["", *sorted({run["accelerator"] for run in runs})]
    choices = list(
        itertools.product(MODELS, ["", "0", "1", "2"], devices, ["", *accuracy_points["sources"]])
    )
    queries = [
        "?" + urlencode({"a.m": model, "a.k": kind, "a.g": device, "a.s": source})
        for model, kind, device, source in random.Random(5).sample(choices, 60)
    ]
    told = page.evaluate(
        """queries => queries.map(query => {
          history.replaceState(null, '', query);
          dispatchEvent(new PopStateEvent('popstate'));
          return [document.querySelector('#accuracy').textContent, stAccuracy.shown.length];
        })""",
        queries,
    )
    for query, (words, _) in zip(queries, told, strict=True):
        assert not any(bad in words for bad in ("NaN", "undefined", "Infinity", "null")), query
    empty = [query for query, (_, shown) in zip(queries, told, strict=True) if not shown]
    assert empty
    for query in empty[:8]:
        page.evaluate(
            "query => { history.replaceState(null, '', query);"
            " dispatchEvent(new PopStateEvent('popstate')); }",
            query,
        )
        page.click("#accuracy .note button")
        assert page.evaluate(SHOWN) != [], query
        assert not page.is_visible("#accuracy .note")
    watched.assert_clean()
