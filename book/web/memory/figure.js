/** The bar that Python drew follows one choice; every number and sentence is Python's. */

import { text } from "../shared/dom.js";
import { liveRegion } from "../shared/live.js";
import { DATA } from "./data.js";

/** Take over an element. */
export function mount(root) {
  const live = liveRegion();
  const figure = root.querySelector(".memory");
  figure.append(live.element);

  function show(state) {
    state.parts.forEach((size, at) => {
      const name = DATA.parts[at];
      root.querySelector(`[data-part="${name}"]`).style.width = `${((100 * size) / DATA.top).toFixed(3)}%`;
      text(root.querySelector(`[data-size="${name}"]`), `${size.toFixed(1)} GB`);
    });
    text(root.querySelector("[data-out=total]"), `${state.total.toFixed(1)} GB`);
    text(root.querySelector("[data-out=says]"), state.says);
    figure.classList.toggle("over", !state.fits);
    live.say(`${state.name}: ${state.says}`);
  }

  for (const input of root.querySelectorAll("input")) {
    input.addEventListener("change", () => show(DATA.states[input.value]));
    if (input.checked && input.value !== "0") show(DATA.states[input.value]);
  }
}
