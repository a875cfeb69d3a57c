/** The controls, few first and the rest under "more". */

import { h, text } from "./dom.js";
import { MORE_RADIOS, RADIOS, radioRow } from "./controls.js";
import { NUMBERS, domainField, numberField, selectField } from "./fields.js";
import { CHOICES, OWN_FIELDS, OWN_MORE, ownShape } from "./state.js";
import { modelFields } from "./answer.js";

const GROUPS = { chapter: "From the chapter", dense: "Dense", experts: "Mixtures of experts" };

/** Make the panel; `update(state, check, experts)` follows the state. */
export function makePanel(root, data, actions) {
  const id = `${root.id || "layout"}-in`;
  const change = actions.change;
  const models = Object.entries(GROUPS).map(([key, label]) => [
    label,
    data.models.filter((one) => one.group === key).map((one) => [one.key, one.name]),
  ]);
  models.push(["Your own", [["own", "own numbers…"]]]);
  const gpus = [[null, data.accelerators.map((one) => [one.key, one.name])]];
  const model = selectField("model", "Model", models, id, (values, key) => {
    if (values.model === "own") change({ ...values, own: ownText(root.shown, data) }, key);
    else change(values, key);
  });
  const gpu = selectField("gpu", "Accelerator", gpus, id, change);
  const domain = domainField(id, change, data);
  const radios = RADIOS.map((row) => radioRow(row, id, change, data));
  const numbers = NUMBERS.map((row) => numberField(row, id, change));
  const more = MORE_RADIOS.map((row) => radioRow(row, id, change, data));
  const rare = data.schedules.map((one) => one.key).filter((key) => !CHOICES.schedule.includes(key));
  const how = { values: rare, place: "schedule-rest" };
  more.unshift(radioRow(["schedule", "", "Other schedules", ""], id, change, data, how));
  const idea = h("p", { class: "idea", "data-out": "idea" });
  radios.find((one) => one.element.dataset.control === "schedule").element.append(idea);
  const tokens = numberField(["tokens", "", "Tokens to train on", "tokens"], id, change);
  const rest = h(
    "details",
    { class: "more how" },
    h("summary", {}, "More: software, network, other schedules, chunks, micro-batch, precision, tokens; runs on ", h("span", { "data-out": "how" })),
    more.map((one) => one.element),
    h("div", { class: "numbers" }, tokens.element),
  );
  // What can be stated of software and network is fetched when somebody looks.
  rest.addEventListener("toggle", () => rest.open && actions.software().catch(() => {}));
  let stated = null;
  const own = ownModel(id, change);
  const number = (name) => h("b", { "data-out": name });
  const copies = h(
    "p",
    { class: "input copies" },
    ["Data parallel ", h("i", { class: "sym" }, "d"), " = ", number("dp"), ", worked out · "],
    [number("parameters"), " parameters · ", number("limit"), " a GPU"],
  );
  const element = h(
    "form",
    { class: "panel", "aria-label": "Layout", onsubmit: (event) => event.preventDefault() },
    model.element,
    own.element,
    gpu.element,
    domain.element,
    h("div", { class: "numbers" }, numbers.map((one) => one.element)),
    radios.map((one) => one.element),
    copies,
    h(
      "p",
      { class: "key" },
      h("span", { class: "key-over" }, "8"),
      " does not fit, ",
      h("span", { class: "key-never" }, "8"),
      " not possible",
    ),
    rest,
  );

  function update(state, check, experts) {
    root.shown = state;
    for (const one of [model, gpu, domain, tokens, ...numbers]) one.update(state);
    for (const row of [...radios, ...more]) row.update(state, check);
    element.querySelector(".input-ep").hidden = !experts && state.ep === 1;
    element.querySelector(".input-etp").hidden = !experts && state.etp === 1;
    const { title, idea: said } = data.schedules.find((one) => one.key === state.schedule);
    text(idea, state.pp > 1 ? `${title}: ${said}` : "With one stage all schedules take the same time.");
    own.update(state);
    stated?.update(state);
    text(rest.querySelector("[data-out]"), howWords(state));
  }

  /** Put in the controls of software, once what they need is here. */
  function learn(makeHow, named, softwareNow) {
    stated = makeHow(id, change, data, named, softwareNow);
    rest.append(stated.element);
    if (root.shown) stated.update(root.shown);
  }

  /** Open the place where something of software or network is stated. */
  function open(key) {
    rest.open = true;
    rest.querySelector(`[data-control="${key}"] :is(select, input)`).focus();
  }
  return { element, update, learn, open };
}

/** What is stated of software and network, in a line. */
function howWords({ stack, date, net, facts }) {
  const said = [stack || (date || facts ? "" : "usual software"), date, facts, net ? `${net} Gb/s` : "network as built"];
  return said.filter(Boolean).join(", ");
}

/** The sizes of a state's model as an `own` value, to start one's own from. */
function ownText(state, data) {
  const fields = modelFields(state, data);
  const text = [...OWN_FIELDS, ...OWN_MORE].map((name) => fields[name]).join("-");
  return ownShape(text) ? text : "32-4096-14336-32-8-128256-1-0-0-0-0-0";
}

function ownModel(id, change) {
  const inputs = OWN_FIELDS.map((name) =>
    h("input", {
      id: `${id}-own-${name}`,
      type: "text",
      inputmode: "numeric",
      autocomplete: "off",
      onchange: read,
    }),
  );
  const note = h("p", { class: "note" });
  // What a file or a preset says beyond the fields stays as long as it can.
  let rest = [];
  const fields = OWN_FIELDS.map((name, index) =>
    h(
      "div",
      { class: "own-field" },
      h("label", { for: inputs[index].id }, name.replaceAll("_", " ").replace(/^num /, "")),
      inputs[index],
    ),
  );
  const element = h(
    "fieldset",
    { class: "own", hidden: true },
    h("legend", {}, "Your model (gated and tied: 1 yes, 0 no)"),
    fields,
    note,
  );

  function read() {
    const first = inputs.map((input) => input.value.trim() || "0");
    const text = [[...first, ...rest], first].map((one) => one.join("-")).find(ownShape);
    if (text) {
      note.textContent = "";
      change({ own: text }, "own");
    } else {
      note.textContent =
        "Whole numbers; heads must divide the hidden size, key groups the heads; top k at most the experts.";
    }
  }

  function update(state) {
    element.hidden = state.model !== "own";
    if (element.hidden) return;
    const values = state.own.split("-");
    rest = values.slice(OWN_FIELDS.length);
    inputs.forEach((input, index) => {
      if (document.activeElement !== input) input.value = values[index];
    });
    note.textContent = "";
  }
  return { element, update };
}
