/** What stands round the figure: the note, the table, the last lines. */

import { script } from "../shared/script.js";
import { h } from "../shared/dom.js";
import { nearest } from "./nearest.js";
import { tables } from "./table.js";
import { plainly } from "./words.js";

const NAMES = { m: "micro-batches", p: "stages", v: "chunks" };
const KEYS =
  "Arrow keys go from action to action, Enter to what it needs; Space plays.";

/** A folded table, written when it is first opened. */
export function lazyTable() {
  const holder = h("div", { class: "hold" });
  const summary = h("summary", {}, "Table of every action");
  const element = h("details", { class: "table", ontoggle: write }, summary, holder);
  let runs = [];
  let written = null;
  function write() {
    if (!element.open || written === runs) return;
    written = runs;
    holder.replaceChildren(...tables(runs));
  }
  function show(list) {
    runs = list;
    write();
  }
  return { element, show };
}

/** Why something is not shown, with a button that does the nearest that can be. */
export function warning(use) {
  const element = h("div", { class: "note", hidden: true });
  function show({ state, bad, why, whyOther }) {
    let says = plainly(why || whyOther);
    if (why) says += " The picture shows the last one that can run.";
    if (bad.length) says = `Not understood in the address, so left out: ${bad.join(", ")}.`;
    element.hidden = !says;
    element.replaceChildren(says);
    const patch = why ? nearest(state, state.s) : whyOther ? nearest(state, state.c) : null;
    if (!patch) return;
    const named = Object.entries(patch).map(([key, value]) => `${NAMES[key]} = ${value}`);
    const onclick = () => use(patch);
    element.append(" ", h("button", { type: "button", onclick }, `Use ${named.join(", ")}`));
  }
  return { element, show };
}

/** The last line: a link to copy, the figure by itself, the explorer, and the keys. */
export function foot(save, sizes) {
  const page = new URL("index.html", script);
  const away = page.pathname !== location.pathname;
  const alone = h(
    "a",
    { href: page.href, onclick: () => (alone.href = page.href + location.search) },
    "Open alone",
  );
  const layout = h(
    "a",
    { href: "explorer.html", onclick: () => (layout.href = `explorer.html?${sizes()}`) },
    "These stages in the layout explorer",
  );
  const copy = h("button", { type: "button", class: "copy", onclick: copyLink }, "Copy link");
  async function copyLink() {
    save();
    try {
      await navigator.clipboard.writeText(location.href);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = location.href;
    }
    setTimeout(() => (copy.textContent = "Copy link"), 2000);
  }
  return h("p", { class: "foot" }, copy, away && [alone, " · ", layout, ". "], KEYS);
}
