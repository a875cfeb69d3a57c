/** What is searched: the fields of the form, the address, and a pasted file. */

import { group } from "../explorer/format.js";
import { OWN_FIELDS, OWN_MORE, ownShape } from "../explorer/state.js";
import { readConfig } from "./config.js";
import { tables } from "./tables.js";

const PREFIX = "s.";
const FIELDS = ["model", "gpu", "n", "batch", "seq", "precision", "fits"];
/** What may be left open: the address has it where it is stated. */
const OPEN = ["stack", "date", "net"];
const MONTH = /^(19|20)\d\d-(0[1-9]|1[0-2])$/;
const MOST_GBIT = 1e6;
const MOST = { n: 1000000, batch: 16777216, seq: 16777216 };
const LABELS = { n: "GPUs", batch: "Sequences a step", seq: "Tokens a sequence" };

/** Return `question()`, which is {question} or {refused}; `changed()` hears of every change. */
export function makeForm(form, changed) {
  const field = (name) => form.elements[name];
  const paste = form.querySelector(".sf-paste");
  const read = form.querySelector(".sf-read");
  let own = "";

  function take(text) {
    const found = readConfig(text, tables);
    if (found.refused) {
      own = "";
      read.textContent = found.refused;
    } else {
      own = [...OWN_FIELDS, ...OWN_MORE].map((name) => found.shape[name]).join("-");
      read.textContent = told(found);
    }
    read.classList.toggle("sf-bad", Boolean(found.refused));
    return !found.refused;
  }

  function told({ shape, kind, notes }) {
    const experts = shape.num_experts ? `, ${shape.num_experts} experts, ${shape.top_k} a token` : "";
    const sizes = `${shape.num_layers} layers, hidden size ${group(shape.hidden_size)}${experts}`;
    return [`Read as ${kind}: ${sizes}.`, ...notes.map((one) => `Note: ${one}.`)].join(" ");
  }

  function question() {
    const values = Object.fromEntries(FIELDS.map((name) => [name, field(name).value]));
    for (const [name, most] of Object.entries(MOST)) {
      const value = Number(values[name]);
      if (!Number.isInteger(value) || value < 1 || value > most) {
        return { refused: `${LABELS[name]}: give a whole number from 1 to ${group(most)}` };
      }
      values[name] = value;
    }
    const how = stated();
    if (how.refused) return how;
    Object.assign(values, how);
    if (values.model !== "own") return { question: { ...values, own: "" } };
    if (!own) return { refused: read.textContent || "Paste the config.json of your model below, or open the file" };
    return { question: { ...values, own } };
  }

  /** What is said of the software and the network; a network of 0 is the device's own. */
  function stated() {
    const [stack, date, net] = OPEN.map((name) => field(name).value.trim());
    const { min, max } = field("date");
    if (date && !(MONTH.test(date) && date >= min && date <= max)) {
      return { refused: `Software of: give a month such as 2025-02, from ${min} to ${max}` };
    }
    const gbit = Number(net || 0);
    if (!(gbit >= 0 && gbit <= MOST_GBIT)) return { refused: `Network of a GPU: give Gb/s, ${group(MOST_GBIT)} at most` };
    return { stack, date, net: gbit };
  }

  function address({ own: sizes, ...values }) {
    const query = new URLSearchParams(location.search);
    for (const name of FIELDS) query.set(PREFIX + name, values[name]);
    for (const name of OPEN) {
      if (values[name]) query.set(PREFIX + name, values[name]);
      else query.delete(PREFIX + name);
    }
    if (values.model === "own") query.set(`${PREFIX}own`, sizes);
    else query.delete(`${PREFIX}own`);
    history.replaceState(history.state, "", `${location.pathname}?${query}${location.hash}`);
  }

  /** Take what the address names; what it cannot hold is left as it is. */
  function follow() {
    const query = new URLSearchParams(location.search);
    const given = (name) => query.get(PREFIX + name);
    for (const name of [...FIELDS, ...OPEN]) {
      const value = given(name);
      const options = field(name).options;
      if (value === null || (options && ![...options].some((one) => one.value === value))) continue;
      field(name).value = value;
    }
    form.querySelector("details").open = OPEN.some((name) => field(name).value);
    if (field("model").value !== "own") return;
    own = ownShape(given("own") ?? "") ? given("own") : "";
    if (own) read.textContent = "The sizes came with the address.";
  }

  function update() {
    paste.hidden = field("model").value !== "own";
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    update();
    const { target } = event;
    if (target.type === "file") return;
    if (target.name === "config") {
      if (!target.value.trim()) return;
      take(target.value);
    }
    changed();
  });
  field("file").addEventListener("change", async ({ target }) => {
    const text = await target.files[0]?.text();
    if (text === undefined) return;
    field("config").value = text.slice(0, 200000);
    take(text);
    changed();
  });
  follow();
  update();
  return { question, address };
}
