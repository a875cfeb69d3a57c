/** Two small pictures: memory of every stage, and which GPUs talk over which link. */

import { fill, h } from "./dom.js";
import { digits, gb, group } from "./format.js";
import { inNumber } from "../shared/number.js";
import { placeWord } from "./outs.js";

/** Draw a bar for each pipeline stage, parts stacked, with the limit across. */
export function drawStages(host, answer, parts, top) {
  const { stages, worst, limit } = answer.memory;
  const place = placeWord(answer);
  const height = 96;
  const ground = height - 16;
  const y = (bytes) => ground - (bytes / top) * (ground - 12);
  const wide = Math.min(100 / stages.length, 12);
  const bars = stages.map((stage, index) => {
    let sum = 0;
    return h(
      "g",
      { "data-stage": index },
      parts.map(([key, , slot]) => {
        const bytes = stage[key];
        const from = sum;
        sum += bytes;
        return (
          bytes > 0 &&
          h("rect", {
            class: `thin slot-${slot}`,
            x: `${index * wide + wide * 0.08}%`,
            width: `${wide * 0.84}%`,
            y: y(sum),
            height: Math.max(y(from) - y(sum), 0),
          })
        );
      }),
      index === worst &&
        stages.length > 1 &&
        h("rect", {
          class: "outline",
          x: `${index * wide + wide * 0.02}%`,
          width: `${wide * 0.96}%`,
          y: y(sum) - 2,
          height: ground - y(sum) + 2,
        }),
    );
  });
  const last = stages.length - 1;
  const names = [...new Set([0, last])].map((index) =>
    h(
      "text",
      {
        class: "axis",
        x: `${index * wide + (index === 0 ? 0 : wide)}%`,
        y: height - 3,
        "text-anchor": index === 0 ? "start" : "end",
      },
      index === 0 ? `${place} 1` : String(index + 1),
    ),
  );
  const list = stages.map((stage, index) => `${place} ${index + 1} ${gb(stage.total)} GB`).join(", ");
  const label = `Memory by pipeline ${place}, limit ${gb(limit)} GB: ${list}`;
  fill(
    host,
    h(
      "svg",
      { role: "img", "aria-label": label, width: "100%", height },
      bars,
      names,
      h("line", { class: "limit", x1: 0, x2: "100%", y1: y(limit), y2: y(limit) }),
      h("line", { class: "tick", x1: 0, x2: "100%", y1: ground, y2: ground }),
    ),
  );
}

const CELL = 15;
const GAP = 5;

/** Draw the GPUs of the first stages in their NVLink domains: T, C, and other copies. */
export function drawServers(host, answer, room) {
  const { job, state } = answer;
  const domain = job.nvlink_domain;
  const ours = job.tp * job.cp;
  const width = room || 320;
  const fit = (count) => count * CELL + Math.floor((count - 1) / domain) * GAP + 10 <= width - 16;
  const most = Math.min(Math.max(domain, ours), ours * job.dp);
  let shown = 1;
  while (shown < most && fit(shown + 1)) shown += 1;
  const rows = Math.min(job.pp, 3);
  const marks = [];
  for (let row = 0; row < rows; row += 1) marks.push(...stageRow(row, shown, job, domain));
  const more = [];
  if (job.pp > rows) more.push(`… ${job.pp - rows} more ${inNumber(job.pp - rows, "stages")} below`);
  const rest = ours * job.dp - shown;
  if (rest > 0) more.push(`${group(rest)} more ${inNumber(rest, "GPUs")} a stage`);
  const height = rows * (CELL + 9) + 18;
  const note = h("text", { class: "axis", x: 0, y: height - 4 }, more.join(", "));
  const label = serverWords(answer).join(" ");
  const lines = serverWords(answer).map((line) => h("li", {}, line));
  fill(
    host,
    h("svg", { role: "img", "aria-label": label, width: "100%", height }, marks, note),
    h("ul", { class: "links" }, lines),
  );
  host.dataset.crosses = String(job.tp > domain);
  return state;
}

function stageRow(row, shown, job, domain) {
  const y = row * (CELL + 9) + 4;
  const x = (index) => index * CELL + Math.floor(index / domain) * GAP + 4;
  const marks = [];
  for (let from = 0; from < shown; from += domain) {
    const to = Math.min(from + domain, shown);
    const size = { x: x(from) - 3, y: y - 3, width: x(to - 1) - x(from) + CELL + 4, height: CELL + 4 };
    marks.push(h("rect", { class: "server", rx: 3, ...size }));
  }
  for (let index = 0; index < shown; index += 1) {
    const kind = index < job.tp ? "T" : index < job.tp * job.cp ? "C" : "D";
    const cell = { x: x(index), y, width: CELL - 2, height: CELL - 2 };
    marks.push(
      h(
        "g",
        { class: `gpu gpu-${kind}` },
        h("rect", cell),
        h("text", { x: x(index) + (CELL - 2) / 2, y: y + 10.5, "text-anchor": "middle" }, kind),
      ),
    );
  }
  if (row > 0) {
    marks.push(h("path", { class: "send", d: `M${x(0) + 6} ${y - 8} v4 m-3 -3 l3 3 l3 -3` }));
  }
  return marks;
}

/** Say which group talks over which link, ranks placed side by side in the order t, c, d, p. */
export function serverWords(answer) {
  const { job } = answer;
  const domain = job.nvlink_domain;
  const near = answer.link;
  const rate = (bytes) => `${digits(bytes / 1e9)} GB/s`;
  const link = (ranks) =>
    ranks <= domain
      ? `${near} ${rate(job.nvlink_bytes_per_s)}`
      : `network ${rate(job.network_bytes_per_s)}`;
  const words = [];
  if (job.tp > domain) {
    const spans = `T: tensor group of ${job.tp} over ${Math.ceil(job.tp / domain)} domains of ${domain}`;
    const blind = answer.chosen.model.key === "baseline" ? ", which only the roofline counts" : "";
    words.push(`${spans}: the network inside every layer${blind}.`);
  } else if (job.tp > 1) {
    const inside = domain === 8 ? "one server" : `one ${near} domain`;
    words.push(`T: tensor group of ${job.tp}, inside ${inside}, ${link(job.tp)}.`);
  }
  if (job.cp > 1) words.push(`C: ${job.cp} pieces of each sequence, ${link(job.tp * job.cp)}.`);
  if (job.ep > 1) {
    const cut = job.etp > 1 ? ` × ${job.etp}` : "";
    words.push(`Experts over ${job.ep}${cut} GPUs, ${link(job.ep * job.etp)}.`);
  }
  const stage = job.tp * job.cp * job.dp;
  if (job.pp > 1) words.push(`${job.pp} stages, each sends to the next, ${link(stage * job.pp)}.`);
  words.push(
    job.dp > 1
      ? `D: ${group(job.dp)} copies add up gradients, ${link(stage)}.`
      : "One copy of the model.",
  );
  return words;
}
