/** The map: every t x p (or micro-batches x p) at once, and why some cells are empty. */

import { fill, h, oneStop, toggles } from "./dom.js";
import { digits, gb, group, seconds } from "./format.js";
import { inNumber } from "../shared/number.js";
import { inLabels } from "./refused.js";
import { CHOICES } from "./state.js";

const MAPS = [
  ["t", "t × p, same GPUs"],
  ["d", "t × p, same copies"],
  ["m", "micro-batches × p"],
];
const SIZES = [1, 2, 4, 8, 16, 32, 64];

/** Make the map; `show(answer)` redraws it, `pick(state)` takes a cell. */
export function makeMap(id, machine, pick, data) {
  let kind = "t";
  let chosen = false;
  let now = null;
  const table = h("table", { class: "map" });
  const line = h("p", { class: "map-line", "data-out": "map-line" }, " ");
  const kinds = toggles(MAPS, (value) => {
    kind = value;
    chosen = true;
    show(now);
  });
  const chooser = h(
    "div",
    { class: "options map-kind", role: "group", "aria-labelledby": `${id}-map` },
    h("span", { id: `${id}-map` }, "Map of"),
    kinds.buttons,
  );
  const element = h("div", { class: "map-box" }, chooser, table, line);
  const settle = oneStop(element, "button", () => [
    kinds.buttons,
    ...[...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("button")]),
  ]);

  function cellState(state, row, column) {
    if (kind === "t") return { ...state, tp: row, pp: column };
    if (kind === "d") {
      return { ...state, tp: row, pp: column, n: (state.n / (state.tp * state.pp)) * row * column };
    }
    const copies = state.n / (state.tp * state.cp * column);
    return { ...state, pp: column, batch: row * copies * state.mb };
  }

  function rowsFor(state) {
    if (kind !== "m") return CHOICES.tp;
    const current = state.batch / ((state.n / (state.tp * state.cp * state.pp)) * state.mb);
    const list = new Set([1, 2, 4, 8, 16, 32, 64, 128]);
    if (Number.isInteger(current) && !list.has(current)) list.add(current);
    return [...list].sort((a, b) => a - b);
  }

  function show(answer) {
    now = answer;
    const { state } = answer;
    // With few GPUs nearly every cut is impossible: then the copies stay the same instead.
    if (!chosen) kind = state.n >= 64 ? "t" : "d";
    kinds.press(kind);
    const rows = rowsFor(state);
    const cells = rows.map((row) => SIZES.map((column) => machine.quick(cellState(state, row, column))));
    const times = cells
      .flat()
      .filter((cell) => cell.memory && cell.memory.verdict !== "over")
      .map(cost);
    const span = [Math.min(...times), Math.max(...times)];
    const shown = cells.flat().filter((cell) => cell.memory?.verdict && cell.memory.verdict !== "over");
    const unit = unitFor(Math.max(0, ...shown.map((cell) => cell.seconds)));
    const focused = table.contains(document.activeElement)
      ? [...table.querySelectorAll("button")].indexOf(document.activeElement)
      : -1;
    fill(
      table,
      h("caption", {}, caption(unit[1])),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, kind === "m" ? "m \\ p" : "t \\ p"),
          SIZES.map((size) => h("th", { scope: "col" }, String(size))),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row, index) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, String(row)),
            cells[index].map((cell) => h("td", {}, button(cell, state, span, unit))),
          ),
        ),
      ),
    );
    settle();
    if (focused >= 0) table.querySelectorAll("button")[focused]?.focus();
  }

  // Rows of micro-batches change the work in a step, so time is compared per sequence.
  const cost = (cell) => (kind === "m" ? cell.seconds / cell.state.batch : cell.seconds);

  function button(cell, state, span, unit) {
    const here = cell.state.tp === state.tp && cell.state.pp === state.pp && cell.state.batch === state.batch;
    const over = cell.memory?.verdict === "over";
    const level = cell.memory && !over ? shade(cost(cell), span) : 0;
    const mark = cell.refused ? "never" : over ? "over" : `level-${level}`;
    const words = cellWords(cell, data);
    const shown = cell.refused ? "–" : over ? `✕${gb(cell.memory.total)}` : digits(cell.seconds / unit[0]);
    return h(
      "button",
      {
        type: "button",
        class: `cell ${mark}`,
        tabindex: -1,
        "aria-pressed": String(here),
        // Who speaks to the page says what is seen.
        "aria-label": `${shown}: ${words}`,
        onfocus: () => tell(words),
        onpointerenter: () => tell(words),
        onclick: () => pick(cell.state, "map"),
      },
      shown,
    );
  }

  function tell(words) {
    line.textContent = words;
  }

  function caption(unit) {
    const what = {
      t: `Step time in ${unit} by tensor-parallel size t (down) and pipeline stages p (across), same GPUs; the fastest stand out.`,
      d: `Step time in ${unit} by t (down) and p (across), with as many copies d, so on more GPUs; the fastest stand out.`,
      m: `Step time in ${unit} by micro-batches m (down) and p (across); the fastest per sequence stand out.`,
    }[kind];
    return `${what} ✕ does not fit (GB), – not possible.`;
  }
  return { element, show };
}

/** One unit for all cells: size and name. */
function unitFor(longest) {
  if (longest >= 36000) return [3600, "hours"];
  if (longest >= 6000) return [60, "minutes"];
  return longest < 1 ? [1e-3, "ms"] : [1, "seconds"];
}

/** The words of one cell: what it is, how long it takes, or why it cannot be. */
function cellWords(cell, data) {
  const { state } = cell;
  const gpus = `${group(state.n)} ${inNumber(state.n, "GPUs")}`;
  const name = `t ${state.tp}, p ${state.pp}, ${gpus}, batch ${group(state.batch)}`;
  if (cell.refused) return `${name}: not possible. ${inLabels(cell.refused.text, data)}.`;
  const memory = `${gb(cell.memory.total)} of ${gb(cell.memory.limit)} GB`;
  if (cell.memory.verdict === "over") return `${name}: does not fit, ${memory}.`;
  return `${name}: ${seconds(cell.seconds)} a step, ${memory}.`;
}

/** Five steps on a scale of ratios: 5 is the fastest. */
function shade(value, [least, most]) {
  if (!(most > least)) return 5;
  const place = Math.log(value / least) / Math.log(most / least);
  return 5 - Math.min(4, Math.floor(place * 5));
}

