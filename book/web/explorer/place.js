/** A place for what is fetched when a reader comes near it. */

import { h } from "./dom.js";

/** Return an element that calls back once, as soon as it is in view. */
export function makePlace(seen) {
  const element = h("div", { class: "told" });
  const watch = new IntersectionObserver((entries) => {
    if (!entries.some((one) => one.isIntersecting)) return;
    watch.disconnect();
    seen();
  });
  watch.observe(element);
  return element;
}
