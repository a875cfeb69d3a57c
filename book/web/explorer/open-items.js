/** What an answer leaves open, in words: which unstated thing could move it most. */

import { h } from "../shared/dom.js";

/** Change from which on a thing gets a line of its own. */
const WORTH_TELLING = 0.005;

function reach({ low, high, least, most, outside, choices }, unit) {
  const rare = outside ? `; ${outside} of ${choices} outside the interval` : "";
  return `${unit(low)} (${least}) to ${unit(high)} (${most})${rare}`;
}

export function narrowest(one, unit) {
  return `Naming ${one.says} would narrow this most: ${reach(one, unit)}.`;
}

/** The wide ones in full, the others by their names. */
export function openItems(spans, unit) {
  const wide = spans.filter((one) => one.change >= WORTH_TELLING);
  const rest = spans.slice(wide.length).map((one) => one.says);
  const items = wide.map((one, place) => {
    const most = place ? "" : " would narrow this most";
    return h("li", {}, h("b", {}, one.says), `${most}: ${reach(one, unit)} `, h("code", {}, one.how));
  });
  if (!spans.length) return [h("li", {}, "Nothing that would move it.")];
  return rest.length ? [...items, h("li", {}, `under 0.5 % each: ${rest.join(", ")}`)] : items;
}
