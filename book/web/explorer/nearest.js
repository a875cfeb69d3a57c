/** The way out: the smallest change that makes a layout legal, or makes it fit. */

import { group } from "./format.js";
import { inNumber } from "../shared/number.js";
import { wordFor } from "./controls.js";
import { BOUNDS, CHOICES, chunksOf, inBounds } from "./state.js";

const NAMES = {
  n: "GPUs",
  tp: "tensor parallel",
  pp: "pipeline stages",
  cp: "context parallel",
  ep: "expert parallel",
  etp: "expert tensor parallel",
  copies: "sharded copies",
  zero: "ZeRO stage",
  recompute: "recomputation",
  mb: "micro-batch",
  schedule: "schedule",
  vpp: "chunks",
  batch: "batch",
  seq: "sequence",
  sp: "sequence parallel",
  precision: "precision",
  date: "month",
  facts: "single facts",
};

/** Schedules that hold fewer micro-batches than others, with their chunks. */
const LEANER = [
  ["1f1b", 1],
  ["v-half", 2],
  ["v-min", 2],
];

/** Say a change in words: "pipeline stages 8 on 64 GPUs". */
export function changeText(from, to, data) {
  // A schedule that fixes its chunks brings them along.
  const quiet = from.schedule !== to.schedule && chunksOf(to.schedule, data) ? ["n", "vpp"] : ["n"];
  const keys = Object.keys(NAMES).filter((key) => from[key] !== to[key] && !quiet.includes(key));
  const words = keys.map((key) => `${NAMES[key]} ${wordOf(key, to[key], data)}`);
  const gpus = `${group(to.n)} ${inNumber(to.n, "GPUs")}`;
  if (from.n !== to.n) words.push(words.length ? `on ${gpus}` : gpus);
  return words.join(" + ").replace(" + on ", " on ");
}

function wordOf(key, value, data) {
  if (key === "sp") return value ? "on" : "off";
  if (value === "") return "not stated";
  return wordFor(key, value, data);
}

/** Return a legal state near an illegal one: first the field that the rule blames. */
export function nearestLegal(state, refused, legal) {
  const blamed = { ...state, [refused.field]: refused.value };
  if (refused.field === "schedule") blamed.vpp = 2;
  const plain = { ...state, ep: 1, etp: 1, vpp: 1, schedule: "1f1b" };
  const tries = [blamed];
  if (refused.field in BOUNDS) tries.push(...around(state, refused.field));
  for (const key of ["n", "batch", "tp", "pp", "cp", "ep", "etp"]) tries.push(...around(state, key));
  for (const one of around(blamed, "batch")) tries.push(one);
  tries.push({ ...state, vpp: 1, schedule: "1f1b" });
  for (const one of around(plain, "n")) tries.push(one);
  tries.push(wholeBatch({ ...plain, n: state.tp * state.cp * state.pp }));
  tries.push({ ...plain, n: 1, tp: 1, cp: 1, pp: 1, mb: 1 });
  return tries.find((one) => allowed(one) && !legal(one)) ?? null;
}

function wholeBatch(state) {
  return { ...state, batch: Math.max(1, state.n / (state.tp * state.cp * state.pp)) * state.mb };
}

function allowed(state) {
  return Object.keys(BOUNDS).every((key) => inBounds(key, state[key]));
}

function around(state, key) {
  const value = state[key];
  const values = CHOICES[key] ?? [value * 2, value / 2, value * 4, value / 4, value * 8];
  const far = (one) => Math.abs(Math.log2(Math.max(one, 0.1) / Math.max(value, 0.1)));
  return [...values]
    .filter((one) => one !== value)
    .sort((a, b) => far(a) - far(b))
    .map((one) => ({ ...state, [key]: one }));
}

/** Every change of one input that could save memory. */
function savings(state, experts) {
  const list = [];
  const put = (change) => list.push({ ...state, ...change });
  if (state.recompute === "none") put({ recompute: "selective" });
  if (state.recompute !== "full") put({ recompute: "full" });
  if (!state.sp && state.tp > 1) put({ sp: 1 });
  for (const zero of CHOICES.zero) if (zero > state.zero) put({ zero });
  if (state.mb > 1) put({ mb: 1 });
  for (const factor of [2, 4, 8, 16, 32]) {
    for (const key of ["pp", "tp", "cp"]) {
      const bigger = { [key]: state[key] * factor };
      if (bigger[key] > CHOICES[key][CHOICES[key].length - 1]) continue;
      put(bigger);
      put({ ...bigger, n: state.n * factor });
    }
    if (experts && state.ep * factor <= 64) put({ ep: state.ep * factor });
    if (experts && state.etp * factor <= 8) put({ etp: state.etp * factor });
  }
  for (const [schedule, vpp] of LEANER) if (schedule !== state.schedule) put({ schedule, vpp });
  return list;
}

/**
 * Return the change of one input that makes a layout fit with the least loss of time, on no
 * more GPUs than it must; with `deep` the best change of two inputs. Null where none does.
 */
export function nearestFit(state, quick, experts, deep = false) {
  const first = savings(state, experts);
  if (!deep) return best(first, state, quick);
  const second = first.slice(0, 24).flatMap((half) => savings(half, experts));
  return best(second, state, quick);
}

function best(states, from, quick) {
  let found = null;
  for (const state of states) {
    if (!allowed(state)) continue;
    const now = quick(state);
    if (now.refused || now.memory.verdict === "over") continue;
    // GPU-seconds: more GPUs must pay for themselves, and the same number comes first.
    const cost = now.seconds * state.n * (state.n === from.n ? 1 : 1.25);
    if (!found || cost < found.cost) found = { ...now, cost };
  }
  return found;
}
