/** The schedule figure: one state in, everything on the page out of it. */

import { h, text } from "../shared/dom.js";
import { liveRegion } from "../shared/live.js";
import { onThemeChange } from "../shared/theme.js";
import { chart } from "./chart.js";
import { at, causes, idleUntil, needed, neighbour, refusal, simulate } from "./model.js";
import { panel, storyRow, transport } from "./panel.js";
import { player } from "./player.js";
import { DEFAULTS, fromQuery, samePicture, STORIES, toQuery } from "./state.js";
import { nearest } from "./nearest.js";
import * as words from "./words.js";

const NARROW = 560;
const COLUMN = 688;

/** The last line: a link to copy, the figure by itself, the explorer, and the keys. */
function foot(copy, sizes) {
  const alone = new URL("index.html", import.meta.url);
  const away = alone.pathname !== location.pathname;
  const link = h("a", { href: alone.href, onclick: () => { link.href = alone.href + location.search; } }, "Open alone");
  const layout = h("a", { href: "explorer.html", onclick: () => { layout.href = `explorer.html?${sizes()}`; } },
    "These stages in the layout explorer");
  return h("p", { class: "foot" }, copy, away && [link, " · ", layout, "."],
    " In the picture: arrow keys go from action to action, Home and End along a GPU, Enter to what it needs, Space plays, + and − zoom, Esc leaves.");
}

/** A folded table, whose script is fetched when it is first opened. */
function lazyTable() {
  const holder = h("div", { class: "hold" });
  let runs = [];
  let written = null;
  const element = h("details", { class: "table", ontoggle: write }, h("summary", {}, "Table of every action"), holder);
  async function write() {
    if (!element.open || written === runs) return;
    written = runs;
    const { tables } = await import("./table.js");
    if (written === runs) holder.replaceChildren(...tables(runs));
  }
  return { element, show(list) { runs = list; write(); } };
}

/** Take over `root`; its static picture goes, its id and class stay. */
export function mount(root) {
  let { state, bad } = fromQuery(location.search);
  let runs = [];
  let zoom = 1;
  // No width yet (a hidden page, a folded box): draw for the book's column until there is one.
  const room = () => root.clientWidth || COLUMN;
  let narrow = room() < NARROW;
  let pinned = null;
  let controls;
  const live = liveRegion();
  const out = {};
  const verdict = h("p", { class: "verdict" });
  const info = h("p", { class: "info" });
  const detail = h("p", { class: "detail" });
  const note = h("div", { class: "note", hidden: true });
  const told = h("p", { class: "told" });
  const second = h("p", { class: "verdict second", hidden: true });
  const charts = [0, 1].map((which) => chart({ point: (hit, click) => point(which, hit, click), key: (event, down) => key(which, event, down),
    // Both pictures share one clock, so they stay side by side when zoomed.
    scroll: (x, y) => runs[1] && charts[1 - which].scrollTo(x, y) }));
  const legend = h("p", { class: "legend" });
  const stories = storyRow(words.TELL.map(([name]) => name), tellStory);
  const grid = lazyTable();
  const holder = h("div", { class: "controls" });
  const clock = player({
    element: charts[0].element,
    span: () => runs.reduce((most, run) => Math.max(most, run.makespan), 0),
    step: (time, forward) => nextMoment(time, forward),
    tick,
    changed: () => { keys.playing(clock.playing); if (!clock.playing) save(false); },
  });
  const keys = transport(clock);
  const zoomers = [["Zoom out", "−", 0.5], ["Zoom in", "+", 2], ["Whole step", "⤢", 0]].map(([name, sign, by]) =>
    h("button", { type: "button", "aria-label": name, title: name, onclick: () => zoomBy(by) }, sign));
  // As many micro-batches of one sequence, on servers of eight that split each layer.
  const inExplorer = () =>
    new URLSearchParams({ "l.pp": state.p, "l.n": 8 * state.p, "l.batch": state.m });
  const command = h("code", {});
  const copy = h("button", { type: "button", class: "copy", onclick: copyLink }, "Copy link");

  root.replaceChildren(
    h("div", { class: "stick" }, verdict),
    charts[0].element, second, charts[1].element, keys.element, detail,
    h("div", { class: "bar" }, legend, h("span", { class: "zoom", role: "group", "aria-label": "Zoom" }, zoomers)),
    info, stories.element, told, note, holder, grid.element,
    h("p", { class: "foot" }, "The same from the command line: ", command), foot(copy, inExplorer), live.element,
  );
  root.classList.add("st-sched");
  build();

  // ---- state in, page out

  function change(patch, options = {}) {
    bad = [];
    state = { ...state, t: -1, ...patch };
    if (!options.story && state.st === 0 && "st" in patch) state.st = 0;
    zoom = 1;
    pinned = null;
    update();
    save(options.push);
  }

  function tellStory(number) {
    change(STORIES[number - 1], { push: true, story: true });
  }

  function reset() {
    const { st } = state;
    tellStory(st);
    root.querySelector(`[data-story="${st}"]`).focus();
  }

  function update(first) {
    clock.stop();
    controls.show(state);
    const why = refusal(state, state.s);
    const whyOther = state.c && refusal(state, state.c);
    if (!why || !runs.length) {
      const names = [why ? DEFAULTS.s : state.s, whyOther ? "" : state.c].filter(Boolean);
      const asked = why ? DEFAULTS : state;
      runs = names.map((name) => simulate(asked, name));
    }
    warn(why, whyOther);
    draw();
    say();
    grid.show(runs);
    if (!first) live.say(`${words.plainly(why)} ${words.summary(runs[0])}`);
    clock.go(state.t < 0 ? Infinity : state.t);
  }

  function draw() {
    const span = clock ? runs.reduce((most, run) => Math.max(most, run.makespan), 0) : 0;
    const width = room();
    const most = runs.reduce((a, run) => Math.max(a, run.peak), 0);
    charts.forEach((one, i) => {
      one.element.hidden = !runs[i];
      if (runs[i]) one.show(runs[i], width, span, zoom, narrow, most);
      if (runs[i]) one.showPath(state.k === 1);
    });
    second.hidden = !runs[1];
    describe(null);
  }

  function say() {
    const found = words.outputs(runs[0]);
    // Where two pictures could be meant, the verdict says whose it is.
    const named = runs[1] || refusal(state, state.s);
    verdict.innerHTML =
      `<span>${named ? words.title(runs[0].name) : "Idle"}: <b data-out="idle">${found.idle}</b> ` +
      `${named ? "idle" : "of GPU time"}</span> ` +
      `<span>step <b data-out="step">${found.step}</b></span> <span>peak <b data-out="peak">${found.peak}</b></span>`;
    info.innerHTML =
      `${words.title(runs[0].name)}, ${words.sizes(runs[0])}: <span data-out="idle-units">${found["idle-units"]}</span> of ` +
      `<span data-out="all-units">${found["all-units"]}</span> GPU-units idle. Papers often quote idle over ideal time: ` +
      `<span data-out="overhead">${found.overhead}</span>. <span data-out="sends">${found.sends}</span> messages a step.` +
      (words.about(runs[0].name).copies ? " Two copies of the weights." : "");
    if (runs[1]) {
      const other = words.outputs(runs[1]);
      second.innerHTML = `<span>${words.title(runs[1].name)}: <b data-out="idle2">${other.idle}</b> idle</span> ` +
        `<span>step <b data-out="step2">${other.step}</b></span> <span>peak <b data-out="peak2">${other.peak}</b></span>`;
    }
    legend.innerHTML = words.legend(runs, state);
    text(command, words.command(refusal(state, state.s) ? DEFAULTS : state, runs[0]));
    stories.show(state.st);
    storyLine(found);
  }

  function storyLine(found) {
    const story = STORIES[state.st - 1];
    told.replaceChildren();
    if (!story) {
      told.append(words.about(runs[0].name).idea);
    } else if (samePicture(story, state)) {
      const pieces = words.TELL[state.st - 1][1].split(/[[\]]/);
      told.append(...pieces.map((piece, i) => (i % 2 ? h("b", { "data-says": piece }, found[piece]) : piece)));
    } else {
      told.append(`Story ${state.st}, changed. `, h("button", { type: "button", class: "reset", onclick: () => reset() }, "Reset"));
    }
  }

  function warn(why, whyOther) {
    const text = bad.length ? `Not understood in the address, so left out: ${bad.join(", ")}.` : words.plainly(why || whyOther);
    note.hidden = !text;
    note.replaceChildren(text && h("span", {}, why ? `${text} The picture shows the last one that can run.` : text));
    const patch = why ? nearest(state, state.s) : whyOther ? nearest(state, state.c) : null;
    if (patch) {
      const names = { m: "micro-batches", p: "stages", v: "chunks" };
      const sign = Object.entries(patch).map(([key, value]) => `${names[key]} = ${value}`).join(", ");
      note.append(" ", h("button", { type: "button", onclick: () => { change(patch); root.querySelector("#sched-m").focus(); } }, `Use ${sign}`));
    }
  }

  // ---- time

  function nextMoment(time, forward) {
    const found = runs.map((run) => neighbour(run, time, forward));
    return forward ? Math.min(...found.filter((one) => one > time + 1e-9)) : Math.max(...found);
  }

  function tick(time) {
    charts.forEach((one, i) => runs[i] && one.playhead(Math.min(time, runs[i].makespan)));
    const span = runs.reduce((most, run) => Math.max(most, run.makespan), 0);
    const { idle, total } = idleUntil(runs[0], Math.min(time, runs[0].makespan));
    const share = total > 0 ? ` (${words.percent(idle / total)})` : "";
    const says = `time ${words.num(time, 1)} of ${words.units(span)}: idle so far ${words.num(idle, 1)} of ${words.num(total, 1)} GPU-units${share}`;
    keys.show(time, span, says);
    if (!clock.done) {
      text(detail, `${says[0].toUpperCase()}${says.slice(1)}.`);
      if (zoom > 1) charts[0].reveal(time);
    } else if (!pinned) describe(null);
  }

  // ---- pointing and keys

  function point(which, hit, click) {
    if (click) pinned = hit ? { which, hit } : null;
    if (clock.playing) return;
    const shown = hit ? { which, hit } : pinned;
    describe(shown);
  }

  function describe(shown) {
    charts.forEach((one, i) => runs[i] && one.select(shown?.which === i ? shown.hit : null));
    if (!shown) {
      const line = state.k ? words.pathLine(runs[0]) : words.where(runs[0]);
      text(detail, line);
      return;
    }
    const run = runs[shown.which];
    const line = shown.hit.box ? words.boxLine(run, shown.hit.box) : words.gapLine(run, shown.hit.gap);
    text(detail, line);
    live.say(line);
  }

  function key(which, event, down) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [later, sooner, next, before] = down
      ? ["ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft"]
      : ["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"];
    const run = runs[which];
    const box = pinned?.which === which && pinned.hit.box;
    const moves = {
      [later]: () => run.rows[box.rank][box.i + 1],
      [sooner]: () => run.rows[box.rank][box.i - 1],
      [next]: () => beside(run, box, 1),
      [before]: () => beside(run, box, -1),
      Home: () => run.rows[box.rank][0],
      End: () => run.rows[box.rank].at(-1),
      Enter: () => needed(run, box),
    };
    if (event.key in moves) {
      const found = box ? moves[event.key]() : run.rows[0][0];
      if (found) {
        pinned = { which, hit: { box: found } };
        clock.stop();
        describe(pinned);
        charts[which].reveal(found.start);
      }
    } else if (event.key === " ") clock.toggle();
    else if (event.key === "Escape") {
      pinned = null;
      describe(null);
      document.activeElement.blur();
    } else if (event.key === "+" || event.key === "-" || event.key === "0") zoomBy({ "+": 2, "-": 0.5, 0: 0 }[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function beside(run, box, step) {
    const row = run.rows[box.rank + step];
    const found = row && at(run, box.rank + step, (box.start + box.end) / 2);
    return found && (found.box ?? found.gap.next ?? row.at(-1));
  }

  function zoomBy(factor) {
    const most = 2 ** Math.ceil(Math.log2(Math.max(1, (runs[0].makespan * 24) / room())));
    zoom = factor ? Math.min(most, Math.max(1, zoom * factor)) : 1;
    const { time } = clock;
    draw();
    clock.go(time);
    describe(pinned);
    if (pinned?.hit.box) charts[pinned.which].reveal(pinned.hit.box.start);
  }

  // ---- the address

  function save(push) {
    const t = clock.done ? -1 : Math.round(clock.time * 100) / 100;
    state = { ...state, t };
    const url = `${location.pathname}${toQuery(state, location.search)}${location.hash}`;
    if (url === `${location.pathname}${location.search}${location.hash}`) return;
    history[push ? "pushState" : "replaceState"](null, "", url);
  }

  async function copyLink() {
    save(false);
    try {
      await navigator.clipboard.writeText(location.href);
      text(copy, "Copied");
    } catch {
      text(copy, location.href);
    }
    setTimeout(() => text(copy, "Copy link"), 2000);
  }

  function build() {
    controls = panel(narrow, change);
    holder.replaceChildren(controls.element);
    update(true);
  }

  addEventListener("popstate", () => {
    ({ state, bad } = fromQuery(location.search));
    update();
  });
  let width = room();
  new ResizeObserver(() => {
    if (room() === width) return;
    width = room();
    const { time, done } = clock;
    if (narrow !== width < NARROW) {
      narrow = width < NARROW;
      build();
    } else draw();
    clock.go(done ? Infinity : time);
  }).observe(root);
  onThemeChange(() => runs[0].boxes > 4000 && draw());
  return { get state() { return state; }, get runs() { return runs; }, clock, causes };
}
