/** The pictures and their keys: memory, time, stages, servers. */

import { script } from "../shared/script.js";
import { drawBars, memoryScale, timeScale } from "./bars.js";
import { fill, h, oneStop, text, toggles } from "./dom.js";
import { count, digits, gb, seconds } from "./format.js";
import { inNumber } from "../shared/number.js";
import { MEMORY_PARTS, STEP_SLOTS, placeWord, stepOut, stepParts } from "./outs.js";
import { drawServers, drawStages } from "./pictures.js";

const HEADLINES = [
  ["step", "a step"],
  ["mfu", "MFU, attention in full"],
  ["tflops", "a GPU"],
  ["tokens_per_s", "in all"],
  ["days", "for the run"],
  ["m", ""],
];

const MEMORY_HEADS = [
  ["memory", "in all"],
  ["in_flight", ""],
];

/** Make the places of all pictures; numbers in their keys are buttons. */
export function pictureParts(id, change) {
  const models = [
    ["baseline", "baseline"],
    ["roofline", "roofline"],
  ];
  const by = toggles(models, (value) => change({ by: value }, "by"));
  by.element = h(
    "div",
    { class: "by", role: "group", "aria-labelledby": `${id}-by`, "data-control": "by" },
    h("span", { id: `${id}-by` }, "Estimated by"),
    by.buttons,
  );
  const memory = h("div", { class: "bars bars-memory" });
  const memoryKey = h("div", { class: "legend legend-memory", role: "group", "aria-label": "Parts of memory" });
  const time = h("div", { class: "bars bars-time" });
  const timeKey = h("div", { class: "legend legend-time", role: "group", "aria-label": "Numbers of the step" });
  const heads = h("div", { class: "heads" });
  const timeKeys = h("div", { class: "keys" });
  const stages = h("div", { class: "stages" });
  const servers = h("div", { class: "servers" });
  const timeline = h("a", { class: "timeline", hidden: true, tabindex: -1 }, "See this bubble as a timeline");
  const memoryKeys = h("div", { class: "keys" });
  const memoryHeads = h("div", { class: "heads" }, headButtons(MEMORY_HEADS));
  memoryKey.append(memoryHeads, memoryKeys);
  timeKey.append(heads, timeKeys);
  const memoryTitle = h("h2", {}, "Memory of the fullest GPU");
  const timeTitle = h("h2", {}, "Time of one step");
  const stagesTitle = h("h2", {}, "Memory by stage");
  const timeHead = h("div", { class: "head-row" }, timeTitle, by.element);
  const element = h(
    "div",
    { class: "pictures" },
    h("section", { class: "box" }, memoryTitle, memory, memoryKey),
    h("section", { class: "box" }, timeHead, time, timeKey),
    h("section", { class: "box half" }, stagesTitle, stages, timeline),
    h("section", { class: "box half" }, h("h2", {}, "Who talks to whom"), servers),
  );
  const settle = oneStop(element, ".number:enabled, .toggle, .timeline");
  return { element, by, timeline, memory, memoryKeys, memoryTitle, timeTitle, stagesTitle, time, heads, timeKeys, stages, servers, settle };
}

/** Draw everything about one answer, with the outline of another. */
export function drawAll(parts, answer, ghost, room) {
  const { memory } = answer;
  const full = memory.stages[memory.worst];
  const { top, ticks } = memoryScale(memory.limit, memory.total, ghost ? ghost.memory.total : 0);
  const blocks = (stage) =>
    MEMORY_PARTS.map(([key, label, slot]) => ({
      key,
      label,
      slot,
      value: stage[key],
      text: `${gb(stage[key])} GB`,
    }));
  const place = placeWord(answer);
  const which = `${place} ${memory.worst + 1} of ${answer.job.pp}`;
  text(parts.memoryTitle, `Memory of the fullest GPU${answer.job.pp > 1 ? ", " + which : ""}`);
  text(parts.stagesTitle, `Memory by ${place}`);
  const what = memory.verdict === "over" ? "A step, if it fitted" : "Time of one step";
  text(parts.timeTitle, `${what}; ⊢⊣ likely range`);
  const list = blocks(full).map((part) => `${part.label} ${part.text}`).join(", ");
  drawBars(parts.memory, {
    id: "memory",
    width: room.bars,
    label: `Memory of the fullest GPU: ${gb(memory.total)} of ${gb(memory.limit)} GB: ${list}`,
    top,
    ticks: ticks.map((value) => [value, digits(value / 1e9) + (value === top ? " GB" : "")]),
    limit: { value: memory.limit, text: `${gb(memory.limit)} GB` },
    rows: [
      { name: "", height: 40, parts: blocks(full), ghost: ghost && blocks(ghost.memory.stages[ghost.memory.worst]) },
    ],
  });
  drawTime(parts, answer, ghost, room.bars);
  parts.timeline.hidden = answer.job.pp < 2 || answer.job.pp > 64;
  const { words, href } = timelineOf(answer);
  text(parts.timeline, words);
  parts.timeline.href = href;
  parts.by.press(answer.chosen.model.key);
  parts.by.element.hidden = answer.steps.length < 2;
  drawStages(parts.stages, answer, MEMORY_PARTS, memoryScale(memory.limit, memory.total).top);
  drawServers(parts.servers, answer, room.servers);
  drawKeys(parts, answer, top);
  parts.element.classList.toggle("over", memory.verdict === "over");
  parts.settle();
}

/** The words and the address of the schedule figure with the same schedule, within what it draws. */
function timelineOf({ job, state, num_microbatches }) {
  const most = Math.min(num_microbatches, 512);
  // Of more than it draws, as many as make equal rounds.
  const m = most < num_microbatches ? most - (most % job.pp) : most;
  const v = Math.min(job.vpp, 8);
  const changed = [m < num_microbatches && `${m} micro-batches`, v < job.vpp && `${v} chunks`];
  const words = changed.filter(Boolean).join(" and ");
  const less = words && `, drawn with ${words}`;
  const size = { w: "sched", s: state.schedule, p: job.pp, m, v };
  // A backward for inputs that recomputes the forward takes as long as both.
  if (job.recompute_full) size.ti = 2;
  return {
    words: `See this bubble as a timeline${less}`,
    href: new URL(`../schedule/index.html?${new URLSearchParams(size)}`, script).href,
  };
}

function drawTime(parts, answer, ghost, width) {
  const row = (step) => ({
    // What does not fit takes no time that anybody could plan with.
    name: answer.memory.verdict === "over" ? step.model.name : `${step.model.name} ${seconds(step.total)}`,
    height: answer.steps.length > 1 ? 24 : 34,
    quiet: step !== answer.chosen,
    faded: answer.memory.verdict === "over",
    range: step.low === null ? null : [step.low, step.high],
    parts: stepParts(step.parts).map(([key, label]) => ({
      key,
      label,
      slot: STEP_SLOTS[key] ?? "m7",
      value: step.parts[key],
      text: seconds(step.parts[key]),
    })),
  });
  const rows = answer.steps.map(row);
  const chosen = answer.steps.indexOf(answer.chosen);
  const longest = Math.max(...answer.steps.map((step) => Math.max(step.total, step.high ?? 0)));
  const before = ghost?.chosen.total ?? 0;
  // A step that was much longer would squeeze the present one: its outline is cut at the end.
  const { top, ticks } = timeScale(Math.max(longest, before < 4 * longest ? before : 0));
  if (ghost) rows[chosen].ghost = row(ghost.chosen).parts;
  const over = answer.memory.verdict === "over" ? "if it fitted, " : "";
  const list = rows[chosen].parts.map((part) => `${part.label} ${part.text}`).join(", ");
  drawBars(parts.time, {
    id: "time",
    width,
    label: `Time of one step, ${over}${seconds(answer.chosen.total)}: ${list}`,
    top,
    ticks: ticks.map((value) => [value, seconds(value)]),
    rows,
  });
}

function drawKeys(parts, answer, top) {
  const { memory, chosen } = answer;
  const full = memory.stages[memory.worst];
  keyItems(parts.memoryKeys, MEMORY_PARTS.map(([key, label, slot]) => [key, label, slot, full[key] / top]));
  const steps = stepParts(chosen.parts)
    .filter(([key]) => chosen.parts[key] > 0)
    .map(([key, label]) => [stepOut(key), label, STEP_SLOTS[key] ?? "m7", chosen.parts[key] / chosen.total]);
  keyItems(parts.timeKeys, steps);
  drawHeads(parts, answer, full.in_flight);
}

/** Buttons of the numbers that stand above the parts: name and the word after it. */
function headButtons(list) {
  return list.map(([key, word]) =>
    h(
      "button",
      { type: "button", class: "number head", "data-number": key, tabindex: -1 },
      h("b", { "data-out": key }),
      h("span", { class: "head-word" }, word),
    ),
  );
}

function drawHeads({ element: host, heads }, answer, held) {
  if (!heads.firstChild) fill(heads, headButtons(HEADLINES));
  const word = (key) => host.querySelector(`[data-number=${key}] .head-word`);
  text(word("m"), inNumber(answer.num_microbatches, "micro-batches"));
  text(word("in_flight"), `${inNumber(held, "micro-batches")} held at once`);
  text(word("days"), `for ${count(answer.state.tokens)} tokens`);
}

/** A key of buttons, each the name, the number and (on a small screen) a bar of its own. */
function keyItems(host, items) {
  const shown = items.map(([key]) => key).join();
  if (host.dataset.shown !== shown) {
    host.dataset.shown = shown;
    fill(
      host,
      items.map(([key, label, slot]) =>
        h(
          "button",
          { type: "button", class: "number", "data-number": key, tabindex: -1 },
          h("i", { class: `swatch slot-${slot}` }),
          h("span", { class: "key-name" }, label),
          " ",
          h("b", { "data-out": key }),
          h("span", { class: "key-bar" }, h("i", { class: `slot-${slot}` })),
        ),
      ),
    );
  }
  [...host.children].forEach((button, index) => {
    button.querySelector(".key-bar i").style.width = `${Math.min(100, items[index][3] * 100)}%`;
  });
}
