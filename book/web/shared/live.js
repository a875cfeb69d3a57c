/** One polite live region: the last message wins, and at most two a second are read. */

import { h, text } from "./dom.js";

/** Return the region's element and `say(message)`. */
export function liveRegion() {
  const element = h("div", { class: "st-live", role: "status", "aria-live": "polite" });
  let waiting = 0;
  let next = "";
  function flush() {
    waiting = 0;
    text(element, next);
  }
  function say(message) {
    next = message;
    waiting ||= setTimeout(flush, 500);
  }
  return { element, say };
}
