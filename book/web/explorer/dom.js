/** Elements in one call, so that a view reads like the page it makes. */

const SVG = "http://www.w3.org/2000/svg";
const IN_SVG = new Set(
  "svg g rect line path text tspan title desc pattern defs circle polyline polygon".split(" "),
);

/**
 * Make an element: h("button", {class: "x", onclick}, "text", child).
 * A false or missing attribute is left out; children may be nested lists.
 */
export function h(tag, attributes, ...children) {
  const element = IN_SVG.has(tag)
    ? document.createElementNS(SVG, tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child);
  }
}

/** Replace all children. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** Set text only where it differs: nothing is announced or laid out twice. */
export function text(element, value) {
  if (element.textContent !== value) element.textContent = value;
}

/** One tab stop for a row of items: arrows move, Home and End jump; keys stay here. */
export function roving(parent, selector, columns = () => 1) {
  const items = () => [...parent.querySelectorAll(selector)];
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
