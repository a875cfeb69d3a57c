"""The accuracy chart: what it shows, its filters, its keys, on every screen."""

from __future__ import annotations

import functools
import itertools
import math
import random
import statistics
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import axe_playwright_python
import pytest

pytestmark = pytest.mark.browser

ALONE = "accuracy/index.html"
MODELS = ("roofline", "baseline", "share", "llm-analysis")
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
OUTS = """Object.fromEntries([...document.querySelectorAll('#accuracy [data-out]')]
  .map(e => [e.dataset.out, e.textContent]))"""
SHOWN = "stAccuracy.shown.map(run => run.id)"
DRAWN = "[...document.querySelectorAll('#accuracy path[data-run]')].map(e => e.dataset.run)"

Open = Callable[..., Any]
Points = dict[str, Any]


class _Quiet(SimpleHTTPRequestHandler):
    """Serve files without a line a request on the terminal."""

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="session")
def accuracy_site(
    tmp_path_factory: pytest.TempPathFactory, accuracy_points: Points
) -> Iterator[str]:
    """Return the address of the chart alone, made as the site makes it."""
    from steptime.book.accuracy_page import write_accuracy

    place = tmp_path_factory.mktemp("accuracy")
    write_accuracy(place, accuracy_points)
    handler = functools.partial(_Quiet, directory=str(place))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


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
        assert page.get_attribute("#accuracy .known a", "href") == "https://arxiv.org/abs/2104.04473"
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
    run = next(
        one for one in accuracy_points["runs"] if "zero: not stated, 0 assumed" in one["assumed"]
    )
    page = open_page(f"{ALONE}?a.r={run['id']}").page
    assert "ZeRO: not stated, 0 assumed" in page.inner_text("#accuracy .known")


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
    page.wait_for_function(
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
    for model, kind, device, source in random.Random(5).sample(choices, 60):
        query = urlencode({"a.m": model, "a.k": kind, "a.g": device, "a.s": source})
        page.evaluate(
            "query => { history.replaceState(null, '', query);"
            " dispatchEvent(new PopStateEvent('popstate')); }",
            f"?{query}",
        )
        words = page.inner_text("#accuracy")
        assert not any(bad in words for bad in ("NaN", "undefined", "Infinity", "null")), query
        if page.evaluate(SHOWN) == []:
            page.click("#accuracy .note button")
            assert page.evaluate(SHOWN) != [], query
            assert not page.is_visible("#accuracy .note")
    watched.assert_clean()


# ---- pointing and keys


def test_pointing_shows_a_run_and_clicking_keeps_it(
    open_page: Open, accuracy_points: Points
) -> None:
    page = open_page(ALONE, height=900).page
    # The lowest error stands nearly alone.
    run = min(accuracy_points["runs"], key=lambda one: one["errors"]["roofline"])
    name, said = run["id"], f"−{percent(-run['errors']['roofline'])}"
    for panel in ("data-run", "data-error"):
        x, y = page.evaluate(
            """selector => { const mark = document.querySelector(selector);
            const box = mark.ownerSVGElement.getBoundingClientRect();
            const [x, y] = mark.getAttribute('d').match(/[\\d.]+/g).map(Number);
            return [box.x + x, box.y + y]; }""",
            f'#accuracy path[{panel}="{name}"]',
        )
        page.mouse.move(x, y)
        assert said in page.inner_text("#accuracy .known")
        page.mouse.move(5, 5)
        assert said not in page.inner_text("#accuracy .known")
    page.mouse.click(x, y)
    page.mouse.move(5, 5)
    assert said in page.inner_text("#accuracy .known")
    assert f"a.r={name}" in page.evaluate("location.search")


def test_keys_move_from_run_to_run_and_stay_in_the_chart(open_page: Open) -> None:
    page = open_page(ALONE, height=500).page
    page.evaluate(
        "() => { window.escaped = [];"
        " document.addEventListener('keydown', event => escaped.push(event.key)); }"
    )
    page.focus("#accuracy .chart")
    order = page.evaluate(SHOWN)
    by_error = page.evaluate(
        "[...stAccuracy.shown].sort((a, b) => a.errors[0] - b.errors[0]).map(run => run.errors[0])"
    )
    run = "stAccuracy.state.r"
    scroll = page.evaluate("[scrollX, scrollY]")
    page.keyboard.press("Home")
    assert page.evaluate(run) == order[0]
    page.keyboard.press("ArrowRight")
    assert page.evaluate(run) == order[1]
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(run) == order[-2]
    error = "stAccuracy.shown.find(run => run.id === stAccuracy.state.r).errors[0]"
    before = page.evaluate(error)
    page.keyboard.press("ArrowUp")
    assert page.evaluate(error) >= before
    assert by_error.index(page.evaluate(error)) - by_error.index(before) <= 2
    page.keyboard.press("ArrowDown")
    assert page.evaluate(error) == before
    assert page.evaluate("[scrollX, scrollY]") == scroll
    assert page.evaluate("escaped") == []
    page.wait_for_timeout(700)
    assert "published" in page.inner_text("#accuracy .st-live")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body")
    assert page.evaluate(run) == ""


def test_tab_crosses_the_chart_in_few_stops_with_a_ring(open_page: Open) -> None:
    page = open_page(ALONE).page
    stops = []
    for _ in range(30):
        page.keyboard.press("Tab")
        inside, name, ring = page.evaluate(
            """() => { const e = document.activeElement;
            const r = e.type === 'radio' ? e.nextElementSibling : e;
            return [Boolean(e.closest('#accuracy')), e.name || e.className || e.tagName,
              parseFloat(getComputedStyle(r).outlineWidth)]; }"""
        )
        if not inside:
            break
        assert ring >= 2, name
        stops.append(name)
    assert 6 <= len(stops) <= 20, stops
    assert stops.count("chart") == 1


# ---- every screen


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_it_fits_every_screen(open_page: Open, width: int) -> None:
    watched = open_page(ALONE, width=width, height=740)
    page = watched.page
    for query in ("", "?a.m=share", "?a.k=2&a.g=h100&a.s=mpt", "?a.st=2&a.k=1"):
        page.evaluate(
            "q => { history.replaceState(null, '', q || location.pathname);"
            " dispatchEvent(new PopStateEvent('popstate')); }",
            query,
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        small = page.evaluate(
            """() => [...document.querySelectorAll(
              '#accuracy :is(button, select, summary, .opts label)')]
            .filter(e => e.checkVisibility()).map(e => [e.textContent.slice(0, 20),
              e.getBoundingClientRect()]).filter(([, b]) => b.width < 24 || b.height < 24
              || b.left < 0 || b.right > innerWidth).map(([name]) => name)"""
        )
        assert small == []
        texts = page.evaluate(
            """() => [...document.querySelectorAll('#accuracy .plot text')].map(e => {
            const b = e.getBoundingClientRect();
            return [e.textContent, parseFloat(getComputedStyle(e).fontSize),
              b.left, b.right, b.top, b.bottom]; })"""
        )
        assert all(one[1] >= 10 for one in texts)
        for one, two in itertools.combinations(texts, 2):
            apart = one[3] <= two[2] or two[3] <= one[2] or one[5] <= two[4] or two[5] <= one[4]
            assert apart, (one, two)
    watched.assert_clean()


def test_the_verdict_stays_in_sight(open_page: Open) -> None:
    page = open_page(ALONE, width=360, height=740).page
    for choose in (
        lambda: page.check('#accuracy input[value="baseline"]', force=True),
        lambda: page.select_option("#accuracy-g", "h100"),
        lambda: page.click('[data-story="5"]'),
    ):
        choose()
        assert 0 <= page.locator("#accuracy .verdict").bounding_box()["y"] < 700


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(open_page: Open, theme: str) -> None:
    page = open_page(f"{ALONE}?a.st=3", theme=theme).page
    page.click("#accuracy .rows summary")
    page.wait_for_selector("#accuracy tbody tr")
    page.evaluate(AXE)
    found = page.evaluate("async () => (await axe.run({preload: false})).violations")
    assert [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found] == []


def test_names_tell_what_is_shown(open_page: Open) -> None:
    page = open_page(f"{ALONE}?a.k=2").page
    name = page.get_attribute("#accuracy .chart", "aria-label")
    assert page.inner_text('#accuracy [data-out="mean"]') in name
    assert "experts" in name
    assert page.locator("#accuracy [aria-live]").count() == 1
    unnamed = page.evaluate(
        "[...document.querySelectorAll('#accuracy :is(input, select)')]"
        ".filter(e => !e.labels.length || !e.labels[0].textContent.trim()).length"
    )
    assert unnamed == 0


def test_kinds_differ_by_shape_and_the_theme_switch_is_followed(open_page: Open) -> None:
    page = open_page(ALONE).page
    shapes = page.evaluate(
        "[0, 1, 2].map(k => document.querySelector(`#accuracy .marks .k${k}`)"
        ".getAttribute('d').replace(/^M[\\d.]+ [\\d.]+/, ''))"
    )
    assert len(set(shapes)) == 3
    fill = "getComputedStyle(document.querySelector('#accuracy .marks .k0')).fill"
    light = page.evaluate(fill)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert page.evaluate(fill) != light


def test_forced_colours_keep_outlines(open_page: Open) -> None:
    page = open_page(ALONE, forced_colors="active").page
    style = "getComputedStyle(document.querySelector('#accuracy .marks .k0'))"
    stroke, fill = page.evaluate(f"[{style}.stroke, {style}.fill]")
    assert stroke != fill


def test_nothing_moves_by_itself(open_page: Open) -> None:
    page = open_page(ALONE).page
    changes = page.evaluate(
        """() => new Promise(done => { let count = 0;
        new MutationObserver(list => { count += list.length; })
          .observe(document.body, {subtree: true, childList: true, attributes: true});
        setTimeout(() => done(count), 1500); })"""
    )
    assert changes == 0


def test_a_change_is_quick_on_a_slow_machine(open_page: Open) -> None:
    page = open_page(ALONE).page
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    times = page.evaluate(
        """async () => { const times = [];
        for (const name of ['baseline', 'share', 'roofline', 'baseline', 'roofline']) {
          const began = performance.now();
          document.querySelector(`#accuracy input[value="${name}"]`).click();
          await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
          times.push(performance.now() - began);
        }
        return times; }"""
    )
    # The aim is 100 ms on a machine of its own; test machines are shared.
    assert min(times) <= 250, times
