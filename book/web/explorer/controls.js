/** The inputs: native radios for sizes, number fields that halve and double, selects. */

import { fill, h } from "./dom.js";
import { group, short, units } from "./format.js";
import { BOUNDS, CHOICES, inBounds } from "./state.js";

/** Rows of radios: key, letter of the chapter, name, unit for a reader who hears it. */
export const RADIOS = [
  ["tp", "t", "Tensor parallel", "ways"],
  ["pp", "p", "Pipeline stages", "stages"],
  ["cp", "c", "Context parallel", "ways"],
  ["ep", "e", "Expert parallel", "ways"],
  ["zero", "", "ZeRO stage", ""],
  ["recompute", "", "Recomputation", ""],
];

export const MORE_RADIOS = [
  ["vpp", "v", "Chunks a GPU holds", "chunks"],
  ["mb", "b", "Micro-batch", "sequences"],
  ["schedule", "", "Schedule", ""],
  ["sp", "", "Sequence parallel", ""],
  ["precision", "", "Matrix products in", ""],
  ["domain", "", "GPUs joined by NVLink", ""],
];

/** Number fields: key, letter, name, unit. */
export const NUMBERS = [
  ["n", "n", "GPUs", "GPUs"],
  ["seq", "s", "Sequence", "tokens"],
  ["batch", "B", "Batch", "sequences"],
];

const WORDS = {
  sp: { 0: "off", 1: "on" },
  domain: { 0: "as built", 8: "8, a server", 72: "72, NVL72" },
  by: { baseline: "baseline", roofline: "roofline" },
  schedule: { gpipe: "GPipe", "1f1b": "1F1B", "interleaved-1f1b": "interleaved" },
};

/** Return the word for a choice. */
export function wordFor(key, value) {
  return WORDS[key]?.[value] ?? String(value);
}

/** A group of radios; `update(state, check)` shows the choice and, with `check`, what each would do. */
export function radioRow([key, letter, name, unit], id, change) {
  const legend = h("legend", {}, name, letter && h("i", { class: "sym" }, ` ${letter}`));
  const box = h("div", { class: "options" });
  const set = h("fieldset", { class: `input input-${key}`, "data-control": key }, legend, box);
  let shown = "";

  function draw(values) {
    shown = values.join();
    fill(
      box,
      values.map((value) => {
        const input = h("input", {
          type: "radio",
          name: `${id}-${key}`,
          value,
          onchange: () => change({ [key]: value }, key),
        });
        return h("label", { class: "option" }, input, h("span", {}, wordFor(key, value)));
      }),
    );
  }

  function update(state, check) {
    const values = [...CHOICES[key]];
    if (!values.includes(state[key])) values.push(state[key]);
    if (typeof values[0] === "number") values.sort((a, b) => a - b);
    if (shown !== values.join()) draw(values);
    [...box.children].forEach((label, index) => {
      const value = values[index];
      const input = label.firstElementChild;
      input.checked = value === state[key];
      if (!check) return;
      const mark = check(key, value);
      if (label.dataset.mark === mark) return;
      label.dataset.mark = mark;
      const says = { never: ", cannot be cut so", over: ", does not fit", fits: "", "": "" }[mark];
      input.setAttribute("aria-label", `${wordFor(key, value)} ${units(value, unit)}`.trim() + says);
    });
  }
  return { element: set, update };
}

/** A number with buttons that halve and double it; arrow keys do the same. */
export function numberField([key, letter, name, unit], id, change) {
  const [least, most] = BOUNDS[key];
  let value = least;
  const input = h("input", {
    id: `${id}-${key}`,
    type: "text",
    inputmode: "numeric",
    role: "spinbutton",
    autocomplete: "off",
    "aria-valuemin": least,
    "aria-valuemax": most,
    onchange: () => read(input.value),
    onkeydown: (event) => {
      const factor = { ArrowUp: 2, ArrowDown: 0.5, PageUp: 8, PageDown: 0.125 }[event.key];
      if (!factor) return;
      event.preventDefault();
      event.stopPropagation();
      scale(factor);
    },
  });
  const label = h("label", { for: `${id}-${key}` }, name, letter && h("i", { class: "sym" }, ` ${letter}`));
  const button = (factor, sign, word) =>
    h(
      "button",
      {
        type: "button",
        class: "nudge",
        tabindex: -1,
        "aria-label": `${word} ${name}`,
        onclick: () => scale(factor),
      },
      sign,
    );
  const note = h("span", { class: "note", id: `${id}-${key}-note` });
  input.setAttribute("aria-describedby", note.id);
  const field = h(
    "span",
    { class: "field" },
    button(0.5, "÷2", "halve"),
    input,
    button(2, "×2", "double"),
  );

  function scale(factor) {
    const next = factor < 1 ? Math.max(least, Math.floor(value * factor)) : value * factor;
    if (next <= most && next !== value) change({ [key]: next }, key);
  }

  function read(typed) {
    const plain = typed.replace(/[\s\u202f,_]/g, "").toLowerCase();
    const match = /^(\d+(?:\.\d+)?)(k|m)?$/.exec(plain);
    const times = { k: 1024, m: 1048576 }[match?.[2]] ?? 1;
    const next = match ? Number(match[1]) * times : NaN;
    if (inBounds(key, next)) {
      note.textContent = "";
      input.removeAttribute("aria-invalid");
      change({ [key]: next }, key);
    } else {
      note.textContent = `a whole number from ${least} to ${group(most)}`;
      input.setAttribute("aria-invalid", "true");
    }
  }

  function update(state) {
    value = state[key];
    const known = key === "seq" && short(value) !== String(value);
    const words = known ? short(value) : group(value);
    if (document.activeElement !== input || input.dataset.shown !== words) input.value = words;
    input.dataset.shown = words;
    input.removeAttribute("aria-invalid");
    note.textContent = "";
    input.setAttribute("aria-valuenow", value);
    input.setAttribute("aria-valuetext", `${value} ${units(value, unit)}`);
  }
  const element = h("div", { class: `input input-${key}`, "data-control": key }, label, field, note);
  return { element, update };
}

/** A native select: `groups` is [[label, [[value, text], …]], …]. */
export function selectField(key, name, groups, id, change) {
  const options = ([value, word]) => h("option", { value }, word);
  const select = h(
    "select",
    { id: `${id}-${key}`, onchange: () => change({ [key]: select.value }, key) },
    groups.map(([label, list]) =>
      label ? h("optgroup", { label }, list.map(options)) : list.map(options),
    ),
  );
  const label = h("label", { for: `${id}-${key}` }, name);
  return {
    element: h("div", { class: `input input-${key}`, "data-control": key }, label, select),
    update: (state) => {
      select.value = state[key];
    },
  };
}
