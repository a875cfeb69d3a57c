/** The accuracy chart: one state in, everything on the page out of it. */

import { h, text } from "../shared/dom.js";
import { liveRegion } from "../shared/live.js";
import { inNumber } from "../shared/number.js";
import { script } from "../shared/script.js";
import { card, sentence } from "./card.js";
import { chart } from "./chart.js";
import { panel, storyRow } from "./controls.js";
import { amount, choose, errorOf, KINDS, RUNS, SOURCES, typical } from "./model.js";
import { DEFAULTS, fromQuery, sameView, STORIES, toQuery } from "./state.js";
import { table } from "./table.js";
import { device, MODEL_ABOUT, MODEL_NAMES, percent, TELL } from "./words.js";

/** A folded table, written when it is first opened. */
function lazyTable() {
  const holder = h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table of runs" });
  const title = h("summary", {});
  const element = h("details", { class: "rows", ontoggle: write }, title, holder);
  let asked = null;
  let written = null;
  function write() {
    if (!element.open || written === asked) return;
    written = asked;
    holder.replaceChildren(table(...asked));
  }
  return {
    element,
    show(runs, model) {
      text(title, `Table of the ${runs.length} runs shown`);
      asked = [runs, model];
      write();
    },
  };
}

/** Take over `root`; its static picture goes, its id and class stay. */
export function mount(root) {
  let { state, bad } = fromQuery(location.search);
  let shown = [];
  let byError = [];
  let found = {};
  let over = null;
  const live = liveRegion();
  const verdict = h("p", { class: "verdict" });
  const info = h("p", { class: "info" });
  const note = h("p", { class: "note", hidden: true });
  const picture = chart({ point, key });
  const detail = h("div", { class: "known" });
  const told = h("p", { class: "told" });
  const stories = storyRow(TELL.map(([name]) => name), tell);
  const controls = panel((patch) => change(patch));
  const grid = lazyTable();
  const copy = h("button", { type: "button", class: "copy", onclick: copyLink }, "Copy link");

  root.replaceChildren(
    h("div", { class: "stick" }, verdict), picture.element, detail, stories.element, told, controls.element,
    note, info, grid.element, h("p", { class: "foot" }, copy, alone(),
      " In the picture: left and right go through the runs by step time, up and down by error, Home and End to the first and last, Esc leaves."),
    live.element,
  );
  root.classList.add("st-acc");
  update(true);

  function alone() {
    const page = new URL("index.html", script);
    const link = h("a", { href: page.href, onclick: () => { link.href = page.href + location.search; } }, "Open alone");
    return page.pathname !== location.pathname && [link, "."];
  }

  // ---- state in, page out

  function change(patch, push) {
    bad = [];
    state = { ...state, ...patch };
    update();
    save(push);
  }

  function tell(number) {
    change(STORIES[number - 1], true);
  }

  function reset() {
    const { st } = state;
    change(STORIES[Number(st) - 1]);
    root.querySelector(`[data-story="${st}"]`).focus();
  }

  function update(first) {
    const { shown: now, silent } = choose(state);
    shown = now;
    byError = [...shown].sort((a, b) => errorOf(a, state.m) - errorOf(b, state.m) || RUNS.indexOf(a) - RUNS.indexOf(b));
    found = amount(shown, state.m);
    over = null;
    controls.show(state);
    draw();
    say(silent);
    grid.show(shown, state.m);
    if (!first) live.say(summary());
  }

  function summary() {
    const of = [state.k && KINDS[Number(state.k)], state.g && device(state.g), state.n, state.s && SOURCES.find(([key]) => key === state.s)[1]];
    const named = of.filter(Boolean).join(", ");
    return `${found.rows} published runs${named && ": "}${named}. Predicted by: ${MODEL_NAMES[state.m].toLowerCase()}. ` +
      `Mean error ${percent(found.mean)}, median ${percent(found.median)}.`;
  }

  function draw() {
    picture.show(shown, state.m, root.clientWidth, summary());
    describe();
  }

  function say(silent) {
    const number = (name, value) => h("b", { "data-out": name }, value);
    verdict.replaceChildren(
      h("span", {}, number("rows", String(found.rows)), ` ${inNumber(found.rows, "runs")}`), " ",
      h("span", {}, "mean error ", number("mean", percent(found.mean))), " ",
      h("span", {}, "median ", number("median", percent(found.median))),
    );
    info.replaceChildren(MODEL_ABOUT[state.m]);
    if (found.sources > 1) {
      info.append(" With each source counting the same: mean ", number("each-mean", percent(found.eachMean)),
        ", median ", number("each-median", percent(found.eachMedian)), ".");
    }
    if (silent) info.append(` It has no answer for ${silent} more runs.`);
    if (state.m !== "roofline" && shown.length) {
      const ours = amount(shown, "roofline");
      info.append(" The roofline model on these runs: mean ", number("ours-mean", percent(ours.mean)),
        ", median ", number("ours-median", percent(ours.median)), ".");
    }
    info.append(" Shaded: within 10 %. Faint dots: runs not chosen. Hollow: beyond the edge.");
    stories.show(state.st);
    storyLine();
    warn();
  }

  function storyLine() {
    const story = STORIES[Number(state.st) - 1];
    told.replaceChildren();
    if (!story) return;
    if (!sameView(story, state)) {
      told.append(`Story ${state.st}, changed. `, h("button", { type: "button", class: "reset", onclick: reset }, "Reset"));
      return;
    }
    const outs = { ...found, mean: percent(found.mean), median: percent(found.median), worst: percent(found.worst), ours: percent(amount(shown, "roofline").mean) };
    const pieces = TELL[Number(state.st) - 1][1].split(/[[\]]/);
    told.append(...pieces.map((piece, i) => (i % 2 ? h("b", { "data-says": piece }, String(outs[piece])) : piece)));
  }

  function warn() {
    note.hidden = !bad.length && shown.length > 0;
    if (note.hidden) return;
    if (bad.length) note.replaceChildren(`Not understood in the address, so left out: ${bad.join(", ")}.`);
    if (shown.length) return;
    // The filters that are set, the one whose loss brings most runs back first.
    const set = ["m", "k", "g", "s"].filter((key) => state[key] !== DEFAULTS[key]);
    const gain = (key) => choose({ ...state, [key]: DEFAULTS[key] }).shown.length;
    const key = set.sort((a, b) => gain(b) - gain(a))[0];
    const patch = gain(key) ? { [key]: DEFAULTS[key] } : { k: "", g: "", s: "" };
    const word = { m: "Use the roofline model", k: "All models", g: "All accelerators", s: "All sources" }[gain(key) ? key : ""];
    note.replaceChildren("No run is all of this. ",
      h("button", { type: "button", onclick: () => { change(patch); root.querySelector("#accuracy-g").focus(); } }, word ?? "All runs"));
  }

  // ---- pointing and keys

  function picked() {
    return shown.find((run) => run.id === state.r) ?? null;
  }

  function describe() {
    const mine = picked();
    const run = over ?? mine ?? typical(shown, state.m, found.median);
    picture.select(run, Boolean(over ?? mine));
    const why = over || mine ? "" : "an example: its error is the median";
    detail.replaceChildren(h("div", {}, card(run, state.m, why)));
  }

  function point(run, click) {
    if (click) pick(run);
    else if (run !== over) {
      over = run;
      describe();
    }
  }

  function pick(run) {
    over = null;
    state = { ...state, r: run?.id ?? "" };
    describe();
    save(false);
    if (run) live.say(sentence(run, state.m));
  }

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const mine = picked();
    const beside = (list, by) => {
      const at = list.indexOf(mine ?? typical(shown, state.m, found.median));
      return mine ? list[at + by] : list[at];
    };
    const moves = {
      ArrowRight: () => beside(shown, 1),
      ArrowLeft: () => beside(shown, -1),
      ArrowUp: () => beside(byError, 1),
      ArrowDown: () => beside(byError, -1),
      Home: () => shown[0],
      End: () => shown.at(-1),
    };
    if (event.key in moves) {
      const run = moves[event.key]();
      if (run) pick(run);
    } else if (event.key === "Escape") {
      pick(null);
      document.activeElement.blur();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // ---- the address

  function save(push) {
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

  addEventListener("popstate", () => {
    ({ state, bad } = fromQuery(location.search));
    update();
  });
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    draw();
  }).observe(root);
  return { get state() { return state; }, get shown() { return shown; } };
}
