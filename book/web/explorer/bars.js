/** Stacked bars on a scale that starts at 0: memory with its limit line, and step time. */

import { fill, h } from "./dom.js";

const PAD = { top: 18, bottom: 18, gap: 17 };
/** Where a scale may end, and in how many steps. */
const ROUNDS = [[1, 5], [1.5, 3], [2, 4], [3, 3], [4, 4], [5, 5], [6, 3], [8, 4], [10, 5]];

/** The end of a scale and its steps: the first round number of a unit that is not below a value. */
function roundScale(value, unit) {
  const power = 10 ** Math.floor(Math.log10(value / unit)) * unit;
  const [times, steps] = ROUNDS.find(([one]) => one * power >= value * 0.999999);
  const top = times * power;
  return { top, ticks: Array.from({ length: steps + 1 }, (_, at) => (top * at) / steps) };
}

/** The scale of a time: round in the unit that the ticks are printed in. */
export function timeScale(value) {
  const least = [172800, 36000, 600].find((one) => value >= one);
  return roundScale(value, { 172800: 86400, 36000: 3600, 600: 60 }[least] ?? 1);
}

/** The scale of memory: it holds the limit, with room for its name, and every total. */
export const memoryScale = (limit, ...totals) => roundScale(Math.max(limit * 1.04, ...totals), 1e9);

/**
 * Draw stacked bars.
 * @param {HTMLElement} host - What holds the drawing.
 * @param {object} chart - `label`, `width` in pixels, `top`, `ticks` ([value, text]), `limit` ({value, text}), and
 *   `rows`: {name, height, parts: [{key, value, label, text, slot}], ghost, faded, range}.
 */
export function drawBars(host, chart) {
  const width = chart.width || 640;
  const at = (value) => `${((value / chart.top) * 100).toFixed(4)}%`;
  const marks = [];
  let y = PAD.top;
  for (const row of chart.rows) {
    marks.push(...drawRow(row, y, at, width, chart));
    y += row.height + (row.ghost ? 13 : 0) + PAD.gap;
  }
  const bottom = y - PAD.gap + 1;
  const axis = chart.ticks.map(([value, label], index) => {
    const anchor = index === 0 ? "start" : value >= chart.top * 0.999 ? "end" : "middle";
    return [
      h("line", { class: "tick", x1: at(value), x2: at(value), y1: bottom, y2: bottom + 4 }),
      h("text", { class: "axis", x: at(value), y: bottom + 15, "text-anchor": anchor }, label),
    ];
  });
  const limit = chart.limit && [
    h("line", {
      class: "limit",
      "data-limit": chart.limit.value,
      x1: at(chart.limit.value),
      x2: at(chart.limit.value),
      y1: PAD.top - 4,
      y2: bottom + 4,
    }),
    h(
      "text",
      {
        class: "limit-text",
        x: at(chart.limit.value),
        y: PAD.top - 7,
        "text-anchor": chart.limit.value > chart.top * 0.7 ? "end" : "start",
      },
      chart.limit.text,
    ),
  ];
  const height = bottom + PAD.bottom;
  const svg = h(
    "svg",
    { role: "img", "aria-label": chart.label, height, width: "100%", "data-top": chart.top },
    hatch(chart.id),
    h("line", { class: "tick", x1: 0, x2: "100%", y1: bottom, y2: bottom }),
    marks,
    axis,
    limit,
  );
  fill(host, svg);
}

function drawRow(row, y, at, width, chart) {
  const marks = [];
  let sum = 0;
  for (const part of row.parts) {
    if (part.value > 0) marks.push(block(part, sum, y, row, at, width, chart));
    sum += part.value;
  }
  if (row.range) marks.push(whisker(row.range, y - 5, at));
  if (row.name) {
    // Above the bar, or behind it where the range of a short bar would cross the words.
    const low = ((row.range?.[0] ?? chart.top) / chart.top) * width;
    const above = row.name.length * 6.5 + 10 < low;
    const end = Math.max(sum, row.range?.[1] ?? 0);
    const place = above ? { x: 0, y: y - 4 } : { x: at(end), dx: 8, y: y + row.height / 2 + 4 };
    marks.push(h("text", { class: "row-name", ...place }, row.name));
  }
  if (row.ghost) marks.push(...drawGhost(row.ghost, y + row.height + 3, at, chart.top));
  return marks;
}

function block(part, start, y, row, at, width, chart) {
  const scale = width / chart.top;
  const [from, to] = clearOf((chart.limit?.value ?? -1) * scale, start * scale, (start + part.value) * scale);
  const label = [`${part.label} ${part.text}`, part.label, part.text].find(
    (text) => text.length * 6.3 + 8 < to - from,
  );
  const kind = `block slot-${part.slot}${row.faded ? " faded" : ""}${row.quiet ? " quiet" : ""}`;
  return h(
    "g",
    { class: kind, "data-block": part.key },
    h("rect", {
      x: at(start),
      width: at(part.value),
      y: y + 0.5,
      height: row.height - 1,
      "data-value": part.value,
      style: ["idle", "again"].includes(part.slot) ? `fill:url(#${chart.id}-${part.slot})` : null,
    }),
    label &&
      h("text", { x: at((from + to) / 2 / scale), y: y + row.height / 2 + 4, "text-anchor": "middle" }, label),
  );
}

/** The longer side of a line that crosses a block, where its name can be read. */
function clearOf(line, from, to) {
  if (line <= from || line >= to) return [from, to];
  return line - from > to - line ? [from, line] : [line, to];
}

function drawGhost(ghost, y, at, top) {
  let sum = 0;
  const marks = ghost.map((part) => {
    const start = sum;
    sum += part.value;
    if (part.value <= 0 || start >= top) return null;
    const size = Math.min(part.value, top - start);
    return h("rect", { class: "ghost", x: at(start), width: at(size), y, height: 7 });
  });
  return marks.filter(Boolean);
}

function whisker([low, high], y, at) {
  return h(
    "g",
    { class: "whisker" },
    h("line", { x1: at(low), x2: at(high), y1: y, y2: y }),
    h("line", { x1: at(low), x2: at(low), y1: y - 3, y2: y + 3 }),
    h("line", { x1: at(high), x2: at(high), y1: y - 3, y2: y + 3 }),
  );
}

/** Idle time is hatched one way, work done twice the other way. */
function hatch(id) {
  const pattern = (name, degrees) =>
    h(
      "pattern",
      {
        id: `${id}-${name}`,
        width: 6,
        height: 6,
        patternUnits: "userSpaceOnUse",
        patternTransform: `rotate(${degrees})`,
      },
      h("rect", { width: 6, height: 6, class: "hatch-ground" }),
      h("line", { x1: 0, x2: 0, y1: 0, y2: 6, class: `hatch-line hatch-${name}` }),
    );
  return h("defs", {}, pattern("idle", 45), pattern("again", -45));
}
