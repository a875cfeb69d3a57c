/** The schedule figure: one state in, everything on the page out of it. */

import { h, text } from "../shared/dom.js";
import { liveRegion } from "../shared/live.js";
import { onThemeChange } from "../shared/theme.js";
import { chart } from "./chart.js";
import { foot, lazyTable, warning } from "./extras.js";
import { fixedChunks, idleUntil, neighbour, refusal, simulate } from "./model.js";
import { target } from "./moves.js";
import { panel, storyRow, transport } from "./panel.js";
import { player } from "./player.js";
import { DEFAULTS, fromQuery, STORIES, toQuery } from "./state.js";
import { verdict } from "./verdict.js";
import * as words from "./words.js";

const NARROW = 560;
const COLUMN = 688;
const ZOOMS = [
  ["Zoom out", "−", 0.5],
  ["Zoom in", "+", 2],
  ["Whole step", "⤢", 0],
];

/** Take over `root`; its static picture goes, its id and class stay. */
export function mount(root) {
  let { state, bad } = fromQuery(location.search);
  let runs = [];
  let zoom = 1;
  // No width yet (a hidden page, a folded box): draw for the book's column until there is one.
  const room = () => root.clientWidth || COLUMN;
  let width = room();
  let narrow = width < NARROW;
  let pinned = null;
  let controls;
  let saving = 0;
  const span = () => runs.reduce((most, run) => Math.max(most, run.makespan), 0);
  const live = liveRegion();
  const detail = h("p", { class: "detail" });
  const says = verdict(reset);
  const note = warning((patch) => {
    change(patch);
    root.querySelector("#sched-m").focus();
  });
  const charts = [0, 1].map((which) =>
    chart({
      point: (hit, click) => point(which, hit, click),
      key: (event, down) => key(which, event, down),
      // Both pictures share one clock, so they stay side by side when zoomed.
      scroll: (x, y) => runs[1] && charts[1 - which].scrollTo(x, y),
    }),
  );
  const stories = storyRow(
    // Each says what it finds before it is opened.
    words.TELL.map(([name], at) => {
      const found = simulate(STORIES[at], STORIES[at].s);
      return `${name}: ${words.percent(found.bubble_fraction)} idle`;
    }),
    tellStory,
  );
  const grid = lazyTable();
  const holder = h("div", { class: "controls" });
  const clock = player({
    element: charts[0].element,
    span,
    step: nextMoment,
    tick,
    changed,
    moved,
  });
  const keys = transport(clock);
  const zoomers = ZOOMS.map(([name, sign, by]) =>
    h(
      "button",
      { type: "button", "aria-label": name, title: name, onclick: () => zoomBy(by) },
      sign,
    ),
  );
  // As many micro-batches of one sequence, on servers of eight that split each layer.
  const inExplorer = () => {
    const sizes = { "l.pp": state.p, "l.n": 8 * state.p, "l.batch": state.m, "l.schedule": state.s };
    if (!fixedChunks(state.s)) sizes["l.vpp"] = state.v;
    return new URLSearchParams(sizes);
  };

  root.replaceChildren(
    h("div", { class: "stick" }, says.first),
    charts[0].element,
    says.second,
    charts[1].element,
    keys.element,
    detail,
    h(
      "div",
      { class: "bar" },
      says.legend,
      h("span", { class: "zoom", role: "group", "aria-label": "Zoom" }, zoomers),
    ),
    says.info,
    stories.element,
    says.told,
    note.element,
    holder,
    grid.element,
    h("p", { class: "foot" }, "The same from the command line: ", says.command),
    foot(() => save(false), inExplorer),
    live.element,
  );
  root.classList.add("st-sched");
  build();

  // ---- state in, page out

  function build() {
    controls = panel(narrow, change);
    holder.replaceChildren(controls.element);
    update(true);
  }

  function change(patch, push = false) {
    bad = [];
    state = { ...state, t: -1, ...patch };
    zoom = 1;
    pinned = null;
    update();
    save(push);
  }

  function tellStory(number) {
    change(STORIES[number - 1], true);
  }

  function reset() {
    const { st } = state;
    tellStory(st);
    root.querySelector(`[data-story="${st}"]`).focus();
  }

  function update(first = false) {
    clock.stop();
    controls.show(state);
    const why = refusal(state, state.s);
    const whyOther = state.c && refusal(state, state.c);
    const asked = why ? DEFAULTS : state;
    // What cannot run leaves the last good picture; at first there is none but the default.
    if (!why || !runs.length) {
      const names = [asked.s, whyOther ? "" : state.c].filter(Boolean);
      runs = names.map((name) => simulate(asked, name));
    }
    note.show({ state, bad, why, whyOther });
    draw();
    says.show(state, runs, runs[1] || why, asked, narrow);
    stories.show(state.st);
    grid.show(runs);
    if (!first) live.say(`${words.plainly(why)} ${words.summary(runs[0])}`);
    clock.go(state.t < 0 ? Infinity : state.t);
  }

  function draw() {
    const most = state.h && runs.reduce((peak, run) => Math.max(peak, run.peak), 0);
    charts.forEach((one, i) => {
      one.element.hidden = !runs[i];
      if (!runs[i]) return;
      one.show(runs[i], room(), span(), zoom, narrow, most);
      one.showPath(state.k === 1);
    });
    describe(null);
  }

  /** Draw again at the same moment. */
  function redraw() {
    const time = clock.done ? Infinity : clock.time;
    draw();
    clock.go(time);
    if (pinned) describe(pinned);
  }

  // ---- time

  function nextMoment(time, forward) {
    const found = runs.map((run) => neighbour(run, time, forward));
    if (!forward) return Math.max(...found);
    return Math.min(...found.filter((one) => one > time + 1e-9));
  }

  function tick(time) {
    charts.forEach((one, i) => runs[i] && one.playhead(Math.min(time, runs[i].makespan)));
    const { idle, total } = idleUntil(runs[0], Math.min(time, runs[0].makespan));
    const share = total > 0 ? ` (${words.percent(idle / total)})` : "";
    const [now, spent, whole] = [time, idle, total].map((value) => words.num(value, 1));
    const line = `time ${now} of ${words.units(span())}: idle so far ${spent} of ${whole} GPU-units${share}`;
    keys.show(time, span(), line);
    if (!clock.done) {
      text(detail, `T${line.slice(1)}.`);
      if (zoom > 1) charts[0].reveal(time);
    } else if (!pinned) describe(null);
  }

  function changed() {
    keys.playing(clock.playing);
    if (!clock.playing) moved();
  }

  /** Note the moment in the address once the reader has stopped moving it. */
  function moved() {
    clearTimeout(saving);
    saving = setTimeout(() => save(false), 60);
  }

  // ---- pointing and keys

  function point(which, hit, click) {
    if (click) pinned = hit ? { which, hit } : null;
    if (!clock.playing) describe(hit ? { which, hit } : pinned);
  }

  function describe(shown) {
    charts.forEach((one, i) => runs[i] && one.select(shown?.which === i ? shown.hit : null));
    if (!shown) {
      text(detail, state.k ? words.pathLine(runs[0]) : words.where(runs[0]));
      return;
    }
    const run = runs[shown.which];
    const { box, gap } = shown.hit;
    const line = box ? words.boxLine(run, box) : words.gapLine(run, gap);
    text(detail, line);
    live.say(line);
  }

  function key(which, event, down) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const zooms = { "+": 2, "-": 0.5, 0: 0 };
    const from = pinned?.which === which ? pinned.hit.box : null;
    const found = target(runs[which], from, event.key, down);
    if (found) {
      pinned = { which, hit: { box: found } };
      clock.stop();
      describe(pinned);
      charts[which].reveal(found.start);
    } else if (event.key === " ") clock.toggle();
    else if (event.key in zooms) zoomBy(zooms[event.key]);
    else if (event.key === "Escape") {
      pinned = null;
      describe(null);
      document.activeElement.blur();
    } else if (found === undefined) return;
    event.preventDefault();
    event.stopPropagation();
  }

  function zoomBy(factor) {
    const closest = Math.max(1, (runs[0].makespan * 24) / room());
    const most = 2 ** Math.ceil(Math.log2(closest));
    zoom = factor ? Math.min(most, Math.max(1, zoom * factor)) : 1;
    redraw();
    if (pinned?.hit.box) charts[pinned.which].reveal(pinned.hit.box.start);
  }

  // ---- the address

  function save(push) {
    const t = clock.done ? -1 : Math.round(clock.time * 100) / 100;
    state = { ...state, t };
    const { pathname, search, hash } = location;
    const query = toQuery(state, search);
    if (query === search) return;
    history[push ? "pushState" : "replaceState"](null, "", pathname + query + hash);
  }

  addEventListener("popstate", () => {
    ({ state, bad } = fromQuery(location.search));
    pinned = null;
    update();
  });
  new ResizeObserver(() => {
    if (room() === width) return;
    width = room();
    if (narrow === width < NARROW) return redraw();
    narrow = width < NARROW;
    state = { ...state, t: clock.done ? -1 : clock.time };
    return build();
  }).observe(root);
  // Colours of the SVG follow by themselves; a bitmap is painted anew.
  onThemeChange(() => root.querySelector("canvas") && redraw());
  return {
    get state() {
      return state;
    },
    get runs() {
      return runs;
    },
    clock,
  };
}
