/** The choices: rows of native radios, each marked with what it would do. */

import { fill, h } from "./dom.js";
import { group } from "./format.js";
import { inNumber } from "../shared/number.js";
import { CHOICES } from "./state.js";

/** Rows of radios: key, letter of the chapter, name, unit for a reader who hears it. */
export const RADIOS = [
  ["tp", "t", "Tensor parallel", "ways"],
  ["pp", "p", "Pipeline stages", "stages"],
  ["cp", "c", "Context parallel", "ways"],
  ["ep", "e", "Expert parallel", "ways"],
  ["schedule", "", "Schedule", ""],
  ["zero", "", "ZeRO stage", ""],
  ["recompute", "", "Recomputation", ""],
];

export const MORE_RADIOS = [
  ["vpp", "v", "Chunks a GPU holds", "chunks"],
  ["mb", "b", "Micro-batch", "sequences"],
  ["etp", "", "Expert tensor parallel", "ways"],
  ["copies", "", "Copies of what is sharded (HSDP)", "copies"],
  ["sp", "", "Sequence parallel", ""],
  ["precision", "", "Matrix products in", ""],
];

const WORDS = {
  sp: { 0: "off", 1: "on" },
  schedule: {
    "interleaved-1f1b": "Interleaved",
    "looped-bfs": "Breadth-first",
    "interleaved-zb": "Interleaved ZB",
  },
};

/** Return the word for a choice; most schedules go by their title in the data. */
export function wordFor(key, value, data) {
  if (key === "schedule" && !WORDS.schedule[value]) return data.schedules.find((one) => one.key === value).title;
  return WORDS[key]?.[value] ?? (typeof value === "number" ? group(value) : value);
}

/**
 * A group of radios; `update(state, check)` shows the choice and, with `check`, what each would do.
 * @param {object} how - May say which `values` are offered, and under which `place` they are found.
 */
export function radioRow([key, letter, name, unit], id, change, data, how = {}) {
  const place = how.place ?? key;
  const legend = h("legend", {}, name, letter && h("i", { class: "sym" }, ` ${letter}`));
  const box = h("div", { class: "options" });
  const set = h("fieldset", { class: `input input-${place}`, "data-control": place }, legend, box);
  let shown = "";

  function draw(values) {
    shown = values.join();
    fill(
      box,
      values.map((value) => {
        const input = h("input", {
          type: "radio",
          name: `${id}-${place}`,
          value,
          onchange: () => change({ [key]: value }, key),
        });
        return h("label", { class: "option" }, input, h("span", {}, wordFor(key, value, data)));
      }),
    );
  }

  function update(state, check) {
    const values = how.values ?? withChosen(CHOICES[key], state[key]);
    if (shown !== values.join()) draw(values);
    const marks = check && values.map((value) => check(key, value));
    // Where no choice of a row would do, the row is not what is wrong.
    if (marks?.every((mark) => mark === "never")) marks.fill("");
    [...box.children].forEach((label, index) => {
      const value = values[index];
      const input = label.firstElementChild;
      input.checked = value === state[key];
      if (!check) return;
      const mark = marks[index];
      if (label.dataset.mark === mark) return;
      label.dataset.mark = mark;
      const says = { never: ", not possible", over: ", does not fit", fits: "" }[mark] ?? "";
      const word = wordFor(key, value, data);
      input.setAttribute("aria-label", `${word} ${inNumber(value, unit)}`.trim() + says);
    });
  }
  return { element: set, update };
}

/** The choices of a row, with the chosen one among them. */
function withChosen(choices, chosen) {
  const values = [...new Set([...choices, chosen])];
  return typeof chosen === "number" ? values.sort((a, b) => a - b) : values;
}
