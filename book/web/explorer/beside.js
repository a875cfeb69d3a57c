/** What stands beside an answer and below it: the form, stories, tools, tables and lists. */

import { h, text } from "./dom.js";
import { restsOn } from "./rests.js";
import { storyRow } from "./story-row.js";
import { storyOf } from "./stories.js";
import { makeTools } from "./tools.js";

/** Make it for a view; `show` follows what is shown there. */
export function makeBeside(root, view, data, machine, panel, actions, loadTexts) {
  let dialog = null;
  let map = null;
  let tables = null;
  let place = null;
  let told = null;
  const tools = makeTools(actions, data);
  const stories = storyRow(view.stories, actions);
  const assumptions = h("p", { class: "assumptions", "data-out": "assumptions" });
  const below = h("div", { class: "later" });
  const side = h("div", { class: "side" }, panel.element, tools.element);

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

  /** Put in what was fetched after the first answer. */
  function complete({ makeMap, makePlace, makeTables }) {
    place = makePlace(() => actions.software().catch(() => {}));
    if (told) place.append(told.element);
    map = makeMap(view.id, machine, actions.take, data);
    tables = makeTables();
    below.append(map.element, tables.element, assumptions, place);
    const { good, answer, numbers, against } = view.now() ?? {};
    if (!good) return;
    tables.show(good, numbers, against);
    view.write();
    map.show(answer);
  }

  /** Put in the lists of what was assumed and what is open. */
  function tell(made) {
    told = made;
    place?.append(told.element);
    if (view.now()?.good) told.show(view.now().good);
  }

  function show({ answer, good, pinned, numbers, against, story, bad, canUndo }) {
    if (good) {
      tables?.show(good, numbers, against);
      stories.show(story, storyOf(answer.state) === story, numbers, against);
      told?.show(good);
      text(assumptions, restsOn(good, data));
    }
    tools.show({ answer, good, pinned, canUndo });
    if (bad.length) view.note(`Not understood in the address, so left at the default: ${bad.join(", ")}`);
  }

  // What failed to come is asked for again by the first change that needs it.
  const failed = () => below.append(assumptions);
  return { side, below, show, open, complete, tell, failed, showMap: (answer) => map?.show(answer) };
}
