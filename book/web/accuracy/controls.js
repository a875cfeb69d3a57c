/** The controls: which model, and filters of the runs. Each shows a state and tells of a change. */

import { h, roving } from "../shared/dom.js";
import { mark } from "./chart.js";
import { ACCELERATORS, choose, KINDS, MODELS, NAMES, SOURCES } from "./model.js";
import { capital, device, MODEL_NAMES } from "./words.js";

/** A row of native radios. */
function radios(key, name, options, change) {
  const inputs = options.map(([value]) =>
    h("input", { type: "radio", name: `accuracy-${key}`, value, onchange: () => change({ [key]: value }) }));
  const counts = options.map(() => h("small", {}));
  const labels = options.map(([, word, icon], i) => h("label", {}, inputs[i], h("span", {}, icon, word, counts[i])));
  return {
    element: h("fieldset", { class: `ctl r-${key}` }, h("legend", {}, name), h("div", { class: "opts" }, labels)),
    show(state, tally) {
      options.forEach(([value], i) => {
        inputs[i].checked = state[key] === value;
        const left = tally?.({ ...state, [key]: value });
        counts[i].textContent = tally ? ` ${left}` : "";
      });
    },
  };
}

/** A native list; each line tells how many runs it would leave. */
function list(key, name, options, change) {
  const id = `accuracy-${key}`;
  const lines = options.map(([value]) => h("option", { value }));
  const select = h("select", { id, onchange: () => change({ [key]: select.value }) }, lines);
  return {
    element: h("div", { class: `ctl r-${key}` }, h("label", { for: id }, name), select),
    show(state, tally) {
      options.forEach(([value, word], i) => { 
        const left = tally({ ...state, [key]: value });
        lines[i].textContent = `${word} (${left})`;
      });
      select.value = state[key];
    },
  };
}

const icon = (kind) =>
  h("svg", { class: "key", viewBox: "-6 -6 12 12", width: 12, height: 12, "aria-hidden": "true" },
    h("path", { class: `k${kind}`, d: mark(kind) }));

/** Make all controls. */
export function panel(change) {
  const tally = (state) => choose(state).shown.length;
  const model = radios("m", "Predicted by", MODELS.map((name) => [name, MODEL_NAMES[name]]), change);
  const filters = [
    radios("k", "Kind", [["", "All"], ...KINDS.map((name, i) => [String(i), capital(name), icon(i)])], change),
    list("g", "Accelerator", [["", "All"], ...ACCELERATORS.map((name) => [name, device(name)])], change),
    list("n", "Model", [["", "All"], ...NAMES.map((name) => [name, name])], change),
    list("s", "Source", [["", "All"], ...SOURCES], change),
  ];
  return {
    element: h("div", { class: "panel" }, model.element, filters[0].element,
      h("div", { class: "lists" }, filters.slice(1).map((one) => one.element))),
    show(state) {
      model.show(state);
      for (const one of filters) one.show(state, tally);
    },
  };
}

/** The row of stories: one tab stop, real buttons. */
export function storyRow(names, tell) {
  const buttons = names.map((name, i) =>
    h("button", { type: "button", "data-story": i + 1, "aria-pressed": "false", onclick: () => tell(i + 1) },
      h("b", {}, String(i + 1)), ` ${name}`));
  const element = h("div", { class: "stories", role: "group", "aria-label": "Stories" }, buttons);
  roving(element, "button");
  return {
    element,
    show: (current) => buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i + 1 === Number(current)))),
  };
}
