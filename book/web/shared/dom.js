/** Small things that every figure needs: elements, text that changes, one tab stop a row. */

const SVG = "http://www.w3.org/2000/svg";
const IN_SVG = new Set("svg g rect line path text title desc defs pattern polyline".split(" "));

/**
 * Make an element: h("button", { class: "x", onclick }, "text", child).
 * An attribute that is false, null or undefined is left out; children may be nested lists.
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
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** Set an element's text only where it differs, so that nothing is laid out or read twice. */
export function text(element, value) {
  if (element.textContent !== value) element.textContent = value;
}

/** Make a row of items one tab stop: arrows move, Home and End jump; the keys stay here. */
export function roving(parent, selector) {
  const items = () => [...parent.querySelectorAll(selector)].filter((item) => !item.disabled);
  const only = (chosen) => {
    for (const item of parent.querySelectorAll(selector)) item.tabIndex = item === chosen ? 0 : -1;
  };
  parent.addEventListener("keydown", (event) => {
    const list = items();
    const at = list.indexOf(event.target);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const to = { Home: 0, End: list.length - 1 }[event.key] ?? (step && at + step);
    if (at < 0 || to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (!list[to]) return;
    only(list[to]);
    list[to].focus();
  });
  parent.addEventListener("focusin", (event) => {
    if (items().includes(event.target)) only(event.target);
  });
  only(items()[0]);
}
