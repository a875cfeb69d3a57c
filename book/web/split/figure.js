/** One step split by part: the panel of the chosen part stays, the others go. */

import { roving } from "../shared/dom.js";

/** Take over an element. */
export function mount(root) {
  const figure = root.querySelector(".split");
  const buttons = [...root.querySelectorAll("[data-part]")];

  function choose(key) {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.part === key));
    for (const panel of root.querySelectorAll("[data-panel]")) panel.hidden = panel.dataset.panel !== key;
    for (const block of root.querySelectorAll("[data-block]")) block.classList.toggle("on", block.dataset.block === key);
    // The pages' own script lets the keyboard scroll what is too wide, once it is shown.
    dispatchEvent(new Event("resize"));
  }

  figure.classList.add("live");
  for (const button of buttons) {
    button.disabled = false;
    button.addEventListener("click", () => choose(button.dataset.part));
  }
  for (const block of root.querySelectorAll("[data-block]")) {
    block.addEventListener("click", () => choose(block.dataset.block));
  }
  for (const panel of root.querySelectorAll("[data-panel]")) panel.setAttribute("aria-live", "polite");
  roving(root.querySelector(".parts"), "button");
  choose(buttons[0].dataset.part);
}
