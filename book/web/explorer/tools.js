/** Undo, reset, pin and share: one row, one tab stop. */

import { h, oneStop, text } from "./dom.js";

/** Make the row; `show` enables what can be used now. */
export function makeTools(actions, data) {
  let answer = null;
  const output = h("textarea", { class: "copied", rows: 3, readonly: true, hidden: true, "aria-label": "Copied text", tabindex: -1 });
  const note = h("span", { class: "note", "data-out": "copied" });
  const button = (name, word, onclick) =>
    h("button", { type: "button", class: "tool", "data-tool": name, tabindex: -1, onclick }, word);
  const copy = (name, word, write) => button(name, word, async () => put(word, await write()));
  const later = (name) => async () => (await actions.given())[name](answer);
  const undo = button("undo", "Undo", actions.back);
  const ran = button("published", "", actions.takePublished);
  const pin = button("pin", "Pin to compare", actions.pin);
  const row = h(
    "div",
    { class: "tool-row", role: "toolbar", "aria-label": "Undo, compare and share" },
    undo,
    button("reset", "Reset", actions.reset),
    ran,
    pin,
    copy("link", "Copy link", () => {
      actions.writeAddress();
      return location.href;
    }),
    copy("command", "as command", later("asCommand")),
    copy("python", "as Python", later("asPython")),
    copy("csv", "as CSV", later("asCsv")),
  );
  const settle = oneStop(row, "button");
  const element = h("section", { class: "tools" }, row, note, output);

  function put(word, value) {
    output.hidden = false;
    output.value = value;
    output.rows = Math.min(12, value.split("\n").length + 1);
    const copied = navigator.clipboard?.writeText(value);
    if (!copied) {
      text(note, "Select and copy:");
      return;
    }
    copied.then(
      () => text(note, `${word}: copied.`),
      () => text(note, "Select and copy:"),
    );
  }

  function show({ answer: { state }, good, pinned, canUndo }) {
    answer = good;
    undo.setAttribute("aria-disabled", String(!canUndo));
    const held = Boolean(pinned?.pinnedByHand);
    pin.setAttribute("aria-pressed", String(held));
    text(pin, held ? "Unpin" : "Pin to compare");
    const published = data.models.find((one) => one.key === state.model)?.published;
    const same = (key) => published.state[key] === state[key];
    const here = published && Object.keys(published.state).every(same);
    ran.hidden = !published;
    ran.setAttribute("aria-disabled", String(Boolean(here)));
    text(ran, here ? `As published: ${published.id}` : "Published layout");
    ran.title = published ? `Run ${published.id} of ${published.source}` : "";
    settle();
  }
  return { element, show };
}
