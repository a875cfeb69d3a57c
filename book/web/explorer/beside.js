/** What stands beside an answer and below it: the form, stories, tools, tables and lists. */

import { h, text } from "./dom.js";
import { makeMap } from "./map.js";
import { makePanel } from "./panel.js";
import { makePlace } from "./place.js";
import { restsOn } from "./rests.js";
import { storyRow } from "./story-row.js";
import { storyOf } from "./stories.js";
import { makeTables } from "./tables.js";
import { makeTools } from "./tools.js";

/** Make it for a view; `show` follows what is shown there, `update` the state. */
export function makeBeside(root, view, data, machine, actions, loadTexts) {
  let dialog = null;
  let told = null;
  const panel = makePanel(root, data, actions);
  const tools = makeTools(actions, data);
  const stories = storyRow(view.stories, actions);
  const map = makeMap(view.id, machine, actions.take, data);
  const tables = makeTables();
  const assumptions = h("p", { class: "assumptions", "data-out": "assumptions" });
  const place = makePlace(() => actions.software().catch(() => {}));
  const side = h("div", { class: "side" }, panel.element, tools.element);
  const below = h("div", { class: "later" }, map.element, tables.element, assumptions, place);

  async function makeDialog() {
    const { makeFormulaDialog, texts } = await loadTexts();
    const made = makeFormulaDialog(texts, view.id);
    root.append(made.dialog);
    return made;
  }

  /** Open the formula behind a number of what is shown. */
  function open(key, label) {
    const { formula } = view.now().numbers[key];
    dialog ??= makeDialog();
    dialog.then(
      (made) => made.show(label, formula),
      () => {
        dialog = null;
        view.note("The formulas could not be loaded; choose the number again.");
      },
    );
  }

  /** Put in the lists of what was assumed and what is open. */
  function tell(made) {
    told = made;
    place.append(told.element);
    if (view.now()?.good) told.show(view.now().good);
  }

  function show({ answer, good, pinned, numbers, against, story, bad, canUndo }) {
    if (good) {
      tables.show(good, numbers, against);
      stories.show(story, storyOf(answer.state) === story, numbers, against);
      told?.show(good);
      text(assumptions, restsOn(good, data));
    }
    tools.show({ answer, good, pinned, canUndo });
    if (bad.length) view.note(`Not understood in the address, so left at the default: ${bad.join(", ")}`);
  }

  return { side, below, show, open, tell, update: panel.update, learn: panel.learn, openPlace: panel.open, showMap: map.show };
}
