/** The row of stories, and the sentence of the one that is told. */

import { fill, h, oneStop, text } from "./dom.js";
import { STORIES, pieces } from "./stories.js";

/** Fill the place of the stories; `show` marks the one that is told. */
export function storyRow(element, actions) {
  const buttons = STORIES.map((story, index) =>
    h(
      "button",
      { type: "button", class: "story", "data-story": story.key, tabindex: -1, onclick: () => actions.choose(story) },
      h("span", { class: "story-number" }, String(index + 1)),
      h("span", {}, story.title),
    ),
  );
  const row = h("div", { class: "story-row", role: "group", "aria-label": "Stories" }, buttons);
  const changed = h("span", { class: "changed", "data-out": "changed" });
  const sentence = h("span", { "data-out": "sentence" });
  const again = h("button", { type: "button", class: "link", hidden: true, onclick: actions.reset }, "back to the story");
  fill(element, h("h2", {}, "Stories"), row, h("p", { class: "say" }, changed, sentence, " ", again));
  oneStop(row, "button")();

  function show(story, same, numbers, pinned) {
    buttons.forEach((button, index) => {
      button.setAttribute("aria-pressed", String(STORIES[index] === story && same));
    });
    again.hidden = !story || same;
    text(changed, story && !same ? `Story ${STORIES.indexOf(story) + 1}, changed: ` : "");
    if (!story || !same) {
      fill(sentence, story ? "what you see is yours." : "Pick a story, or change anything.");
      return;
    }
    fill(
      sentence,
      pieces(story.say).map((piece) => {
        if (typeof piece === "string") return piece;
        const from = piece.pinned ? pinned : numbers;
        return h("b", { "data-of": (piece.pinned ? "pin." : "") + piece.name }, from?.[piece.name]?.text ?? "–");
      }),
    );
  }
  return { show };
}
