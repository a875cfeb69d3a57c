/** The controls. Each one knows how to show a state; a change is told to `change`. */

import { h, roving, text } from "../shared/dom.js";
import { SCHEDULES } from "./data.js";
import { fixedChunks, refusal } from "./model.js";
import { BOUNDS, DEFAULTS } from "./state.js";
import { title } from "./words.js";

/** A row of native radios. `options` is [[value, word], …], `note(value)` why one cannot be. */
function radios(key, name, unit, options, change, note = () => "") {
  const inputs = options.map(([value, word]) =>
    h("input", {
      type: "radio",
      name: `sched-${key}`,
      value,
      "aria-label": `${word} ${unit}`.trim(),
      onchange: () => change({ [key]: value }),
    }),
  );
  const labels = inputs.map((input, i) => h("label", {}, input, h("span", {}, options[i][1])));
  return {
    element: h(
      "fieldset",
      { class: `ctl r-${key}` },
      h("legend", {}, name),
      h("div", { class: "opts" }, labels),
    ),
    show(state) {
      options.forEach(([value], i) => {
        inputs[i].checked = state[key] === value;
        const why = note(value, state);
        labels[i].classList.toggle("no", Boolean(why));
        labels[i].title = why;
      });
    },
  };
}

/** A native list to choose from. */
function list(key, name, options, change) {
  const id = `sched-${key}`;
  const select = h(
    "select",
    { id, onchange: () => change({ [key]: select.value }) },
    options.map(([value, word]) => h("option", { value }, word)),
  );
  return {
    element: h("div", { class: `ctl r-${key}` }, h("label", { for: id }, name), select),
    show(state) {
      select.value = state[key];
    },
  };
}

/** A number with - and + beside it; arrow keys do the same. */
function number(key, name, unit, step, change) {
  const id = `sched-${key}`;
  const [least, most, whole] = BOUNDS[key];
  const low = Math.max(least, whole ? 1 : least);
  const input = h("input", {
    id,
    type: "number",
    min: low,
    max: most,
    step: whole ? 1 : "any",
    inputmode: "decimal",
    "aria-describedby": `${id}-unit`,
    onchange: () => to(input.valueAsNumber),
    onkeydown: (event) => {
      const by = { ArrowUp: step, ArrowDown: -step }[event.key];
      if (by) {
        event.preventDefault();
        to(shown + by);
      }
      event.stopPropagation();
    },
  });
  let shown = DEFAULTS[key];
  function to(value) {
    const kept = Math.min(most, Math.max(low, Math.round(value * 10) / 10));
    if (Number.isNaN(kept) || kept === shown) input.value = shown;
    else change({ [key]: whole ? Math.round(kept) : kept });
  }
  const nudge = (sign, word, by) =>
    h(
      "button",
      {
        type: "button",
        tabindex: -1,
        "aria-label": `${word} ${name}`,
        onclick: () => to(shown + by),
      },
      sign,
    );
  return {
    element: h(
      "div",
      { class: `ctl r-${key}` },
      h("label", { for: id }, name),
      h("span", { class: "num" }, nudge("−", "less", -step), input, nudge("+", "more", step)),
      h("span", { class: "unit", id: `${id}-unit` }, unit),
    ),
    show(state) {
      shown = state[key];
      if (input.valueAsNumber !== shown) input.value = shown;
    },
  };
}

const words = (values) => values.map((value) => [value, String(value)]);
const all = SCHEDULES.map((one) => [one.name, one.title]);

/** Chunks a GPU holds: a choice where the schedule leaves one. */
function chunks(change) {
  const row = radios("v", "Chunks a GPU", "chunks", words([1, 2, 4, 8]), change);
  const fixed = h("span", { class: "unit" });
  row.element.append(fixed);
  return {
    element: row.element,
    show(state) {
      const own = fixedChunks(state.s);
      row.show(state);
      row.element.querySelector(".opts").hidden = own > 0;
      text(fixed, own ? `${own}, as ${title(state.s)} needs` : "");
    },
  };
}

/** A box to tick. */
function tick(key, name, change) {
  const id = `sched-${key}`;
  const box = h("input", { type: "checkbox", id, onchange: () => change({ [key]: +box.checked }) });
  return {
    element: h("div", { class: "ctl r-k" }, h("label", { for: id }, box, ` ${name}`)),
    show(state) {
      box.checked = state[key] === 1;
    },
  };
}

/** Make all controls; on narrow pages the twelve schedules are a list. */
export function panel(narrow, change) {
  const why = (value, state) => refusal(state, value);
  const schedule = narrow
    ? list("s", "Schedule", all, change)
    : radios("s", "Schedule", "", all, change, why);
  const main = [
    schedule,
    radios("p", "Stages", "stages", words([2, 4, 8, 16, 32, 64]), change),
    number("m", "Micro-batches", "in a step", 1, change),
    chunks(change),
    list("c", "Compare with", [["", "nothing"], ...all], change),
  ];
  const switches = [
    tick("h", "Show what each GPU holds", change),
    tick("k", "Show the longest chain", change),
  ];
  const more = [
    number("tf", "Forward (F)", "units a GPU", 0.1, change),
    number("ti", "Backward for inputs (I)", "units", 0.1, change),
    number("tw", "Backward for weights (W)", "units", 0.1, change),
    number("ts", "Message", "units a send takes", 0.1, change),
    number("th", "DualPipe's pairs", "units that F and B together save", 0.1, change),
    number("tl", "Last stage", "times as long as the others", 0.1, change),
  ];
  const element = h(
    "div",
    { class: "panel" },
    [...main, ...switches].map((one) => one.element),
    h(
      "details",
      { class: "more" },
      h("summary", {}, "More: times of each part, messages, a slow last stage"),
      more.map((one) => one.element),
    ),
  );
  return { element, show: (state) => [...main, ...switches, ...more].forEach((one) => one.show(state)) };
}

/** The row of stories: one tab stop, real buttons. */
export function storyRow(names, tell) {
  const buttons = names.map((name, i) =>
    h(
      "button",
      { type: "button", "data-story": i + 1, "aria-pressed": "false", onclick: () => tell(i + 1) },
      h("b", {}, String(i + 1)),
      ` ${name}`,
    ),
  );
  const element = h("div", { class: "stories", role: "group", "aria-label": "Stories" }, buttons);
  roving(element, "button");
  return {
    element,
    show: (current) =>
      buttons.forEach((button, i) =>
        button.setAttribute("aria-pressed", String(i + 1 === current)),
      ),
  };
}

/** Play, steps and the place in time. */
export function transport(clock) {
  const button = (name, sign, onclick) =>
    h("button", { type: "button", "aria-label": name, title: name, onclick }, sign);
  const toggle = button("Play", "▶ Play", () => clock.toggle());
  toggle.classList.add("play");
  const row = h(
    "div",
    { class: "keys", role: "group", "aria-label": "Playback" },
    toggle,
    button("Start", "⇤", () => clock.seek(0)),
    button("Step back", "◂", () => clock.step(false)),
    button("Step", "▸", () => clock.step(true)),
    button("End", "⇥", () => clock.seek(Infinity)),
  );
  roving(row, "button");
  const scrub = h("input", {
    type: "range",
    min: 0,
    "aria-label": "Time",
    class: "scrub",
    oninput: () => clock.seek(scrub.valueAsNumber),
    onkeydown: (event) => event.stopPropagation(),
  });
  const speed = h(
    "select",
    {
      "aria-label": "Speed",
      class: "speed",
      onchange: () => {
        clock.speed = +speed.value;
      },
    },
    [0.25, 0.5, 1, 2, 4].map((value) => h("option", { value, selected: value === 1 }, `${value}×`)),
  );
  return {
    element: h("div", { class: "transport" }, row, scrub, speed),
    playing(on) {
      text(toggle, on ? "❚❚ Pause" : "▶ Play");
      toggle.setAttribute("aria-label", on ? "Pause" : "Play");
    },
    show(time, span, says) {
      scrub.max = span;
      scrub.step = 10 ** Math.floor(Math.log10(span / 500));
      scrub.value = time;
      scrub.setAttribute("aria-valuetext", says);
    },
  };
}
