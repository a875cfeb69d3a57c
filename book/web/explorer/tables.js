/** The same numbers as tables, and two layouts side by side once one is pinned. */

import { fill, h } from "./dom.js";
import { gb, seconds } from "./format.js";
import { MEMORY_PARTS, placeWord, stepParts } from "./outs.js";

const SCROLLS = { class: "scroll", role: "region", tabindex: 0 };

/** Make the tables; `show` fills them. */
export function makeTables() {
  const memory = h("table", { class: "data", "data-table": "memory" });
  const step = h("table", { class: "data", "data-table": "step" });
  const compare = h("div", { class: "compare" });
  const element = h(
    "div",
    {},
    compare,
    h(
      "details",
      { class: "tables" },
      h("summary", {}, "Table: memory by stage, time by part"),
      h("div", { ...SCROLLS, "aria-label": "Memory by stage" }, memory),
      h("div", { ...SCROLLS, "aria-label": "Time by part" }, step),
    ),
  );
  const details = element.querySelector("details");
  let shown = null;
  // Nobody reads a closed table: it is filled when it opens.
  details.addEventListener("toggle", () => details.open && shown && fillBoth());

  function fillBoth() {
    fillMemory(memory, shown);
    fillStep(step, shown);
  }

  function show(answer, numbers, pinned) {
    shown = answer;
    if (details.open) fillBoth();
    fill(compare, pinned && compareTable(pinned, numbers));
  }
  return { element, show };
}

function row(header, cells, name) {
  return h(
    "tr",
    name ? { "data-row": name } : {},
    h("th", { scope: "row" }, header),
    cells.map((cell) => h("td", {}, cell)),
  );
}

function head(cells) {
  return h("thead", {}, h("tr", {}, cells.map((cell) => h("th", { scope: "col" }, cell))));
}

function fillMemory(table, answer) {
  const { stages, worst } = answer.memory;
  const place = placeWord(answer);
  const names = stages.map((stage, index) => `${place} ${index + 1}${index === worst ? " (fullest)" : ""}`);
  fill(
    table,
    h("caption", {}, `Memory of one GPU of each pipeline ${place}, GB`),
    head(["Part", ...names]),
    h(
      "tbody",
      {},
      MEMORY_PARTS.map(([key, word]) => row(word, stages.map((stage) => gb(stage[key])), key)),
      row("total", stages.map((stage) => gb(stage.total)), "total"),
    ),
  );
}

function fillStep(table, answer) {
  const { steps } = answer;
  const keys = new Map(steps.flatMap((step) => stepParts(step.parts)));
  fill(
    table,
    h("caption", {}, "Time of one step by part, exposed"),
    head(["Part", ...steps.map((step) => step.model.name)]),
    h(
      "tbody",
      {},
      [...keys].map(([key, word]) =>
        row(word, steps.map((step) => (key in step.parts ? seconds(step.parts[key]) : "–")), key),
      ),
      row("total", steps.map((step) => seconds(step.total)), "total"),
      row("published runs would take", steps.map((step) => (step.low === null ? "–" : `${seconds(step.low)} to ${seconds(step.high)}`)), "range"),
    ),
  );
}

const COMPARED = [
  ["gpus", "GPUs"],
  ["m", "micro-batches"],
  ["in_flight", "held at once"],
  ["memory", "fullest GPU"],
  ["optimizer", "of it optimizer"],
  ["activations", "of it activations"],
  ["step", "a step"],
  ["idle", "of it bubble"],
  ["tensor_parallel_share", "of it tensor-parallel"],
  ["context_parallel_share", "of it context-parallel"],
  ["expert_parallel_share", "of it all-to-all"],
  ["data_parallel_share", "of it data-parallel"],
  ["mfu", "MFU, attention in full"],
  ["tokens_per_s", "throughput"],
];

function compareTable(from, to) {
  const used = COMPARED.filter(([key]) => from[key]?.value || to[key]?.value);
  return h(
    "table",
    { class: "data", "data-table": "compare" },
    h("caption", {}, "The outlined layout and this one"),
    head(["Number", "outlined", "this"]),
    h(
      "tbody",
      {},
      used.map(([key, word]) =>
        row(
          word,
          [
            h("span", { "data-pin": key }, from[key]?.text ?? "–"),
            h("span", { "data-out": key }, to[key]?.text ?? "–"),
          ],
          key,
        ),
      ),
    ),
  );
}
