"""The schedule figure in Chromium: pictures, stories, keys, small screens, no script."""

from __future__ import annotations

import functools
import random
import re
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from steptime.book.schedule_page import write_alone
from steptime.inputs.layout import SCHEDULES

pytestmark = pytest.mark.browser

ALONE = "schedule/index.html"
BROKEN = re.compile(r"NaN|undefined|Infinity|\[object|null")
BOXES = """() => [...document.querySelectorAll('#sched .chart:not([hidden]) rect[data-op]')].map(r => ({
  gpu: +r.dataset.gpu, op: r.dataset.op, mb: +r.dataset.mb, stage: +r.dataset.stage,
  start: +r.dataset.start, end: +r.dataset.end,
  x: +r.getAttribute('x'), width: +r.getAttribute('width')}))"""
OUTS = """() => Object.fromEntries([...document.querySelectorAll('#sched [data-out]')]
  .map(e => [e.dataset.out, e.textContent]))"""
GOLDEN = {1: 75.0, 2: 42.9, 3: 15.8, 4: 15.8, 5: 8.6, 6: 5.9}

Open = Callable[..., Any]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the figure alone, made as the site makes it."""
    place = tmp_path_factory.mktemp("alone")
    write_alone(place)
    return place


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    """Serve the figure alone, so that these tests need no built site."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def number(text: str) -> float:
    """Return the number that a printed value starts with."""
    match = re.match(r"[\d,.]+", text)
    assert match, text
    return float(match.group().replace(",", ""))


def outs(page: Any) -> dict[str, str]:
    found: dict[str, str] = page.evaluate(OUTS)
    return found


def story(page: Any, which: int) -> None:
    page.click(f'[data-story="{which}"]')


def assert_sound(page: Any) -> None:
    """Fail if the boxes overlap, start before what they need, or add up to another share."""
    boxes = page.evaluate(BOXES)
    rows: dict[int, list[dict[str, Any]]] = {}
    for box in boxes:
        rows.setdefault(box["gpu"], []).append(box)
    for row in rows.values():
        row.sort(key=lambda box: box["start"])
        for one, after in zip(row, row[1:], strict=False):
            assert one["end"] <= after["start"] + 1e-9
            assert one["x"] + one["width"] <= after["x"] + 0.02
    ends = {(box["op"], box["mb"], box["stage"]): box["end"] for box in boxes}
    last = max(box["stage"] for box in boxes)
    for box in boxes:
        assert box["start"] >= needed_end(box, ends, last) - 1e-9, box
    span = max(box["end"] for box in boxes)
    busy = sum(box["end"] - box["start"] for box in boxes)
    idle = 100 * (1 - busy / (len(rows) * span))
    assert idle == pytest.approx(number(outs(page)["idle"]), abs=0.1)


def needed_end(box: dict[str, Any], ends: dict[tuple[str, int, int], float], last: int) -> float:
    """Return when the data of an action is there, by the rules of back-propagation."""
    mb, stage = box["mb"], box["stage"]
    if box["op"] == "F":
        return ends["F", mb, stage - 1] if stage else 0.0
    if box["op"] == "W":
        return ends["I", mb, stage]
    if stage == last:
        return ends["F", mb, stage]
    return ends.get(("B", mb, stage + 1), ends.get(("I", mb, stage + 1), -1.0))


# ---- 1 picture first, 2 own origin, 3 no script


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (360, 740)])
def test_a_finished_picture_comes_first(open_page: Open, width: int, height: int) -> None:
    watched = open_page(ALONE, width=width, height=height)
    page = watched.page
    assert len(page.evaluate(BOXES)) == 64
    assert outs(page)["idle"] == "27.3 %"
    assert outs(page)["step"] == "33 units"
    assert outs(page)["peak"] == "4 micro-batches"
    top = page.locator("#sched .verdict").first.bounding_box()["y"]
    play = page.locator("#sched .play").bounding_box()
    assert play["y"] + play["height"] - top <= height
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert painted < 1500
    watched.assert_clean()


def test_script_and_style_are_light(open_page: Open, folder: Path) -> None:
    watched = open_page(ALONE)
    watched.assert_clean()
    sizes = {
        suffix: sum(path.stat().st_size for path in folder.rglob(f"*{suffix}"))
        for suffix in (".js", ".css")
    }
    assert sizes[".js"] <= 70_000
    assert sizes[".css"] <= 10_500


def test_without_script_the_picture_and_table_are_there(open_page: Open) -> None:
    page = open_page(ALONE, java_script_enabled=False).page
    picture = page.locator("#sched svg[role=img]")
    assert "27.3 %" in picture.get_attribute("aria-label")
    assert page.locator("#sched rect[data-op]").count() == 64
    assert page.locator("#sched tbody tr").count() == 64
    assert page.locator('#sched [data-out="idle"]').inner_text() == "27.3 %"


# ---- 4 arithmetic, 6 stories, 11 table


@pytest.mark.parametrize("which", range(1, 8))
def test_a_story_adds_up_and_says_so(open_page: Open, which: int) -> None:
    watched = open_page(ALONE)
    page = watched.page
    before = page.url
    story(page, which)
    assert_sound(page)
    found = outs(page)
    if which in GOLDEN:
        assert number(found["idle"]) == GOLDEN[which]
    if which in (3, 4):
        assert number(found["peak"]) == {3: 16, 4: 4}[which]
    assert page.url != before
    assert page.get_attribute(f'[data-story="{which}"]', "aria-pressed") == "true"
    said = page.locator("#sched .told [data-says]")
    assert said.count() >= 1
    for i in range(said.count()):
        assert said.nth(i).inner_text() == found[said.nth(i).get_attribute("data-says")]
    typed = re.sub("|".join(re.escape(text) for text in said.all_inner_texts()), "", page.inner_text("#sched .told"))
    assert not re.search(r"\d{2}|%", typed), typed
    watched.assert_clean()


def test_a_changed_story_says_so_and_resets(open_page: Open) -> None:
    page = open_page(ALONE).page
    story(page, 4)
    kept = (outs(page), page.url)
    page.click('#sched button[aria-label="more Micro-batches"]')
    assert "Story 4, changed" in page.inner_text("#sched .told")
    page.click("#sched .reset")
    assert (outs(page), page.url) == kept


@pytest.mark.parametrize("query", ["", "?s=zb-v&m=6", "?s=dualpipe&m=8&c=1f1b"])
def test_the_table_is_the_picture(open_page: Open, query: str) -> None:
    page = open_page(ALONE + query).page
    page.click("#sched .table summary")
    rows = page.evaluate(
        "() => [...document.querySelectorAll('#sched tbody tr')].map(r => [...r.children].map(c => c.textContent))"
    )
    boxes = page.evaluate(BOXES)
    drawn = sorted([b["gpu"], b["op"], b["mb"] + 1, b["stage"], round(b["start"], 3), round(b["end"], 3)] for b in boxes)
    listed = sorted([int(r[0]), r[1], int(r[2]), int(r[3]), float(r[4]), float(r[5])] for r in rows)
    assert listed == drawn
    assert page.locator("#sched table caption").first.inner_text()
    assert page.locator("#sched thead th:not([scope=col])").count() == 0
    assert page.locator("#sched tbody th:not([scope=row])").count() == 0


# ---- 7 address


CHANGES = """(n) => {
  const inputs = [...document.querySelectorAll(
    '#sched .panel input[type=radio], #sched .panel .num button, #sched .panel input[type=checkbox], #sched [data-story]')]
    .filter(e => e.offsetParent !== null || e.type === 'radio').filter(e => !e.closest('[hidden]'));
  inputs[n % inputs.length].click();
}"""


def test_the_address_holds_everything(open_page: Open) -> None:
    watched = open_page(ALONE)
    page = watched.page
    rng = random.Random(7)
    for _ in range(20):
        page.evaluate(CHANGES, rng.randrange(10**6))
        if page.locator("#sched .note").is_visible():
            page.evaluate("document.querySelector('[data-story=\"4\"]').click()")
    fresh = open_page(f"schedule/{page.url.rsplit('/', 1)[1]}").page
    assert outs(fresh) == outs(page)
    assert fresh.evaluate(BOXES) == page.evaluate(BOXES)
    watched.assert_clean()


def test_back_returns_to_the_story_before(open_page: Open) -> None:
    page = open_page(ALONE).page
    story(page, 2)
    before = outs(page)
    story(page, 6)
    page.go_back()
    assert outs(page) == before
    assert page.get_attribute('[data-story="2"]', "aria-pressed") == "true"
    page.go_back()
    assert outs(page)["idle"] == "27.3 %"


def test_nonsense_in_the_address_is_named_and_left_out(open_page: Open) -> None:
    watched = open_page(f"{ALONE}?w=sched&s=magic&p=-3&m=1e99&t=x&other=1")
    note = watched.page.locator("#sched .note")
    assert note.is_visible()
    for part in ("s=magic", "p=-3", "m=1e99", "t=x"):
        assert part in note.inner_text()
    assert outs(watched.page)["idle"] == "27.3 %"
    watched.page.click('[data-story="1"]')
    assert "other=1" in watched.page.url
    watched.assert_clean()


def test_the_address_can_hold_a_moment(open_page: Open) -> None:
    page = open_page(f"{ALONE}?w=sched&s=1f1b&p=4&m=8&t=17").page
    assert page.input_value("#sched .scrub") == "17"
    assert page.inner_text("#sched .detail").startswith("Time 17 of 33 units")


# ---- 8 no dead ends


SWEEP = """(cases) => {
  const bad = [];
  for (const [s, p, m, v] of cases) {
    history.replaceState(null, '', `?w=sched&s=${s}&p=${p}&m=${m}&v=${v}`);
    dispatchEvent(new PopStateEvent('popstate'));
    const text = document.getElementById('sched').innerText;
    const note = document.querySelector('#sched .note');
    const offer = note.querySelector('button');
    const boxes = document.querySelectorAll('#sched rect[data-op]').length + document.querySelectorAll('#sched canvas').length;
    if (/NaN|undefined|Infinity|\\[object|null/.test(text) || !boxes || (!note.hidden && !offer)) bad.push([s, p, m, v, text.slice(0, 300)]);
    else if (offer) {
      offer.click();
      if (!note.hidden) bad.push([s, p, m, v, 'the offer is refused too']);
    }
  }
  return bad;
}"""


def test_every_offered_combination_has_a_picture_or_a_way_out(open_page: Open) -> None:
    watched = open_page(ALONE)
    rng = random.Random(8)
    cases = [
        [name, rng.choice([2, 4, 8, 16]), rng.choice([1, 2, 3, 5, 8, 13, 16, 31]), rng.choice([1, 2, 4, 8])]
        for name in SCHEDULES
        for _ in range(20)
    ]
    assert watched.page.evaluate(SWEEP, cases) == []
    watched.assert_clean()


@pytest.mark.parametrize("name", SCHEDULES)
def test_each_schedule_is_sound(open_page: Open, name: str) -> None:
    page = open_page(f"{ALONE}?s={name}&m=16&ts=0.3&tl=1.5&tf=1.2").page
    assert_sound(page)
