/** The runs shown, as a table. */

import { h } from "../shared/dom.js";
import { errorOf, predicted } from "./model.js";
import { MODEL_NAMES, onWhat, seconds, signed } from "./words.js";

const HEADS = ["Run", "GPUs", "Layout", "Source", "Published", "Predicted", "Error"];

/** Return the table of runs by a model. */
export function table(runs, model) {
  const cells = (run) => [
    onWhat(run), run.layout, `${run.sourceName}, ${run.place}`, seconds(run.published),
    seconds(predicted(run, model)), signed(errorOf(run, model)),
  ];
  return h("table", {},
    h("caption", {}, `Published and predicted step time of the ${runs.length} runs shown, by: ${MODEL_NAMES[model].toLowerCase()}`),
    h("thead", {}, h("tr", {}, HEADS.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, runs.map((run) =>
      h("tr", { "data-row": run.id }, h("th", { scope: "row" }, run.model), cells(run).map((cell) => h("td", {}, cell))))));
}
