/** Everything the page says and draws about one answer. */

import { drawBars, memoryTop, timeScale } from "./bars.js";
import { fill, h, roving, text } from "./dom.js";
import { makeFormulaDialog } from "./formula.js";
import { digits, gb, percent, seconds } from "./format.js";
import { makeMap } from "./map.js";
import { MEMORY_PARTS, STEP_SLOTS, changes, outs, stepParts } from "./outs.js";
import { drawServers, drawStages } from "./pictures.js";
import { STORIES, pieces, storyOf } from "./stories.js";
import { makeTables } from "./tables.js";
import { makeTools } from "./tools.js";
import { makeVerdict } from "./verdict.js";

const HEADLINES = [
  ["step", "a step"],
  ["mfu", "of peak useful"],
  ["tflops", "a GPU"],
  ["tokens_per_s", ""],
  ["days", ""],
  ["m", "micro-batches"],
];

/** Make the view; `show` draws an answer, `showMap` the map, `resize` draws again. */
export function makeView(root, data, machine, panel, actions, loadTexts) {
  const id = root.id || "layout";
  const verdict = makeVerdict(actions);
  const formula = makeFormulaDialog(loadTexts, id);
  const map = makeMap(id, machine, actions.take);
  const tools = makeTools(actions);
  const tables = makeTables();
  const live = h("p", { class: "hidden-text", role: "status", "aria-live": "polite" });
  const parts = pictureParts();
  const stories = storyRow(actions);
  const assumptions = h("p", { class: "assumptions", "data-out": "assumptions" });
  let current = null;
  let lastSaid = 0;
  let saying = 0;

  root.classList.add("st-explorer");
  fill(
    root,
    verdict.element,
    h(
      "div",
      { class: "body" },
      parts.element,
      h("div", { class: "side" }, stories.element, panel.element, tools.element),
      map.element,
      tables.element,
      assumptions,
    ),
    formula.dialog,
    live,
  );

  function show(next) {
    // Sizes are read before anything is written, so that nothing is laid out twice.
    const width = root.clientWidth;
    const room = { bars: parts.memory.clientWidth, servers: parts.servers.clientWidth };
    current = { ...next, width };
    const { answer, good, before, pinned, story, bad } = next;
    root.classList.toggle("stale", Boolean(answer.refused));
    const numbers = good && outs(good, data);
    const ghost = pinned ?? (before !== good ? before : null);
    const change = pinned ? changes(pinned, good, data) : changes(before, good, data);
    verdict.show({ ...next, numbers, change });
    if (good) {
      drawAll(parts, good, ghost, room);
      const against = pinned && outs(pinned, data);
      tables.show(good, numbers, against);
      writeNumbers(root, numbers, (name, item, label) => formula.show(label, item.formula), parts);
      stories.show(story, storyOf(answer.state) === story, numbers, against);
      text(assumptions, assumed(good));
    }
    tools.show({ ...next, good });
    if (bad.length) verdict.note(`Not understood in the address, so left at the default: ${bad.join(", ")}`);
    say(`${verdict.words()} ${change}`);
  }

  /** At most two messages a second: the last one counts. */
  function say(words) {
    clearTimeout(saying);
    const wait = Math.max(0, 600 - (performance.now() - lastSaid));
    saying = setTimeout(() => {
      lastSaid = performance.now();
      text(live, words);
    }, wait);
  }

  function resize() {
    if (current && current.width !== root.clientWidth) show({ ...current, before: null });
  }

  return {
    show,
    resize,
    showWay: verdict.showWay,
    showMap: (answer) => !answer.refused && map.show(answer),
  };
}

function assumed(answer) {
  const { step } = { step: answer.chosen.model };
  const facts = "16-bit weights, 32-bit gradients, Adam: 18 bytes a parameter before ZeRO";
  const fast = Math.round((1 - step.low) * 100);
  const slow = Math.round((step.high - 1) * 100);
  const range = slow > 0 ? `${fast} % less to ${slow} % more` : `0 to ${fast} % less`;
  return (
    `An estimate, not a measurement. Assumed: ${facts}; flash attention; no stops. ` +
    `Step by the ${step.name.toLowerCase()} model (${step.says}): ${step.rows} published runs took ` +
    `${range} time than it says, ${percent(step.mean)} apart on average.`
  );
}

function pictureParts() {
  const memory = h("div", { class: "bars bars-memory" });
  const memoryKey = h("div", { class: "legend legend-memory", role: "group", "aria-label": "Parts of memory" });
  const time = h("div", { class: "bars bars-time" });
  const timeKey = h("div", { class: "legend legend-time", role: "group", "aria-label": "Numbers of the step" });
  const heads = h("div", { class: "heads" });
  const timeKeys = h("div", { class: "keys" });
  const stages = h("div", { class: "stages" });
  const servers = h("div", { class: "servers" });
  const settle = [roving(memoryKey, "button"), roving(timeKey, "button")];
  timeKey.append(heads, timeKeys);
  const memoryTitle = h("h2", {}, "Memory of the fullest GPU");
  const element = h(
    "div",
    { class: "pictures" },
    h("section", { class: "box" }, memoryTitle, memory, memoryKey),
    h("section", { class: "box" }, h("h2", {}, "Time of one step, and the range of published runs ⊢⊣"), time, timeKey),
    h("section", { class: "box small" }, h("h2", {}, "Memory by stage"), stages),
    h("section", { class: "box small" }, h("h2", {}, "Who talks to whom"), servers),
  );
  return { element, memory, memoryKey, memoryTitle, time, heads, timeKeys, stages, servers, settle };
}

function drawAll(parts, answer, ghost, room) {
  const { memory } = answer;
  const full = memory.stages[memory.worst];
  const top = memoryTop(memory.limit, memory.total, ghost ? ghost.memory.total : 0);
  const blocks = (stage) =>
    MEMORY_PARTS.map(([key, label, slot]) => ({
      key,
      label,
      slot,
      value: stage[key],
      text: `${gb(stage[key])} GB`,
    }));
  text(parts.memoryTitle, `Memory of the fullest GPU, ${answer.job.pp > 1 ? `stage ${memory.worst + 1} of ${answer.job.pp}` : "of " + gb(memory.limit) + " GB"}`);
  const list = blocks(full).map((part) => `${part.label} ${part.text}`).join(", ");
  drawBars(parts.memory, {
    id: "memory",
    width: room.bars,
    label: `Memory of the fullest GPU: ${gb(memory.total)} of ${gb(memory.limit)} GB: ${list}`,
    top,
    ticks: [0, 1, 2, 3, 4].map((part) => [(top * part) / 4, `${digits((top * part) / 4 / 1e9)}${part === 4 ? " GB" : ""}`]),
    limit: { value: memory.limit, text: `${gb(memory.limit)} GB` },
    rows: [
      { name: "", height: 40, parts: blocks(full), ghost: ghost && blocks(ghost.memory.stages[ghost.memory.worst]) },
    ],
  });
  drawTime(parts, answer, ghost, room.bars);
  drawStages(parts.stages, answer, MEMORY_PARTS, memoryTop(memory.limit, memory.total));
  drawServers(parts.servers, answer, room.servers);
  drawKeys(parts, answer, top);
  for (const one of parts.settle) one();
}

function drawTime(parts, answer, ghost, width) {
  const row = (step, index) => ({
    name: answer.steps.length > 1 || index ? step.model.name : seconds(step.total),
    height: answer.steps.length > 1 ? 26 : 34,
    faded: answer.memory.verdict === "over",
    range: [step.low, step.high],
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
  const longest = Math.max(...answer.steps.map((step) => Math.max(step.total, step.high)));
  const before = ghost?.chosen.total ?? 0;
  // A step that was much longer would squeeze the present one: its outline is cut at the end.
  const { top, ticks } = timeScale(Math.max(longest, before < 4 * longest ? before : 0));
  if (ghost) rows[chosen].ghost = row(ghost.chosen, 0).parts;
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
  keyItems(parts.memoryKey, MEMORY_PARTS.map(([key, label, slot]) => [key, label, slot, full[key] / top]));
  const steps = stepParts(chosen.parts)
    .filter(([key]) => chosen.parts[key] > 0)
    .map(([key, label]) => [key, label, STEP_SLOTS[key] ?? "m7", chosen.parts[key] / chosen.total]);
  keyItems(parts.timeKeys, steps);
  if (!parts.heads.firstChild) {
    fill(
      parts.heads,
      HEADLINES.map(([key, word]) =>
        h("button", { type: "button", class: "number head", "data-number": key, tabindex: -1 }, h("b", { "data-out": key }), word && ` ${word}`),
      ),
    );
  }
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

/** Put every number where it is asked for, and its formula behind it. */
function writeNumbers(root, numbers, open, parts) {
  for (const place of root.querySelectorAll("[data-out]")) {
    const item = numbers[place.dataset.out];
    if (!item) continue;
    text(place, item.text);
    place.dataset.value = item.value;
  }
  for (const button of parts.element.querySelectorAll("[data-number]")) {
    const key = button.dataset.number;
    const item = numbers[key];
    const label = button.textContent.replace(item.text, "").trim() || key.replaceAll("_", " ");
    button.disabled = !item.formula;
    button.onclick = () => open(key, item, label);
    button.setAttribute("aria-haspopup", "dialog");
  }
}

function storyRow(actions) {
  const buttons = STORIES.map((story, index) =>
    h(
      "button",
      { type: "button", class: "story", "data-story": story.key, tabindex: -1, onclick: () => actions.choose(story) },
      h("span", { class: "story-number" }, String(index + 1)),
      h("span", {}, story.title),
    ),
  );
  const row = h("div", { class: "story-row", role: "group", "aria-label": "Stories" }, buttons);
  const changed = h("span", { class: "changed", "data-out": "changed" });
  const sentence = h("span", { "data-out": "sentence" });
  const again = h("button", { type: "button", class: "link", hidden: true, onclick: actions.reset }, "reset");
  const element = h("section", { class: "stories" }, h("h2", {}, "Stories"), row, h("p", { class: "say" }, changed, again, sentence));
  roving(row, "button")();

  function show(story, same, numbers, pinned) {
    buttons.forEach((button, index) => {
      button.setAttribute("aria-pressed", String(STORIES[index] === story && same));
    });
    again.hidden = !story || same;
    text(changed, story && !same ? `Story ${STORIES.indexOf(story) + 1}, changed: ` : "");
    if (!story || !same) {
      fill(sentence, "");
      return;
    }
    fill(
      sentence,
      pieces(story.say).map((piece) => {
        if (typeof piece === "string") return piece;
        const from = piece.pinned ? pinned : numbers;
        return h("b", { "data-of": (piece.pinned ? "pin." : "") + piece.name }, from?.[piece.name]?.text ?? "–");
      }),
    );
  }
  return { element, show };
}
