/** A button that copies, beside each piece of code. */

import { h } from "../shared/dom.js";

const SHOWN_MS = 2000;

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (refused) {
    // A page from a file has no clipboard of its own: the old way asks for a selection.
    const field = h("textarea", { class: "st-away", "aria-hidden": "true" }, text);
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

function button(code) {
  const element = h("button", { type: "button", class: "copybtn", "aria-label": "Copy the code" });
  element.append(h("span", { class: "fa-solid st-copy", "aria-hidden": "true" }));
  element.addEventListener("click", async () => {
    const done = await copied(code.textContent.replace(/\n$/, ""));
    element.classList.toggle("success", done);
    element.setAttribute("aria-label", done ? "Copied" : "The browser refused to copy");
    element.focus();
    setTimeout(() => {
      element.classList.remove("success");
      element.setAttribute("aria-label", "Copy the code");
    }, SHOWN_MS);
  });
  return element;
}

export function copyButtons() {
  for (const code of document.querySelectorAll("div.highlight pre")) code.after(button(code));
}
