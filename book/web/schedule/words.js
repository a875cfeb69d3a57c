/** Every sentence of the figure. Each number in it comes from the model. */

import { SCHEDULES } from "./data.js";
import { causes, critical, LETTERS, messages, needed } from "./model.js";
import { inNumber } from "../shared/number.js";

export const KINDS = ["forward", "backward", "backward for inputs", "backward for weights"];

const BY_NAME = new Map(SCHEDULES.map((one) => [one.name, one]));

export const about = (name) => BY_NAME.get(name);
export const title = (name) => BY_NAME.get(name).title;

/** A number with no more digits than it needs. */
export const num = (value, digits = 2) =>
  Number(value.toFixed(digits)).toLocaleString("en", { maximumFractionDigits: digits });

export const percent = (share) => `${(100 * share).toFixed(1)} %`;

const counted = (count, words) => `${num(count)} ${inNumber(count, words)}`;

export const units = (time) => counted(time, "units");
export const microBatches = (count) => counted(count, "micro-batches");

/** A reason of the package in the page's own words for the sizes. */
export function plainly(reason) {
  if (!reason) return "";
  const [name, ...rest] = reason.split(" ");
  const text = [BY_NAME.get(name)?.title ?? name, ...rest].join(" ");
  const said = text.replace(/_/g, "-").replace(/ ?([<>]?=) ?/g, " $1 ");
  return `${said}.`;
}

/** The outputs, by the name that the page marks them with. */
export function outputs(run) {
  return {
    idle: percent(run.bubble_fraction),
    step: units(run.makespan),
    peak: microBatches(run.peak),
    overhead: percent(run.bubble_overhead),
    "idle-units": num(run.idle),
    "all-units": num(run.p * run.makespan),
    sends: num(messages(run)),
  };
}

/** Sizes in words: "4 GPUs, 8 micro-batches". */
export const sizes = (run) =>
  `${counted(run.p, "GPUs")}, ${microBatches(run.m)}` + (run.v > 1 ? `, ${run.v} chunks a GPU` : "");

const PLACES = {
  fill: "at the start, while the line fills",
  drain: "at the end, while it drains",
  send: "while messages travel",
  imbalance: "in the middle, where neighbours are late",
};

/** Where most of the idle time is. */
export function where(run) {
  const found = Object.entries(causes(run)).filter(([, time]) => time > 1e-9);
  if (!found.length) return "No GPU is ever idle.";
  found.sort((a, b) => b[1] - a[1]);
  const parts = found.map(([cause, time]) => `${num(time)} ${PLACES[cause]}`);
  return `Idle GPU-units: ${parts.join("; ")}.`;
}

/** The name of a picture for those who hear it. */
export const summary = (run) =>
  `${title(run.name)}, ${sizes(run)}. ${percent(run.bubble_fraction)} of GPU time is idle, ` +
  `the step takes ${units(run.makespan)}, at most ${microBatches(run.peak)} held on one GPU. ` +
  where(run);

/** What each story is called, and what to see in it: pieces in [brackets] are outputs. */
export const TELL = [
  ["One micro-batch", "Only one GPU works at a time: [idle] of GPU time is idle."],
  [
    "Few micro-batches",
    "As many micro-batches as stages: two hatched triangles take [idle] of GPU time.",
  ],
  ["Many, in bulk", "Four times the micro-batches shrink the share to [idle], but a GPU now holds [peak]."],
  [
    "1F1B",
    "The same hatched area, [idle]. What 1F1B saves is memory: [peak] at most.",
  ],
  [
    "Interleaved",
    "Two smaller chunks a GPU cut idle time to [idle], for [sends] messages a step.",
  ],
  [
    "Zero bubble",
    "The backward is cut in two, and its weight half (W) fills holes: [idle] idle, [peak] held.",
  ],
  [
    "Both ends",
    "Micro-batches enter at both ends: [idle] idle, with two copies of the weights and [peak] held.",
  ],
];

/** A box in one line: what, when, and what it waited for. */
export function boxLine(run, box) {
  const { kind, mb, stage, start, end, rank } = box;
  const before = run.rows[rank][box.i - 1];
  const waited = start - (before ? before.end : 0);
  const source = needed(run, box);
  const chunk = run.v > 1 ? `, stage ${stage}` : "";
  const what = `GPU ${rank}, ${num(start)} to ${num(end)}: ${KINDS[kind]} of micro-batch ${mb + 1}${chunk}`;
  const needs = source
    ? `needs ${LETTERS[source.kind]}${source.mb + 1} of GPU ${source.rank}, done at ${num(source.end)}`
    : "needs nothing: the first stage";
  const idle = waited > 1e-9 ? `; the GPU waited ${num(waited)}` : "";
  return `${what}; ${needs}${idle}.`;
}

/** An idle stretch in one line: why. */
export function gapLine(run, gap) {
  const what = `GPU ${gap.rank}, ${num(gap.from)} to ${num(gap.to)}: idle`;
  if (!gap.next) return `${what}; its work is done, and the others end at ${num(run.makespan)}.`;
  const source = needed(run, gap.next);
  const name = `${LETTERS[gap.next.kind]}${gap.next.mb + 1}`;
  if (!source) return `${what}; ${name} is next.`;
  const from = `${LETTERS[source.kind]}${source.mb + 1} of GPU ${source.rank}`;
  const travel = gap.to - source.end;
  const late = travel > 1e-9 ? `, and its message takes ${num(travel)}` : "";
  return `${what}; ${name} is next and needs ${from}, which ends at ${num(source.end)}${late}.`;
}

/** The critical path in one line. */
export function pathLine(run) {
  const path = critical(run);
  const busy = path.reduce((sum, box) => sum + box.end - box.start, 0);
  const gpus = new Set(path.map((box) => box.rank)).size;
  return (
    `The longest chain: ${counted(path.length, "actions")} on ${counted(gpus, "GPUs")}, ` +
    `${num(busy)} of ${units(run.makespan)} at work.`
  );
}

/** The command that runs the same schedule; its times are those of one chunk. */
export function command(state, run) {
  const parts = ["steptime schedule", run.name, `-p ${run.p}`, `-m ${run.m}`];
  if (run.v > 1) parts.push(`-v ${run.v}`);
  const whole = state.ti + state.tw;
  const times = {
    forward: [state.tf, run.v],
    backward: [whole, 2 * run.v],
    input: [state.ti, whole / 2],
    weight: [state.tw, whole / 2],
  };
  for (const [name, [time, usual]] of Object.entries(times)) {
    if (time !== usual) parts.push(`--${name} ${+(time / run.v).toFixed(6)}`);
  }
  if (state.th > 0) parts.push(`--pair ${+((state.tf + whole - state.th) / run.v).toFixed(6)}`);
  if (state.ts > 0) parts.push(`--send-latency ${state.ts}`);
  if (state.tl !== 1) parts.push(`--stage-scale ${[...Array(run.stages - 1).fill(1), state.tl]}`);
  return parts.join(" ");
}

const KEYS = [
  ["F forward", "k0", []],
  ["B backward", "k1", ["low", "high"]],
  ["I backward for inputs", "k2", ["low"]],
  ["W backward for weights", "k3", ["high"]],
];

/** The key to colours and marks, for the kinds that are in the picture. */
export function legend(runs, state) {
  const used = new Set(runs.flatMap((run) => run.rows[0].map((box) => box.kind)));
  const keys = KEYS.map(
    ([name, kind, edges], i) => used.has(i) && swatch(name, kind, edges),
  ).filter(Boolean);
  if (runs.some((run) => run.v > 1)) keys.push(swatch("later chunk", "k0 later", []));
  if (runs.some((run) => run.both))
    keys.push(swatch("other direction", "k0 later", []));
  keys.push(swatch("idle", "idle", []));
  if (state.h) keys.push(swatch("held in memory", "held", []));
  if (state.k) keys.push(swatch("longest chain", "crit", []));
  return keys.join(" ");
}

const swatch = (name, kind, edges) =>
  `<span><i class="${kind} ${edges.join(" ")}"></i>${name}</span>`;
