/** The controls of what a step runs on: software, month, network, single facts. */

import { fill, h, text } from "./dom.js";
import { digits } from "./format.js";
import { numberField, selectField } from "./fields.js";
import { factsOf } from "./state.js";

/** A GPU's share of the network, one way; at first as the accelerator is built. */
export function networkField(id, change, data) {
  const built = (state) => {
    const gpu = data.accelerators.find((one) => one.key === state.gpu);
    return Math.round((gpu.fields.network_bytes_per_s * 8) / 1e9);
  };
  let usual = 0;
  const field = numberField(["net", "", "Network of a GPU", "Gb/s"], id, change, {
    read: (state) => state.net || built(state),
    put: (value) => ({ net: value === usual ? 0 : value }),
  });
  const update = (state) => {
    usual = built(state);
    field.update(state);
  };
  return { element: field.element, update };
}


/** What software there is: families first, then every stack by its family. */
function softwareGroups({ names, families, stacks }) {
  const exact = (family) => Object.entries(stacks).filter(([name, one]) => one.family === family && names[name].exact);
  return [
    [null, [["", "not stated"]]],
    ["A family: what was current", families.map((name) => [name, name])],
    ...families.map((family) => [`${family}, exactly`, exact(family).map(([name, one]) => [name, one.title])]),
  ];
}

/** The month in which the software was current. */
function monthField(id, change, { months: [first, last] }) {
  const note = h("span", { class: "note", id: `${id}-date-note` });
  const input = h("input", {
    id: `${id}-date`,
    type: "month",
    min: first,
    max: last,
    placeholder: "YYYY-MM",
    autocomplete: "off",
    "aria-describedby": note.id,
    onchange: () => {
      const value = input.value.trim();
      const good = !value || (/^\d{4}-(0[1-9]|1[0-2])$/.test(value) && value >= first && value <= last);
      text(note, good ? "" : `a month such as 2025-02, from ${first} to ${last}`);
      if (good) change({ date: value }, "date");
    },
  });
  const label = h("label", { for: input.id }, "Current in (month)");
  const element = h("div", { class: "input input-date", "data-control": "date" }, label, input, note);
  const update = (state) => {
    if (document.activeElement !== input) input.value = state.date;
    text(note, "");
  };
  return { element, update };
}

/** Single facts: one is chosen, given a value and stated; each that is stated can be taken back. */
function factsField(id, change, named, softwareNow) {
  const { kind_of, words_of, kinds } = named.tables;
  const names = [...Object.keys(words_of), ...Object.keys(kind_of)].sort();
  let state = null;
  const note = h("p", { class: "idea", id: `${id}-fact-note` });
  const name = h("select", { id: `${id}-fact`, onchange: offer }, [
    h("option", { value: "" }, "choose a fact …"),
    names.map((one) => h("option", { value: one }, one)),
  ]);
  const box = h("span", { class: "fact-value" });
  const list = h("div", { class: "facts", role: "group", "aria-label": "Stated facts" });
  const put = (facts) => change({ facts: Object.entries(facts).map((pair) => pair.join("=")).join(",") }, "facts");

  /** Offer the value that is taken now, to be changed. */
  function offer() {
    const key = name.value;
    fill(box);
    text(note, "");
    if (!key) return;
    const { lines, time, memory } = softwareNow(state);
    const now = lines[key] ?? time?.[key] ?? memory[key];
    const attributes = { id: `${id}-fact-value`, "aria-label": `Value of ${key}`, "aria-describedby": note.id, onchange: take };
    const options = words_of[key]?.map((word) => h("option", { value: word, selected: word === now }, word));
    const field = options ? h("select", attributes, options) : h("input", { ...attributes, type: "text", inputmode: "decimal", value: String(now), autocomplete: "off" });
    text(note, options ? `taken: ${now}` : `taken: ${digits(now)}; ${kinds[kind_of[key]].title}`);
    fill(box, field, h("button", { type: "button", class: "nudge", onclick: take }, "State it"));
  }

  function take() {
    const key = name.value;
    const typed = box.firstElementChild.value.trim();
    const value = words_of[key] ? typed : Number(typed);
    if (typed === "" || !named.factHolds(key, value)) {
      text(note, words_of[key] ? "one of the list" : rangeOf(kinds[kind_of[key]]));
      return;
    }
    put({ ...factsOf(state), [key]: value });
    text(note, `stated: ${key} = ${value}`);
  }

  function update(next) {
    state = next;
    const stated = factsOf(state);
    fill(
      list,
      Object.entries(stated).map(([key, value]) => {
        const onclick = () => put(Object.fromEntries(Object.entries(stated).filter(([one]) => one !== key)));
        return h("button", { type: "button", class: "tool", onclick, "aria-label": `Take back ${key} = ${value}` }, `${key} = ${value}`);
      }),
    );
  }
  const label = h("label", { for: name.id }, "A single fact");
  const row = h("span", { class: "fact-row" }, name, box);
  const element = h("div", { class: "input input-facts", "data-control": "facts" }, label, row, note, list);
  return { element, update };
}

function rangeOf({ title, least, above, most, whole }) {
  const from = above === null ? `from ${least}` : `over ${above}`;
  const to = most === null ? "" : ` to ${digits(most)}`;
  return `a ${whole ? "whole " : ""}number ${from}${to} (${title})`;
}

/** Make the controls; `update(state)` follows the state. */
export function makeHow(id, change, data, named, softwareNow) {
  const fields = [
    selectField("stack", "Software", softwareGroups(named.tables), id, change),
    monthField(id, change, named.tables),
    networkField(id, change, data),
    factsField(id, change, named, softwareNow),
  ];
  const element = h("div", { class: "how-fields" }, fields.map((one) => one.element));
  return { element, update: (state) => fields.forEach((one) => one.update(state)) };
}
