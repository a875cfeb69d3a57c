/** The same picture on bitmaps, for timelines of over 4,000 boxes: each tile is painted once. */

import { across, BARS, labels } from "./draw.js";
import { lastStarted } from "./model.js";

const TILE = 1024;
/** The colours that a tile is painted with. */
export const COLOURS = [
  "k0",
  "k1",
  "k2",
  "k3",
  "t0",
  "t1",
  "t2",
  "t3",
  "edge",
  "mark",
  "hatch",
  "ground",
  "held",
];

/** Fill `plot` with tiles as they come into view; returns a function that stops it. */
export function tiles(plot, run, g, colour, view) {
  const [width, height] = g.plot;
  const made = new Map();
  let stopped = false;
  function show() {
    const [from, to] = view();
    const [first, last] = [Math.floor(from / TILE), Math.floor((to - 1) / TILE)];
    for (const [at, tile] of made) {
      if (at < first - 2 || at > last + 2) {
        tile.remove();
        made.delete(at);
      }
    }
    for (let at = Math.max(0, first); at <= last && at * TILE < g.length; at += 1) {
      if (!made.has(at)) made.set(at, tile(at));
    }
  }
  function tile(at) {
    const size = Math.min(TILE, g.length - at * TILE);
    const [w, h] = g.narrow ? [width, size] : [size, height];
    const canvas = document.createElement("canvas");
    const scale = Math.min(2, devicePixelRatio || 1);
    canvas.width = Math.ceil(w * scale);
    canvas.height = Math.ceil(h * scale);
    canvas.style.cssText = `width:${w}px;height:${h}px;${g.narrow ? "top" : "left"}:${at * TILE}px`;
    plot.prepend(canvas);
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.translate(...(g.narrow ? [0, -at * TILE] : [-at * TILE, 0]));
    work(
      paint(pen, run, g, colour, (at * TILE) / g.unit, (at * TILE + size) / g.unit),
      () => stopped,
    );
    return canvas;
  }
  show();
  return {
    show,
    stop: () => {
      stopped = true;
    },
  };
}

/** Run a painter for at most 8 ms a frame, so that the page stays quick. */
function work(painter, stopped) {
  if (stopped()) return;
  const until = performance.now() + 8;
  while (performance.now() < until) if (painter.next().done) return;
  requestAnimationFrame(() => work(painter, stopped));
}

/** Paint one GPU after the other, pausing after each. */
function* paint(pen, run, g, colour, from, to) {
  const hatch = pen.createPattern(stripes(colour), "repeat");
  pen.textAlign = "center";
  pen.font = "10.5px system-ui, sans-serif";
  pen.lineWidth = 0.75;
  const label = labels(run, g);
  const dense = (run.makespan / run.rows[0].length) * g.unit < 3;
  for (const row of run.rows) {
    const { rank } = row[0];
    pen.fillStyle = hatch;
    pen.fillRect(...g.rect(rank, from, Math.min(to, run.makespan), 0, g.box));
    if (dense) shares(pen, row, g, colour, from, to);
    else {
      for (
        let i = Math.max(0, lastStarted(row, from));
        i < row.length && row[i].start < to;
        i += 1
      ) {
        one(pen, row[i], g, colour, label);
      }
    }
    yield rank;
  }
}

/** Where boxes are thinner than a pixel: stack the share of each kind in every pixel. */
function shares(pen, row, g, colour, from, to) {
  const first = Math.floor(from * g.unit);
  const count = Math.ceil((to - from) * g.unit) + 1;
  const parts = [0, 1, 2, 3].map(() => new Float32Array(count));
  for (let i = Math.max(0, lastStarted(row, from)); i < row.length && row[i].start < to; i += 1) {
    const { kind, start, end, half } = row[i];
    const [a, b] = [start * g.unit - first, end * g.unit - first];
    for (let at = Math.max(0, Math.floor(a)); at < Math.min(b, count); at += 1) {
      parts[kind][at] += (Math.min(b, at + 1) - Math.max(a, at)) * (half === 2 ? 1 : 0.5);
    }
  }
  const step = 1 / (2 * g.box);
  for (let at = 0; at < count; at += 1) {
    let low = 0;
    for (const kind of [0, 1, 2, 3]) {
      const share = Math.round(parts[kind][at] / step) * step;
      if (share === 0) continue;
      const high = Math.min(1, low + share);
      pen.fillStyle = colour[`k${kind}`];
      const time = (first + at) / g.unit;
      pen.fillRect(...g.rect(row[0].rank, time, time + 1 / g.unit, low * g.box, high * g.box));
      low = high;
    }
  }
}

function one(pen, box, g, colour, label) {
  const [top, base] = across(box, g);
  const spot = g.rect(box.rank, box.start, box.end, top, base);
  const along = (box.end - box.start) * g.unit;
  pen.fillStyle = colour[`k${box.kind}`];
  pen.fillRect(...spot);
  if (along < 4) return;
  pen.strokeStyle = along < 8 ? colour.mark : colour.edge;
  pen.strokeRect(spot[0] + 0.4, spot[1] + 0.4, spot[2] - 0.8, spot[3] - 0.8);
  pen.fillStyle = colour.mark;
  for (const edge of BARS[box.kind]) {
    const low = edge === "low" ? base - 1.5 : top;
    pen.fillRect(...g.rect(box.rank, box.start, box.end, low, low + 1.5));
  }
  const words = label(box);
  if (words) {
    pen.fillStyle = colour[`t${box.kind}`];
    pen.fillText(words, spot[0] + spot[2] / 2, spot[1] + spot[3] / 2 + 3.6);
  }
}

function stripes(colour) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 6;
  const pen = canvas.getContext("2d");
  pen.fillStyle = colour.ground;
  pen.fillRect(0, 0, 6, 6);
  pen.strokeStyle = colour.hatch;
  pen.lineWidth = 1.3;
  pen.beginPath();
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift, 6);
    pen.lineTo(shift + 6, 0);
  }
  pen.stroke();
  return canvas;
}
