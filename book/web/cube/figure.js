/** Sixteen ranks: choose one, or an axis, and see who talks to whom. */

import { text } from "../shared/dom.js";
import { DATA } from "./data.js";

/** Take over an element; return what a test may ask for. */
export function mount(root) {
  const figure = root.querySelector(".cube");
  const out = root.querySelector("[data-out=says]");
  const axes = [...root.querySelectorAll("button[data-axis]")];
  const edges = [...root.querySelectorAll("path[data-axis]")];
  const nodes = [...root.querySelectorAll("[data-rank]")];
  let rank = DATA.first;
  let axis = "";

  function show() {
    const mine = DATA.groups[rank];
    for (const edge of edges) {
      const [a, b] = edge.dataset.edge.split(" ").map(Number);
      // An axis shows all its groups, a GPU the four that it is in.
      edge.classList.toggle("on", axis ? edge.dataset.axis === axis : a === rank || b === rank);
    }
    const near = new Set(Object.values(mine).flat());
    nodes.forEach((node, at) => {
      node.classList.toggle("on", !axis && at === rank);
      node.classList.toggle("near", !axis && at !== rank && near.has(at));
    });
    for (const button of axes) button.setAttribute("aria-pressed", String(button.dataset.axis === axis));
    const groups = [...new Set(DATA.groups.map((one) => one[axis]?.join(" and ")))];
    text(out, axis ? `Groups: ${groups.join("; ")}.` : DATA.says[rank]);
  }

  function choose(next) {
    rank = (next + nodes.length) % nodes.length;
    axis = "";
    show();
  }

  figure.classList.add("live");
  for (const button of root.querySelectorAll("[data-step]")) {
    button.addEventListener("click", () => choose(rank + Number(button.dataset.step)));
  }
  for (const button of axes) {
    button.disabled = false;
    button.addEventListener("click", () => {
      axis = axis === button.dataset.axis ? "" : button.dataset.axis;
      show();
    });
  }
  nodes.forEach((node, at) => node.addEventListener("click", () => choose(at)));
  show();
  return { choose };
}
