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

import axe_playwright_python
import pytest

from steptime.book.schedule_page import write_schedule
from steptime.inputs.layout import SCHEDULES

pytestmark = pytest.mark.browser

ALONE = "schedule/index.html"
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
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
    write_schedule(place)
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


def show(page: Any, query: str) -> None:
    """Go to another state without loading the page again."""
    page.evaluate(
        "q => { history.replaceState(null, '', q || location.pathname);"
        " dispatchEvent(new PopStateEvent('popstate')); }",
        query,
    )


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


def test_each_story_adds_up_and_says_so(open_page: Open) -> None:
    watched = open_page(ALONE)
    for which in range(1, 8):
        assert_story(watched.page, which)
    watched.assert_clean()


def assert_story(page: Any, which: int) -> None:
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
    typed = re.sub(
        "|".join(re.escape(text) for text in said.all_inner_texts()),
        "",
        page.inner_text("#sched .told"),
    )
    assert not re.search(r"\d{2}|%", typed), typed


def test_a_changed_story_says_so_and_resets(open_page: Open) -> None:
    page = open_page(ALONE).page
    story(page, 4)
    kept = (outs(page), page.url)
    page.click('#sched button[aria-label="more Micro-batches"]')
    assert "Story 4, changed" in page.inner_text("#sched .told")
    page.click("#sched .reset")
    assert (outs(page), page.url) == kept


def test_the_table_is_the_picture(open_page: Open) -> None:
    page = open_page(ALONE).page
    page.click("#sched .table summary")
    for query in ("", "?s=zb-v&m=6", "?s=dualpipe&m=8&c=1f1b"):
        show(page, query)
        assert_table(page)


def assert_table(page: Any) -> None:
    rows = page.evaluate(
        "() => [...document.querySelectorAll('#sched tbody tr')].map(r => [...r.children].map(c => c.textContent))"
    )
    boxes = page.evaluate(BOXES)
    drawn = sorted(
        [b["gpu"], b["op"], b["mb"] + 1, b["stage"], round(b["start"], 3), round(b["end"], 3)]
        for b in boxes
    )
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
        [
            name,
            rng.choice([2, 4, 8, 16]),
            rng.choice([1, 2, 3, 5, 8, 13, 16, 31]),
            rng.choice([1, 2, 4, 8]),
        ]
        for name in SCHEDULES
        for _ in range(20)
    ]
    assert watched.page.evaluate(SWEEP, cases) == []
    watched.assert_clean()


def test_each_schedule_is_sound(open_page: Open) -> None:
    page = open_page(ALONE).page
    for name in SCHEDULES:
        show(page, f"?s={name}&m=16&ts=0.3&tl=1.5&tf=1.2")
        assert_sound(page)


# ---- 9 keyboard, 10 names


STOPS = """() => { const e = document.activeElement;
  return [e.closest('#sched') !== null, e.tagName, e.getAttribute('aria-label') || e.textContent.slice(0, 30),
    getComputedStyle(e.matches('input[type=radio]') ? e.nextElementSibling : e).outlineWidth]; }"""


def test_tab_crosses_the_figure_without_a_trap(open_page: Open) -> None:
    page = open_page(f"{ALONE}?c=gpipe").page
    stops = []
    for _ in range(40):
        page.keyboard.press("Tab")
        inside, tag, name, ring = page.evaluate(STOPS)
        if not inside and stops:
            break
        if inside:
            assert float(ring.removesuffix("px")) >= 2, (tag, name, ring)
            stops.append((tag, name))
    assert 10 <= len(stops) <= 20, stops


def test_keys_move_in_the_chart_and_stay_there(open_page: Open) -> None:
    page = open_page(ALONE, height=500).page
    page.evaluate("""() => { window.escaped = [];
      document.addEventListener('keydown', e => escaped.push(e.key)); }""")
    page.focus("#sched .chart")
    seen = [page.inner_text("#sched .detail")]
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "End", "ArrowLeft", "Home", "ArrowUp"):
        before = page.evaluate("[scrollX, scrollY]")
        page.keyboard.press(key)
        assert page.evaluate("[scrollX, scrollY]") == before
        seen.append(page.inner_text("#sched .detail"))
    assert all(one != after for one, after in zip(seen, seen[1:], strict=False))
    assert seen[1] == "GPU 0, 0 to 1: forward of micro-batch 1; needs nothing: the first stage."
    assert "GPU 1" in seen[3]
    assert "needs B8 of GPU 2, done at 29" in seen[4]
    assert page.evaluate("escaped") == []
    page.keyboard.press(" ")
    assert page.get_attribute("#sched .play", "aria-label") == "Pause"
    page.keyboard.press(" ")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body")


def test_stories_and_play_work_by_key(open_page: Open) -> None:
    page = open_page(ALONE).page
    page.focus('[data-story="1"]')
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.get_attribute('[data-story="7"]', "aria-pressed") == "true"
    page.focus("#sched .play")
    page.keyboard.press("Enter")
    page.wait_for_timeout(150)
    page.keyboard.press("Enter")
    assert page.inner_text("#sched .detail").startswith("Time ")


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark")])
def test_axe_finds_nothing(open_page: Open, width: int, theme: str) -> None:
    page = open_page(f"{ALONE}?p=2&m=2&c=gpipe&k=1", width=width, theme=theme).page
    page.evaluate("document.querySelectorAll('#sched details').forEach(d => { d.open = true; })")
    page.wait_for_timeout(50)
    page.evaluate(AXE)
    found = page.evaluate("axe.run('#sched')")["violations"]
    assert [(one["id"], [node["html"][:150] for node in one["nodes"][:3]]) for one in found] == []


def test_everything_has_a_name_and_one_region_speaks(open_page: Open) -> None:
    page = open_page(f"{ALONE}?s=gpipe&m=4").page
    assert page.locator("#sched [aria-live], #sched [role=status]").count() == 1
    picture = page.locator("#sched .chart:not([hidden]) svg[role=img]")
    assert "42.9 %" in picture.get_attribute("aria-label")
    unnamed = page.evaluate("""() => [...document.querySelectorAll('#sched :is(button, input, select)')]
      .filter(e => !(e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent).trim())
      .map(e => e.outerHTML)""")
    assert unnamed == []
    assert page.get_attribute("#sched .scrub", "aria-valuetext").startswith("time 21 of 21 units")


def test_the_region_speaks_at_most_twice_a_second(open_page: Open) -> None:
    page = open_page(ALONE).page
    page.evaluate("""() => { window.said = 0; new MutationObserver(() => { said += 1; })
      .observe(document.querySelector('#sched .st-live'), { childList: true, characterData: true, subtree: true }); }""")
    for i in range(20):
        page.mouse.move(*spot(page, 0, 1 + i * 1.5))
        page.wait_for_timeout(50)
    page.wait_for_timeout(600)
    assert 1 <= page.evaluate("said") <= 5


def spot(page: Any, gpu: int, time: float) -> tuple[float, float]:
    """Return where a moment of a GPU is on the screen, in the wide picture."""
    frame = page.locator("#sched .plot").first.bounding_box()
    unit = frame["width"] / page.evaluate("stSchedule.runs[0].makespan")
    return frame["x"] + time * unit, frame["y"] + gpu * 46 + 8


def test_pointing_says_what_and_why(open_page: Open) -> None:
    page = open_page(ALONE).page
    page.mouse.move(*spot(page, 2, 6.5))
    assert page.inner_text("#sched .detail") == (
        "GPU 2, 6 to 8: backward of micro-batch 1; needs B1 of GPU 3, done at 6; the GPU waited 2."
    )
    assert page.get_attribute("#sched .need", "d")
    page.mouse.move(*spot(page, 2, 5))
    assert page.inner_text("#sched .detail") == (
        "GPU 2, 4 to 6: idle; B1 is next and needs B1 of GPU 3, which ends at 6."
    )
    page.mouse.move(5, 5)
    assert page.inner_text("#sched .detail").startswith("Idle GPU-units: 18 at the start")


def test_the_longest_chain_fills_the_step(open_page: Open) -> None:
    page = open_page(f"{ALONE}?k=1").page
    assert "33 of 33 units at work" in page.inner_text("#sched .detail")
    assert page.get_attribute("#sched path.crit", "d")


# ---- 12 motion


COUNT = """() => { window.changes = 0; new MutationObserver(list => { changes += list.length; })
  .observe(document.getElementById('sched'), { subtree: true, childList: true, attributes: true, characterData: true }); }"""
FRAMES = """() => { window.frames_ = 0; const real = requestAnimationFrame;
  window.requestAnimationFrame = f => real(t => { frames_ += 1; f(t); }); }"""


def test_nothing_moves_untouched(open_page: Open) -> None:
    page = open_page(ALONE).page
    page.evaluate(COUNT)
    page.wait_for_timeout(3000)
    assert page.evaluate("changes") == 0


def test_play_moves_the_playhead_alone_and_pause_stops_it(open_page: Open) -> None:
    page = open_page(ALONE).page
    boxes = page.evaluate(BOXES)
    page.evaluate(FRAMES)
    page.evaluate("window.kept = document.querySelector('#sched rect[data-op]')")
    page.click("#sched .play")
    page.wait_for_timeout(1000)
    frames = page.evaluate("frames_")
    page.click("#sched .play")
    page.wait_for_timeout(100)
    page.evaluate(COUNT)
    page.wait_for_timeout(300)
    assert page.evaluate("changes") == 0
    assert frames >= 15
    assert page.evaluate("kept.isConnected")
    assert page.evaluate(BOXES) == boxes
    assert 1 < float(page.input_value("#sched .scrub")) < 8
    assert "t=" in page.url


def test_play_ends_on_the_whole_picture(open_page: Open) -> None:
    page = open_page(f"{ALONE}?s=gpipe&p=2&m=1").page
    page.select_option("#sched .speed", "4")
    page.click("#sched .play")
    page.wait_for_function(
        "document.querySelector('#sched .play').getAttribute('aria-label') === 'Play'", timeout=4000
    )
    assert page.get_attribute("#sched .veil", "width") == "0"
    assert "t=" not in page.url


def test_out_of_sight_nothing_is_drawn(open_page: Open) -> None:
    page = open_page(ALONE).page
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('div'), { style: 'height:3000px' }))"
    )
    page.evaluate(FRAMES)
    page.click("#sched .play")
    page.evaluate("scrollTo(0, 2500)")
    page.wait_for_timeout(1000)
    seen = page.evaluate("frames_")
    page.wait_for_timeout(500)
    assert page.evaluate("frames_") == seen


def test_reduced_motion_steps(open_page: Open) -> None:
    page = open_page(ALONE, reduced_motion="reduce").page
    page.evaluate("""() => { window.times = new Set(); const scrub = document.querySelector('#sched .scrub');
      (function look() { times.add(scrub.value); requestAnimationFrame(look); })(); }""")
    page.click("#sched .play")
    page.wait_for_timeout(1900)
    times = page.evaluate("[...times]")
    assert 2 <= len(times) <= 5, times
    assert all(float(time) == int(float(time)) for time in times)


def test_steps_go_from_event_to_event(open_page: Open) -> None:
    page = open_page(f"{ALONE}?s=interleaved-1f1b").page
    page.click('#sched button[aria-label="Start"]')
    found = []
    for _ in range(3):
        page.click('#sched button[aria-label="Step"]')
        found.append(float(page.input_value("#sched .scrub")))
    page.click('#sched button[aria-label="Step back"]')
    assert found == [0.5, 1.0, 1.5]
    assert float(page.input_value("#sched .scrub")) == 1.0


# ---- 13 small screens, 14 colour


FAULTS = """() => {
  const faults = [];
  const root = document.getElementById('sched');
  if (document.documentElement.scrollWidth > innerWidth) faults.push(`page is ${document.documentElement.scrollWidth} wide`);
  for (const e of root.querySelectorAll('button, input, select, summary')) {
    const box = e.closest('label')?.getBoundingClientRect() ?? e.getBoundingClientRect();
    if (!box.width) continue;
    if (box.left < 0 || box.right > innerWidth) faults.push(`outside: ${e.outerHTML.slice(0, 80)}`);
    const least = e.matches('[data-story], .play') ? 40 : 24;
    if (box.width < least - 0.5 || box.height < least - 0.5) faults.push(`small ${box.width}x${box.height}: ${e.outerHTML.slice(0, 80)}`);
  }
  for (const svg of root.querySelectorAll('.chart:not([hidden]) svg')) {
    const boxes = [...svg.querySelectorAll('text')].map(t => t.getBoundingClientRect());
    const size = svg.querySelector('text') && parseFloat(getComputedStyle(svg.querySelector('text')).fontSize);
    if (size !== null && size < 10) faults.push(`text of ${size} px`);
    boxes.sort((a, b) => a.top - b.top || a.left - b.left);
    for (let i = 1; i < boxes.length; i += 1) for (let j = Math.max(0, i - 12); j < i; j += 1) {
      const [a, b] = [boxes[j], boxes[i]];
      // A line box is taller than its digits: their middle 60 % must not meet.
      if (a.left < b.right - 0.5 && b.left < a.right - 0.5 && b.top + 0.2 * b.height < a.bottom - 0.2 * a.height)
        faults.push(`text on text at ${b.left},${b.top}`);
    }
  }
  return [...new Set(faults)].slice(0, 6);
}"""


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_it_fits_every_screen(open_page: Open, width: int) -> None:
    watched = open_page(ALONE, width=width, height=740)
    page = watched.page
    for query in (
        "",
        "?m=16&s=zb-h1&c=gpipe",
        "?p=8&m=8&s=interleaved-1f1b",
        "?p=64&m=512&s=zb-v",
        "?p=32&m=20",
    ):
        show(page, query)
        page.evaluate("document.querySelector('#sched .more').open = true")
        assert page.evaluate(FAULTS) == [], query
    watched.assert_clean()


def test_the_verdict_stays_in_sight(open_page: Open) -> None:
    page = open_page(ALONE, width=360, height=740).page
    for choose in (
        lambda: page.select_option("#sched-s", "zb-v"),
        lambda: page.click('#sched button[aria-label="more Micro-batches"]'),
        lambda: page.select_option("#sched-c", "gpipe"),
        lambda: page.click("#sched .r-k label"),
        lambda: story(page, 7),
    ):
        choose()
        box = page.locator("#sched .verdict").first.bounding_box()
        assert 0 <= box["y"] < 700


def test_narrow_pages_run_time_down(open_page: Open) -> None:
    page = open_page(ALONE, width=360, height=740).page
    tall = page.evaluate("""() => [...document.querySelectorAll('#sched rect[data-op=B]')]
      .every(r => +r.getAttribute('width') > 40 && Math.abs(r.getAttribute('height') - 28) < 1)""")
    assert tall
    page.focus("#sched .chart")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#sched .detail").startswith("GPU 0, 1 to 2: forward of micro-batch 2")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#sched .detail").startswith("GPU 1")


COLOURS = """() => {
  const root = document.getElementById('sched');
  const probe = root.appendChild(document.createElement('i'));
  const of = name => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map(Number); };
  const found = Object.fromEntries(['k0', 'k1', 'k3', 'held', 'ground', 'ink', 'soft', 'edge', 'hatch', 'line', 't0', 't1', 't3', 'crit'].map(n => [n, of(n)]));
  probe.remove();
  return found;
}"""
# Colour as people without one kind of cone see it (Machado, Oliveira and Fernandes, 2009).
SIMULATED = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def linear(colour: list[float]) -> list[float]:
    return [
        c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4
        for c in colour
    ]


def contrast(a: list[float], b: list[float]) -> float:
    shine = [
        sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(x), strict=True)) for x in (a, b)
    ]
    return (max(shine) + 0.05) / (min(shine) + 0.05)


def lab(rgb: list[float]) -> list[float]:
    x = 0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]
    y = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]
    z = 0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]
    f = [t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x / 0.9505, y, z / 1.089)]
    return [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]


def distance(a: list[float], b: list[float], seen: str) -> float:
    def as_seen(colour: list[float]) -> list[float]:
        rgb = linear(colour)
        return lab(
            [
                min(1, max(0, sum(w * c for w, c in zip(row, rgb, strict=True))))
                for row in SIMULATED[seen]
            ]
        )

    return sum((p - q) ** 2 for p, q in zip(as_seen(a), as_seen(b), strict=True)) ** 0.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_can_be_told_apart_and_text_read(open_page: Open, theme: str) -> None:
    colours = open_page(ALONE, theme=theme).page.evaluate(COLOURS)
    for seen in SIMULATED:
        for a, b in (
            ("k0", "k1"),
            ("k0", "k3"),
            ("k1", "k3"),
            ("k0", "held"),
            ("k1", "held"),
            ("k3", "held"),
        ):
            assert distance(colours[a], colours[b], seen) >= 20, (seen, a, b)
    for letter, box in (("t0", "k0"), ("t1", "k1"), ("t3", "k3")):
        assert contrast(colours[letter], colours[box]) >= 4.5
    for name in ("ink", "soft", "held"):
        assert contrast(colours[name], colours["ground"]) >= 4.5, name
    for name in ("edge", "hatch", "line", "crit"):
        assert contrast(colours[name], colours["ground"]) >= 3, name


def test_the_theme_switch_changes_colours_at_once(open_page: Open) -> None:
    page = open_page(ALONE).page
    fill = "getComputedStyle(document.querySelector('#sched rect[data-op=F]')).fill"
    light = page.evaluate(fill)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    dark = page.evaluate(fill)
    page.evaluate(
        "delete document.documentElement.dataset.theme; document.documentElement.className = 'dark'"
    )
    assert light == "rgb(42, 92, 170)"
    assert dark == "rgb(111, 168, 255)"
    assert page.evaluate(fill) == dark


def test_kinds_differ_by_more_than_colour(open_page: Open) -> None:
    page = open_page(f"{ALONE}?s=zb-h1&m=6").page
    letters = page.locator("#sched .boxes text").all_text_contents()
    assert {letter[0] for letter in letters} == {"F", "I", "W"}
    assert page.get_attribute("#sched .boxes .mark", "d").count("M") == 2 * 4 * 6


def test_forced_colours_keep_outlines(open_page: Open) -> None:
    page = open_page(ALONE, forced_colors="active").page
    stroke, fill = (
        page.evaluate("""() => { const s = getComputedStyle(document.querySelector('#sched rect[data-op=F]'));
      return [s.stroke, s.fill]; }""")
    )
    assert stroke != "none"
    assert stroke != fill


# ---- 15 speed


def test_a_schedule_change_is_quick_on_a_slow_machine(open_page: Open) -> None:
    page = open_page(f"{ALONE}?p=8&m=32").page
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    times = page.evaluate("""async () => {
      const found = [];
      for (const name of ['zb-h1', 'gpipe', '1f1b', 'zb-h2', 'gpipe']) {
        const start = performance.now();
        document.querySelector(`#sched input[value="${name}"]`).click();
        await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
        found.push(performance.now() - start);
      }
      return found;
    }""")
    session.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    assert min(times) <= 250, times


def test_the_layout_does_not_jump(open_page: Open) -> None:
    page = open_page(ALONE).page
    shift = page.evaluate("""() => new Promise(done => { let sum = 0;
      new PerformanceObserver(list => { for (const e of list.getEntries()) sum += e.value; }).observe({ type: 'layout-shift', buffered: true });
      setTimeout(() => done(sum), 200); })""")
    assert shift < 0.02


def test_131072_boxes_are_painted_and_play_smoothly(open_page: Open) -> None:
    watched = open_page(f"{ALONE}?s=interleaved-1f1b&p=64&m=512&v=2")
    page = watched.page
    page.wait_for_timeout(1500)
    assert page.evaluate("stSchedule.runs[0].boxes") == 131072
    assert outs(page)["idle"] == "5.8 %"
    inked = page.evaluate("""() => { const c = document.querySelector('#sched canvas');
      const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
      const blue = (0x2a << 16) + (0x5c << 8) + 0xaa; let n = 0;
      for (let i = 0; i < d.length; i += 4) if ((d[i] << 16) + (d[i + 1] << 8) + d[i + 2] === blue) n += 1;
      return n / (d.length / 4); }""")
    assert 0.1 < inked < 0.6
    page.evaluate(COUNT)
    cost = page.evaluate("""async () => { const costs = [];
      for (let t = 100; t < 1600; t += 50) { const s = performance.now(); stSchedule.clock.go(t); costs.push(performance.now() - s); }
      return costs.sort((a, b) => a - b)[15]; }""")
    assert cost < 8, cost
    assert page.locator("#sched canvas").count() == 1
    page.click('#sched button[aria-label="Zoom in"]', click_count=6)
    page.wait_for_timeout(300)
    assert page.locator("#sched canvas").count() >= 2
    page.focus("#sched .chart")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#sched .detail").startswith("GPU 0, 0 to 0.5: forward of micro-batch 1")
    watched.assert_clean()
