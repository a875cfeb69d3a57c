/** What the page says and draws about one answer, and room for what is fetched after it. */

import { drawAll, pictureParts } from "./charts.js";
import { liveRegion } from "../shared/live.js";
import { fill, h, text } from "./dom.js";
import { changes, outs } from "./outs.js";
import { makeVerdict } from "./verdict.js";

/** Pixels below which everything stands in one column. */
const NARROW = 560;

/** Make the view; `show` draws an answer, `complete` takes what stands beside it. */
export function makeView(root, actions) {
  const id = root.id || "layout";
  const verdict = makeVerdict(actions);
  const live = liveRegion();
  live.element.classList.add("hidden-text");
  const parts = pictureParts(id, actions.change);
  const box = h("div", { class: "parts" }, parts.element);
  const stories = h("section", { class: "stories" });
  let current = null;
  let beside = null;

  root.classList.add("st-explorer", "early");
  const headers = [...document.querySelectorAll(".bd-header-article, .bd-header")];
  fill(root, verdict.bar, verdict.element, box, live.element);

  /** On a phone the stories come before the numbers, beside the controls elsewhere. */
  const numbers = parts.element.querySelector(".legend-memory");
  function placeNumbers() {
    if (root.clientWidth < NARROW) parts.time.after(stories, numbers);
    else {
      beside?.side.prepend(stories);
      parts.memory.after(numbers);
    }
  }
  placeNumbers();

  /** Put in what was fetched after the answer: the form beside it, and what follows both. */
  function complete(made) {
    beside = made;
    box.append(made.side, made.below);
    placeNumbers();
    root.classList.remove("early");
    if (current) show({ ...current, before: null });
  }

  /** Print the numbers of what is shown wherever they are asked for. */
  function write() {
    if (current?.numbers) writeNumbers(root, current.numbers, actions.open, parts);
  }

  function show(next) {
    // Sizes are read before anything is written, so that nothing is laid out twice.
    const width = root.clientWidth;
    const room = { bars: parts.memory.clientWidth, servers: parts.servers.clientWidth };
    const { answer, good, before, pinned } = next;
    root.classList.toggle("stale", Boolean(answer.refused));
    const ghost = pinned ?? (before !== good ? before : null);
    const change = pinned ? changes(pinned, good) : changes(before, good);
    current = { ...next, width, numbers: good && outs(good), against: pinned && outs(pinned) };
    verdict.show({ ...current, change });
    if (good) drawAll(parts, good, ghost, room);
    beside?.show(current);
    write();
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

  new ResizeObserver(() => {
    stayBelow();
    placeNumbers();
    if (current && current.width !== root.clientWidth) show({ ...current, before: null });
  }).observe(root);

  return { id, show, complete, write, stories, now: () => current, showWay: verdict.showWay, note: verdict.note };
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
    button.onclick = () => open(key, label);
    button.setAttribute("aria-haspopup", "dialog");
  }
}
