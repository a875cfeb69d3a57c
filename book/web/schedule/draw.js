/** A timeline as SVG text: one string, so that 4,000 boxes are one parse. */

import { LETTERS } from "./model.js";
import { ticks } from "./geometry.js";

const LETTER = 6.4;
const r2 = (value) => Math.round(value * 100) / 100;

/**
 * Return a function from a box to what is written in it: letter and micro-batch, the
 * micro-batch alone, or nothing. All boxes of one kind and length are treated alike.
 */
export function labels(run, g) {
  const digits = String(run.m).length;
  const strip = run.v > 1 || run.both ? 1 : 0;
  return (box) => {
    const along = (box.end - box.start) * g.unit - sideOf({ ...box, side: strip }, g);
    const room = box.half === 2 ? g.box : g.box / 2;
    const [wide, high] = g.narrow ? [room, along] : [along, room];
    if (high < 9.5 || digits * LETTER + 1 > wide) return "";
    return ((digits + 1) * LETTER + 2 <= wide ? LETTERS[box.kind] : "") + (box.mb + 1);
  };
}

/** The width of the strip that tells a later chunk, or the other direction. */
function sideOf(box, g) {
  const length = (box.end - box.start) * g.unit;
  return box.side ? (length < 9 ? 1.2 : length < 15 ? 2 : 3) : 0;
}

/** Return from where to where across its row a box goes: half of it for one of a pair. */
export function across(box, g) {
  if (box.half === 2) return [0, g.box];
  return box.half ? [g.box / 2, g.box] : [0, g.box / 2];
}

/** Marks besides colour: which edges of a box carry a bar, low or high. */
export const BARS = [[], ["low", "high"], ["low"], ["high"]];

/** Return the boxes, marks and labels of a chart as SVG text. */
export function drawing(run, g) {
  const [idle, boxes, texts, marks, sides, held] = [[], [], [], [], [], []];
  const label = labels(run, g);
  const bar = (g.unit * run.makespan) / run.rows[0].length < 9 || g.box < 14 ? 1.5 : 2.5;
  for (const row of run.rows) {
    const rank = row[0].rank;
    idle.push(
      `<rect class="idle" data-gpu="${rank}" ${at(g.rect(rank, 0, run.makespan, 0, g.box))}/>`,
    );
    for (const box of row) {
      const [top, base] = across(box, g);
      const spot = g.rect(rank, box.start, box.end, top, base);
      boxes.push(
        `<rect class="k${box.kind}" data-gpu="${rank}" data-op="${LETTERS[box.kind]}" data-mb="${box.mb}"` +
          ` data-stage="${box.stage}" data-start="${box.start}" data-end="${box.end}" ${at(spot)}/>`,
      );
      for (const edge of BARS[box.kind]) {
        const thick = box.half === 2 ? bar : 1;
        const low = edge === "low" ? base - thick : top;
        marks.push(path(g.rect(rank, box.start, box.end, low, low + thick)));
      }
      if (box.side) {
        sides.push(path(g.rect(rank, box.start, box.start + sideOf(box, g) / g.unit, top, base)));
      }
      const words = label(box);
      if (words) {
        const [x, y, w, h] = g.rect(rank, box.start + sideOf(box, g) / g.unit, box.end, top, base);
        texts.push(
          `<text class="t${box.kind}" x="${r2(x + w / 2)}" y="${r2(y + h / 2 + 3.6)}">${words}</text>`,
        );
      }
    }
    if (g.held) {
      const base = g.box + g.held;
      held.push(
        `<path class="held" d="${stairs(run, g, rank)}${path(g.rect(rank, 0, run.makespan, base, base + 0.6))}"/>`,
      );
    }
  }
  return (
    idle.join("") +
    held.join("") +
    boxes.join("") +
    `<path class="mark" d="${marks.join("")}"/><path class="side" d="${sides.join("")}"/>` +
    texts.join("")
  );
}

const at = ([x, y, w, h]) => `x="${r2(x)}" y="${r2(y)}" width="${r2(w)}" height="${r2(h)}"`;
const path = ([x, y, w, h]) => `M${r2(x)} ${r2(y)}h${r2(w)}v${r2(h)}h${r2(-w)}z`;

/** Return what a GPU holds over time as a stepped area beside its boxes. */
function stairs(run, g, rank) {
  const { time, held } = run.held[rank];
  const room = g.held - 3;
  const base = g.box + g.held;
  const scale = g.mostHeld ?? run.peak;
  const pieces = [];
  for (let i = 0; i < time.length; i += 1) {
    const end = i + 1 < time.length ? time[i + 1] : run.makespan;
    const size = (room * held[i]) / scale;
    if (end > time[i] && size > 0.01)
      pieces.push(path(g.rect(rank, time[i], end, base - size, base)));
  }
  return pieces.join("");
}

/** Return the axis of time: lines and numbers. */
export function axis(g) {
  const marks = ticks(g.span, g.unit, g.narrow ? 26 : 34).filter(
    (time) => (g.span - time) * g.unit > 12,
  );
  return marks
    .map((time) => {
      const along = r2(time * g.unit);
      return g.narrow
        ? `<path d="M26 ${along}h6"/><text x="23" y="${along + (time ? 4 : 9)}">${+time.toFixed(3)}</text>`
        : `<path d="M${along} 0v4"/><text x="${along}" y="15"${time ? "" : ' class="first"'}>${+time.toFixed(3)}</text>`;
    })
    .join("");
}
