/** What an answer takes for granted and leaves open, in lists that can be opened. */

import { fill, h, text } from "./dom.js";
import { gb, seconds } from "./format.js";

/** Milliseconds without a change after which all that is open is asked. */
const PAUSE_MS = 200;

/** Change from which on a thing gets a line of its own. */
const WORTH_TELLING = 0.005;

/** Where the form asks for what is open; single facts have one place. */
const PLACES = { stack: "stack", date: "date", network_gbit: "net" };

/** Make the lists; `show(answer)` follows the answer. */
export function makeTold(id, { assumed, ranked, state }) {
  const sentence = h("span", { "data-told": "narrow" });
  const way = h("button", { type: "button", class: "link", hidden: true }, "state it");
  const lists = {
    assumed: folded("What was assumed", "assumed"),
    time: folded("What is open, by how far it could move the step", "open"),
    memory: folded("What is open, by how far it could move the memory", "open-memory"),
  };
  const element = h("section", { "aria-label": "What the answer rests on" }, [
    h("p", { class: "narrow" }, sentence, " ", way),
    Object.values(lists).map((one) => one.element),
  ]);
  let answer = null;
  let waiting = 0;
  lists.memory.element.addEventListener("toggle", rank);

  function show(next) {
    answer = next;
    const records = assumed(answer);
    lists.assumed.show(records.length, records.map(recordItem));
    clearTimeout(waiting);
    waiting = setTimeout(rank, PAUSE_MS);
  }

  /** Ask for every choice of what is open; of the memory only where somebody looks. */
  function rank() {
    const spans = ranked(answer);
    const [most] = spans;
    text(sentence, `${interval(answer.chosen)} ${most ? narrowest(most, seconds) : "Nothing is open that would move the step."}`);
    way.hidden = !most;
    way.onclick = () => state(PLACES[most.what] ?? "facts");
    lists.time.show(spans.length, openItems(spans, seconds));
    if (!lists.memory.element.open) return;
    const peaks = ranked(answer, "memory");
    lists.memory.show(peaks.length, openItems(peaks, inGb));
  }
  return { element, show };
}

const inGb = (bytes) => `${gb(bytes)} GB`;

/** A list that is folded away; its summary counts it once it was filled. */
function folded(title, key) {
  const summary = h("summary", {}, title);
  const list = h("ul", { class: "told-list" });
  const element = h("details", { "data-told": key }, summary, list);
  function show(count, items) {
    text(summary, `${title} (${count})`);
    fill(list, items);
  }
  return { element, show };
}

/** A record as Python prints it, with the option that states it. */
function recordItem({ what, value, why, how }) {
  const told = why.includes(value) ? why : `${value}: ${why}`;
  return h("li", {}, h("b", {}, what), `: ${told}`, how && [" ", h("code", {}, how)]);
}

const interval = ({ low, high }) =>
  low === null ? "There is no interval here." : `Nine in ten: ${seconds(low)} to ${seconds(high)}.`;

const reach = ({ low, high, least, most }, unit) => `${unit(low)} (${least}) to ${unit(high)} (${most})`;

function narrowest(one, unit) {
  return `Naming ${one.says} would narrow this most: ${reach(one, unit)};`;
}

/** The wide ones in full, the others by their names. */
function openItems(spans, unit) {
  const wide = spans.filter((one) => one.change >= WORTH_TELLING);
  const rest = spans.slice(wide.length).map((one) => one.says);
  const items = wide.map((one, place) => {
    const most = place ? "" : " would narrow this most";
    return h("li", {}, h("b", {}, one.says), `${most}: ${reach(one, unit)} `, h("code", {}, one.how));
  });
  return [...items, rest.length && h("li", {}, `under 0.5 % each: ${rest.join(", ")}`)];
}
