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

/** One tab stop for a row of items: arrows move, Home and End jump; keys stay here. */
export function roving(parent, selector, columns = () => 1) {
  const items = () => [...parent.querySelectorAll(selector)].filter((one) => !one.hidden);
  const moves = {
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: "down",
    ArrowUp: "up",
    Home: "home",
    End: "end",
  };
  parent.addEventListener("keydown", (event) => {
    const list = items();
    const at = list.indexOf(event.target.closest(selector));
    const move = moves[event.key];
    if (at < 0 || move === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const wide = columns();
    let to = at + (typeof move === "number" ? move : 0);
    if (move === "down") to = at + wide;
    if (move === "up") to = at - wide;
    if (move === "home") to = 0;
    if (move === "end") to = list.length - 1;
    event.preventDefault();
    event.stopPropagation();
    if (to < 0 || to >= list.length) return;
    focusOne(list, to);
    list[to].focus();
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

function focusOne(list, at) {
  list.forEach((item, index) => {
    item.tabIndex = index === at ? 0 : -1;
  });
}
