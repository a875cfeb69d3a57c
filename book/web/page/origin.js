/** What a number comes from, in a box beside it: while it is pointed at or has the focus, until Escape. */

import { h } from "../shared/dom.js";

let origin = null;

function hide() {
  document.querySelector("[aria-describedby=st-origin]")?.removeAttribute("aria-describedby");
  origin?.remove();
  origin = null;
}

function show(link) {
  hide();
  origin = h("div", { class: "st-origin", id: "st-origin", role: "tooltip" }, link.dataset.from);
  document.body.append(origin);
  link.setAttribute("aria-describedby", origin.id);
  const at = link.getBoundingClientRect();
  const most = document.documentElement.clientWidth - origin.offsetWidth - 8;
  origin.style.left = `${Math.max(8, Math.min(at.left, most)) + scrollX}px`;
  origin.style.top = `${at.bottom + 2 + scrollY}px`;
}

const numbered = (event) => event.target.closest?.("a.st-from");

export function origins() {
  for (const kind of ["pointerover", "focusin"]) {
    document.addEventListener(kind, (event) => {
      const link = numbered(event);
      if (link) show(link);
      // The box itself may be pointed at, to read or copy from it. What has the focus keeps its
      // box: bringing it into view moves the page under a pointer that rests.
      else if (!event.target.closest?.(".st-origin") && !numbered({ target: document.activeElement }))
        hide();
    });
  }
  document.addEventListener("focusout", (event) => numbered(event) && hide());
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}
