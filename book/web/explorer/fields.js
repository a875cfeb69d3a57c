/** Number fields that halve and double, and native selects. */

import { h, text } from "./dom.js";
import { count, group, short } from "./format.js";
import { inNumber } from "../shared/number.js";
import { BOUNDS, inBounds } from "./state.js";

/** Number fields: key, letter, name, unit. */
export const NUMBERS = [
  ["n", "n", "GPUs", "GPUs"],
  ["seq", "s", "Sequence", "tokens"],
  ["batch", "B", "Batch", "sequences"],
];

const KEYS = { ArrowUp: 2, ArrowDown: 0.5, PageUp: 8, PageDown: 0.125 };

/** Letters for sizes: powers of 1024, for tokens of a run those of 1,000. */
const BINARY = { k: 1024, m: 1048576 };
const DECIMAL = { k: 1e3, m: 1e6, b: 1e9, t: 1e12 };

/** What a reader typed as a number: thousands may be set apart, a letter may end it. */
function typedNumber(typed, letters) {
  const plain = typed.replace(/[\s,_]/g, "").toLowerCase();
  const match = /^(\d+(?:\.\d+)?)([a-z])?$/.exec(plain);
  return match ? Math.round(match[1] * (match[2] ? letters[match[2]] : 1) * 1e6) / 1e6 : NaN;
}

/** A number as its field shows it. */
function shown(key, value) {
  if (key === "tokens" && typedNumber(count(value), DECIMAL) === value) return count(value);
  return key === "seq" && short(value) !== String(value) ? short(value) : group(value);
}

/**
 * A number with buttons beside it; the arrow keys halve and double.
 * @param {object} how - May say how to `read` a state, how to `put` a number into one, and which
 *   `buttons` stand before and after: [sign, name, number -> number].
 */
export function numberField([key, letter, name, unit], id, change, how = {}) {
  const least = Math.max(1, BOUNDS[key][0]);
  const most = BOUNDS[key][1];
  const put = how.put ?? ((value) => ({ [key]: value }));
  const [before, after] = how.buttons ?? [
    [["÷2", `÷2: halve ${name}`, (now) => Math.max(least, Math.floor(now / 2))]],
    [["×2", `×2: double ${name}`, (now) => now * 2]],
  ];
  let value = least;
  const note = h("span", { class: "note", id: `${id}-${key}-note` });
  const input = h("input", {
    id: `${id}-${key}`,
    type: "text",
    inputmode: "numeric",
    role: "spinbutton",
    autocomplete: "off",
    "aria-valuemin": least,
    "aria-valuemax": most,
    "aria-describedby": note.id,
    onchange: () => read(typedNumber(input.value, key === "tokens" ? DECIMAL : BINARY)),
    onkeydown: (event) => {
      const factor = KEYS[event.key];
      if (!factor) return;
      event.preventDefault();
      event.stopPropagation();
      take(Math.max(least, Math.floor(value * factor)));
    },
  });
  const button = ([sign, word, next]) => {
    const onclick = () => take(next(value));
    const attributes = { type: "button", class: "nudge", tabindex: -1, "aria-label": word, onclick };
    return h("button", attributes, sign);
  };
  const buttons = [before.map(button), after.map(button)];
  const label = h("label", { for: input.id }, name, letter && h("i", { class: "sym" }, ` ${letter}`));
  const field = h("span", { class: "field" }, buttons[0], input, buttons[1]);

  function take(next) {
    if (next <= most && next !== value) change(put(next), key);
  }

  function read(next) {
    const good = inBounds(key, next) && next >= least;
    note.textContent = good ? "" : `a whole number from ${least} to ${group(most)}`;
    if (good) change(put(next), key);
    else input.setAttribute("aria-invalid", "true");
  }

  function update(state) {
    value = how.read ? how.read(state) : state[key];
    const words = shown(key, value);
    if (document.activeElement !== input || input.dataset.shown !== words) input.value = words;
    input.dataset.shown = words;
    input.removeAttribute("aria-invalid");
    note.textContent = "";
    input.setAttribute("aria-valuenow", value);
    input.setAttribute("aria-valuetext", `${value} ${inNumber(value, unit)}`);
    for (const one of field.querySelectorAll("[data-is]")) {
      one.setAttribute("aria-pressed", String(Number(one.dataset.is) === value));
    }
  }
  const element = h("div", { class: `input input-${key}`, "data-control": key }, label, field, note);
  return { element, update };
}

/** GPUs joined by NVLink: a server of 8, a rack of 72, or a number; at first as built. */
export function domainField(id, change, data) {
  const built = (state) => data.accelerators.find((one) => one.key === state.gpu).fields.nvlink_domain;
  let usual = 0;
  const common = [8, 72].map((size) => [String(size), `NVLink joins ${size} GPUs`, () => size]);
  const field = numberField(["domain", "", "NVLink joins", "GPUs"], id, change, {
    read: (state) => state.domain || built(state),
    put: (value) => ({ domain: value === usual ? 0 : value }),
    buttons: [common, []],
  });
  [8, 72].forEach((size, at) => {
    field.element.querySelectorAll("button")[at].dataset.is = size;
  });
  const update = (state) => {
    usual = built(state);
    const { link } = data.accelerators.find((one) => one.key === state.gpu);
    text(field.element.firstElementChild, `${link} joins`);
    field.update(state);
  };
  return { element: field.element, update };
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
