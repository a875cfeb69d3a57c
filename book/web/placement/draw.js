/** Draw domains: every GPU a square, coloured and lettered by its pipeline stage. */

import { h } from "../shared/dom.js";
import { coordinates, letter, next } from "./model.js";

export const MOST = 8;
const CELL = 13;
const GAP = 10;
const DARK_LETTER = [1, 2, 4];

/** Return squares side by side in one domain. */
const columns = (size) => (size <= 16 ? 4 : 8);

/** Return the picture of a job in a given width; `chosen` is the GPU that is told about. */
export function picture(job, width, chosen, label) {
  const side = columns(job.state.n);
  const high = Math.ceil(job.state.n / side);
  const boxWidth = side * CELL + 8;
  const boxHeight = high * CELL + 24;
  const across = Math.max(1, Math.floor((width + GAP) / (boxWidth + GAP)));
  const shown = Math.min(job.domains, job.state.n > 16 ? MOST : 4 * MOST);
  const height = Math.ceil(shown / across) * (boxHeight + GAP);
  const svg = h("svg", {
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": label,
    class: "rk-picture",
  });
  const mates = chosen < 0 ? new Set() : pipelineOf(job, chosen);
  for (let domain = 0; domain < shown; domain++) {
    const left = (domain % across) * (boxWidth + GAP);
    const top = Math.floor(domain / across) * (boxHeight + GAP);
    svg.append(h("text", { x: left, y: top + 10, class: "rk-name" }, String(domain + 1)));
    svg.append(
      h("rect", { x: left + 0.5, y: top + 14.5, width: boxWidth - 1, height: boxHeight - 16, rx: 3, class: "rk-box" }),
    );
    for (let place = 0; place < job.state.n; place++) {
      const x = left + 4 + (place % side) * CELL;
      const y = top + 18 + Math.floor(place / side) * CELL;
      const rank = domain * job.used + place;
      if (place >= job.used || rank >= job.devices) {
        svg.append(h("rect", { x: x + 1, y: y + 1, width: 11, height: 11, class: "rk-free" }));
        continue;
      }
      svg.append(...gpu(job, rank, x, y, chosen, mates));
    }
  }
  return { svg, shown };
}

/** Return what squares, letters and boxes stand for, each beside a sample of it. */
export function legend(job) {
  const stages = job.sizes.pp;
  const sample = (mark, words) => h("span", {}, h("svg", { viewBox: "0 0 13 13", width: 16, height: 16, "aria-hidden": "true" }, mark), words);
  const square = (stage) => {
    const shade = stage % 8;
    const ink = DARK_LETTER.includes(shade) ? "rk-ink rk-dark" : "rk-ink";
    const box = h("rect", { x: 1, y: 1, width: 11, height: 11, class: "rk-gpu rk-s" + shade });
    return stages > 1 ? [box, h("text", { x: 6.5, y: 9.5, class: ink }, letter(stage))] : [box];
  };
  const keys = [sample(square(0), stages > 1 ? "a GPU of the first pipeline stage" : "a GPU")];
  if (stages > 1) keys.push(sample(square(stages - 1), `of the last, stage ${stages}`));
  keys.push(sample(h("rect", { x: 0.5, y: 0.5, width: 12, height: 12, rx: 3, class: "rk-box" }), "one NVLink domain: a server or a rack"));
  if (job.domains * job.state.n > job.devices) {
    keys.push(sample(h("rect", { x: 1, y: 1, width: 11, height: 11, class: "rk-free" }), "left over"));
  }
  return keys;
}

/** Return one GPU's square and letter. */
function gpu(job, rank, x, y, chosen, mates) {
  const stage = coordinates(job, rank).pp;
  const shade = stage % 8;
  const marks = ["rk-gpu", "rk-s" + shade];
  if (rank === chosen) marks.push("rk-chosen");
  else if (mates.has(rank)) marks.push("rk-mate");
  const square = h("rect", {
    x: x + 1,
    y: y + 1,
    width: 11,
    height: 11,
    class: marks.join(" "),
    "data-rank": rank,
  });
  if (job.sizes.pp === 1) return [square];
  const ink = DARK_LETTER.includes(shade) ? "rk-ink rk-dark" : "rk-ink";
  return [square, h("text", { x: x + 6.5, y: y + 9.5, class: ink }, letter(stage))];
}

/** Return the ranks that pass activations on to, or from, one another with this one. */
function pipelineOf(job, rank) {
  const found = new Set();
  let at = rank - coordinates(job, rank).pp * job.strides.pp;
  while (at >= 0) {
    found.add(at);
    at = next(job, at);
  }
  return found;
}
