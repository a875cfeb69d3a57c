/** On paper an answer cannot be opened. */

const ANSWERS = ".bd-article details.sd-dropdown:not(.st-code, [open])";

export function openAnswers() {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll(ANSWERS)];
    for (const answer of opened) answer.open = true;
  });
  addEventListener("afterprint", () => {
    for (const answer of opened) answer.open = false;
  });
}
