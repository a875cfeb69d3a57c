/** Everything the page says and draws about one answer. */

import { drawAll, pictureParts } from "./charts.js";
import { liveRegion } from "../shared/live.js";
import { fill, h, roving, text } from "./dom.js";
import { percent } from "./format.js";
import { changes, outs } from "./outs.js";
import { STORIES, pieces, storyOf } from "./stories.js";
import { makeTools } from "./tools.js";
import { makeVerdict } from "./verdict.js";

/** Pixels below which everything stands in one column. */
const NARROW = 560;

/** Make the view; `show` draws an answer, `showMap` the map, `resize` draws again. */
export function makeView(root, data, machine, panel, actions, loadTexts) {
  const id = root.id || "layout";
  const verdict = makeVerdict(actions, data);
  let dialog = null;

  async function makeDialog() {
    const { makeFormulaDialog, texts } = await loadTexts();
    const made = makeFormulaDialog(texts, id);
    root.append(made.dialog);
    return made;
  }

  function openFormula(label, of) {
    dialog ??= makeDialog();
    dialog.then(
      (made) => made.show(label, of),
      () => {
        dialog = null;
        verdict.note("The formulas could not be loaded; choose the number again.");
      },
    );
  }

  const tools = makeTools(actions, data);
  const later = h("div", { class: "later" });
  let map = null;
  let tables = null;
  let place = null;
  let told = null;
  const live = liveRegion();
  live.element.classList.add("hidden-text");
  const parts = pictureParts(id, actions.change);
  const stories = storyRow(actions);
  const assumptions = h("p", { class: "assumptions", "data-out": "assumptions" });
  let current = null;

  root.classList.add("st-explorer");
  const headers = [...document.querySelectorAll(".bd-header-article, .bd-header")];
  const box = h("div", { class: "parts" }, parts.element);
  const side = h("div", { class: "side" }, panel.element, tools.element);
  fill(root, verdict.bar, verdict.element, box, live.element);
  // The answer is painted first: what it was made from follows in a task of its own.
  root.classList.add("early");
  setTimeout(() => {
    box.append(side, later);
    root.classList.remove("early");
    write();
    // What failed to come is asked for again by the first change that needs it.
    actions.more().catch(() => later.append(assumptions));
  });

  /** Put in what was fetched after the first answer. */
  function complete({ makeMap, makePlace, makeTables }) {
    place = makePlace(() => actions.software().catch(() => {}));
    if (told) place.append(told.element);
    map = makeMap(id, machine, actions.take, data);
    tables = makeTables();
    later.append(map.element, tables.element, assumptions, place);
    if (!current?.good) return;
    tables.show(current.good, current.numbers, current.pinned && outs(current.pinned));
    write();
    map.show(current.answer);
  }

  /** Put in the lists of what was assumed and what is open. */
  function tell(made) {
    told = made;
    place?.append(told.element);
    if (current?.good) told.show(current.good);
  }

  /** On a phone the stories come before the numbers, beside the controls elsewhere. */
  const numbers = parts.element.querySelector(".legend-memory");
  function placeStories() {
    if (root.clientWidth < NARROW) parts.time.after(stories.element, numbers);
    else {
      side.prepend(stories.element);
      parts.memory.after(numbers);
    }
  }
  placeStories();

  /** Print the numbers of what is shown wherever they are asked for. */
  function write() {
    const open = (item, label) => openFormula(label, item.formula);
    if (current?.numbers) writeNumbers(root, current.numbers, open, parts);
  }

  function show(next) {
    // Sizes are read before anything is written, so that nothing is laid out twice.
    const width = root.clientWidth;
    const room = { bars: parts.memory.clientWidth, servers: parts.servers.clientWidth };
    const { answer, good, before, pinned, story, bad } = next;
    root.classList.toggle("stale", Boolean(answer.refused));
    const numbers = good && outs(good);
    current = { ...next, width, numbers };
    const ghost = pinned ?? (before !== good ? before : null);
    const change = pinned ? changes(pinned, good) : changes(before, good);
    verdict.show({ ...next, numbers, change });
    if (good) {
      drawAll(parts, good, ghost, room);
      const against = pinned && outs(pinned);
      tables?.show(good, numbers, against);
      write();
      stories.show(story, storyOf(answer.state) === story, numbers, against);
      told?.show(good);
      text(assumptions, `${assumed(good)} ${memoryError(data.memory, good.state)} ${sources(good.state, data)}`);
    }
    tools.show({ ...next, good });
    if (bad.length) verdict.note(`Not understood in the address, so left at the default: ${bad.join(", ")}`);
    live.say(`${verdict.words()} ${change}`);
  }

  /** The verdict stays below the site's own header, where that stays in view too. */
  function stayBelow() {
    const ends = headers.map((one) => {
      const style = getComputedStyle(one);
      const stays = ["sticky", "fixed"].includes(style.position);
      return stays ? one.offsetHeight + (parseFloat(style.top) || 0) : 0;
    });
    root.style.setProperty("--st-sticky-top", `${Math.max(0, ...ends)}px`);
  }
  stayBelow();

  /** A verdict over a quarter of the window scrolls away, and a line stands in for it. */
  const fits = () => root.classList.toggle("tall", verdict.element.offsetHeight > innerHeight / 4);
  new ResizeObserver(fits).observe(verdict.element);
  addEventListener("resize", fits);
  const seen = ([one]) => {
    const above = one.boundingClientRect.bottom <= one.rootBounds?.top + 1;
    root.classList.toggle("past", !one.isIntersecting && above);
  };
  new IntersectionObserver(seen).observe(verdict.element);

  function resize() {
    stayBelow();
    placeStories();
    if (current && current.width !== root.clientWidth) show({ ...current, before: null });
  }

  return {
    show,
    resize,
    showWay: verdict.showWay,
    complete,
    tell,
    showMap: (answer) => map?.show(answer),
    note: verdict.note,
  };
}

/** What every number rests on, in words. */
function assumed(answer) {
  const { model } = answer.chosen;
  const { facts } = answer.memory;
  const narrow = answer.job.fp8 * facts.fp8_copy_bytes;
  const state = narrow + facts.weight_bytes + facts.gradient_bytes + facts.master_bytes + facts.moment_bytes;
  const held = `${facts.weight_bytes * 8}-bit weights, ${facts.gradient_bytes * 8}-bit gradients, Adam: ${state} bytes a parameter before sharding`;
  return (
    `An estimate, not a measurement. Assumed: ${answer.software.title}; ${held}; ${facts.flash ? "flash attention" : "stored scores"}; no stops. ` +
    `Step by the ${model.name.toLowerCase()} model: ${model.says}. ${errorWords(answer.chosen)}`
  );
}

function memoryError({ rows, mean }, state) {
  const taken = state.stack ? "" : "; the page takes the usual software";
  return `Memory: ${rows} published peaks were ${percent(mean)} away on average, each with its own software's facts${taken}.`;
}

/** Where the sizes of the model and of the accelerator were read. */
function sources(state, data) {
  const model = data.models.find((one) => one.key === state.model);
  const gpu = data.accelerators.find((one) => one.key === state.gpu);
  const ran = model?.published ? ` Published layout: ${model.published.id} (${model.published.source}) in published_runs.csv.` : "";
  return `Sizes: ${model ? model.source : "yours"}; ${gpu.source}.${ran}`;
}

/** How far the model was from published runs, in words. */
function errorWords({ model, low, high, total }) {
  if (!model.widths) {
    return `It has no interval; on ${model.rows} published runs, asked as in §11, it was ${percent(model.mean)} away on average.`;
  }
  if (low === null) return "No published run is like this one.";
  const fast = Math.round((1 - low / total) * 100);
  const slow = Math.round((high / total - 1) * 100);
  return `Nine in ten published runs that were left out of its fit lay within ${fast} % less and ${slow} % more time.`;
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
    button.onclick = () => open(item, label);
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
  const again = h("button", { type: "button", class: "link", hidden: true, onclick: actions.reset }, "back to the story");
  const element = h("section", { class: "stories" }, h("h2", {}, "Stories"), row, h("p", { class: "say" }, changed, sentence, " ", again));
  roving(row, "button")();

  function show(story, same, numbers, pinned) {
    buttons.forEach((button, index) => {
      button.setAttribute("aria-pressed", String(STORIES[index] === story && same));
    });
    again.hidden = !story || same;
    text(changed, story && !same ? `Story ${STORIES.indexOf(story) + 1}, changed: ` : "");
    if (!story || !same) {
      fill(sentence, story ? "what you see is yours." : "Pick a story, or change anything.");
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
