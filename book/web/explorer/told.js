/** What an answer takes for granted and leaves open, in lists that open together. */

import { fill, h, text } from "./dom.js";
import { gb, seconds } from "./format.js";
import { narrowest, openItems } from "./open-items.js";

/** Milliseconds without a change after which all that is open is asked. */
const PAUSE_MS = 200;

/** Milliseconds of work after which the page has its turn. */
const TURN_MS = 8;

/** Where the form asks for what is open; single facts have one place. */
const PLACES = { stack: "stack", date: "date", network_gbit: "net" };

/** Make the lists; `show(answer)` follows the answer. */
export function makeTold({ assumed, ranked, state }) {
  const sentence = h("p", { class: "narrow", "data-told": "narrow" });
  const way = h("button", { type: "button", class: "link", "aria-label": "State what you know, under More" }, "State what you know");
  const summary = h("summary", {}, "What was assumed");
  const lists = {
    assumed: titled("Assumed", "assumed"),
    time: titled("Open, by how far it could move the step", "open"),
    memory: titled("Open, by how far it could move the memory", "open-memory"),
  };
  const parts = Object.values(lists).map((one) => one.element);
  const details = h("details", {}, summary, parts, way);
  const element = h("section", { "aria-label": "What the answer rests on" }, sentence, details);
  let answer = null;
  let waiting = 0;
  let turn = 0;
  details.addEventListener("toggle", rank);

  function show(next) {
    answer = next;
    clearTimeout(waiting);
    turn += 1;
    waiting = setTimeout(rank, PAUSE_MS);
  }

  /** What a ranking says, worked out in short turns; nothing once another answer is shown. */
  async function inTurns(steps) {
    const mine = turn;
    for (let until = performance.now() + TURN_MS; ; ) {
      const { done, value } = steps.next();
      if (done) return value;
      if (performance.now() < until) continue;
      await new Promise((go) => setTimeout(go));
      if (mine !== turn) return null;
      until = performance.now() + TURN_MS;
    }
  }

  /** Ask for every choice of what is open; of the memory only where somebody looks. */
  async function rank() {
    turn += 1;
    const records = assumed(answer);
    const spans = await inTurns(ranked(answer));
    if (!spans) return;
    const [most] = spans;
    text(sentence, `${interval(answer.chosen)} ${most ? narrowest(most, seconds) : "Nothing is open that would move the step."}`);
    text(summary, `What was assumed (${records.length}), and what is open (${spans.length})`);
    way.onclick = () => state(PLACES[most?.what] ?? "facts");
    if (!details.open) return;
    lists.assumed.show(records.map(recordItem));
    lists.time.show(openItems(spans, seconds));
    const bytes = await inTurns(ranked(answer, "memory"));
    if (bytes) lists.memory.show(openItems(bytes, inGb));
  }
  return { element, show };
}

const inGb = (bytes) => `${gb(bytes)} GB`;

/** A list under its title. */
function titled(title, key) {
  const items = h("ul", { class: "told-list", "data-told": key });
  return { element: [h("h3", {}, title), items], show: (found) => fill(items, found) };
}

/** A record as Python prints it, with the option that states it. */
function recordItem({ what, value, why, how }) {
  const told = why.includes(value) ? why : `${value}: ${why}`;
  return h("li", {}, h("b", {}, what), `: ${told}`, how && [" ", h("code", {}, how)]);
}

const interval = ({ low, high }) =>
  low === null ? "There is no interval here." : `Nine in ten: ${seconds(low)} to ${seconds(high)}.`;
