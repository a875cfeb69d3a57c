/** What the best layout leaves open: which unstated thing could move its step most. */

import { h, text } from "../shared/dom.js";
import { seconds } from "../explorer/format.js";
import { narrowest, openItems } from "../explorer/open-items.js";

/** Make the list; `ask()` is called once a search is done and a reader comes near. */
export function makeOpen(ask) {
  const sentence = h("p", { "data-out": "narrow" });
  const items = h("ul", { class: "sf-open", "data-told": "open" });
  const details = h("details", {}, h("summary", {}, "What is open, by how far it could move the step"), items);
  const element = h("section", { class: "sf-rests", "aria-label": "What the best layout rests on" }, sentence, details);
  let near = false;
  let waiting = false;
  function begin() {
    text(sentence, "Asking what is not stated, and could move this most …");
    ask();
  }
  const watch = new IntersectionObserver((entries) => {
    if (!entries.some((one) => one.isIntersecting)) return;
    watch.disconnect();
    near = true;
    if (waiting) begin();
  });
  watch.observe(element);

  /** Ask of a search that is done, or forget the last one. */
  function start(result) {
    waiting = Boolean(result?.done && result.best.length);
    text(sentence, "");
    items.replaceChildren();
    details.hidden = true;
    if (waiting && near) begin();
  }

  function show(spans) {
    waiting = false;
    if (!spans) {
      text(sentence, "What is open could not be asked: the table of software could not be loaded.");
      return;
    }
    const [most] = spans;
    text(sentence, most ? narrowest(most, seconds) : "Nothing is open that would move the step.");
    items.replaceChildren(...openItems(spans, seconds));
    details.hidden = !most;
  }
  return { element, start, show };
}
