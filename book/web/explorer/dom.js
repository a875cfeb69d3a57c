/** Elements in one call, and rows or grids that are one tab stop. */

import { h, text } from "../shared/dom.js";

export { h, text };

/** Replace all children. */
export function fill(element, ...children) {
  element.replaceChildren();
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/** Buttons of which one is pressed: `options` is [[value, word], …]; `press(value)` shows it. */
export function toggles(options, pick) {
  const buttons = options.map(([value, word]) =>
    h("button", { type: "button", class: "toggle", tabindex: -1, value, onclick: () => pick(value) }, word),
  );
  const press = (value) => {
    for (const one of buttons) one.setAttribute("aria-pressed", String(one.value === value));
  };
  return { buttons, press };
}

/**
 * One tab stop for many items: left and right go through them, up and down through `rows()`
 * (lists of items) where there are any; Home and End jump; these keys stay here.
 */
export function oneStop(parent, selector, rows = () => null) {
  const items = () => [...parent.querySelectorAll(selector)].filter((one) => !one.closest("[hidden]"));
  parent.addEventListener("keydown", (event) => {
    const list = items();
    const here = event.target.closest(selector);
    const at = list.indexOf(here);
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const across = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: list.length - 1 }[event.key];
    const down = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (across === undefined && !down) return;
    event.preventDefault();
    event.stopPropagation();
    const next = down ? below(rows(), list, here, down) : list[across];
    if (!next) return;
    focusOne(list, list.indexOf(next));
    next.focus();
  });
  parent.addEventListener("focusin", (event) => {
    const list = items();
    const at = list.indexOf(event.target.closest(selector));
    if (at >= 0) focusOne(list, at);
  });
  return () => {
    const list = items();
    if (list.length && !list.some((item) => item.tabIndex === 0)) focusOne(list, 0);
  };
}

/** The item above or below: in the same column, or where there are no rows the next one. */
function below(rows, list, here, step) {
  if (!rows) return list[list.indexOf(here) + step];
  const row = rows.findIndex((one) => one.includes(here));
  const next = rows[row + step];
  return next?.[Math.min(rows[row].indexOf(here), next.length - 1)];
}

function focusOne(list, at) {
  list.forEach((item, index) => {
    item.tabIndex = index === at ? 0 : -1;
  });
}
