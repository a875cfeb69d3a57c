/** What the reader has chosen: inputs only, read from and written to the address. */

import { SCHEDULES } from "./data.js";

/** Keys as in the address. A t of -1 is the end. */
export const DEFAULTS = {
  s: "1f1b",
  p: 4,
  m: 8,
  v: 2,
  c: "",
  k: 0,
  h: 0,
  tf: 1,
  ti: 1,
  tw: 1,
  ts: 0,
  tl: 1,
  th: 0,
  st: 0,
  t: -1,
};

/** Least, most, and whether only whole numbers do. */
export const BOUNDS = {
  p: [1, 64, true],
  m: [1, 512, true],
  v: [1, 8, true],
  k: [0, 1, true],
  h: [0, 1, true],
  st: [0, 7, true],
  tf: [0.1, 9],
  ti: [0.1, 9],
  tw: [0, 9],
  ts: [0, 4],
  tl: [0.5, 4],
  th: [0, 4],
  t: [-1, 1e6],
};

/** Stories hold inputs, never outputs. */
export const STORIES = [
  { p: 4, m: 1, s: "gpipe" },
  { p: 4, m: 4, s: "gpipe" },
  { p: 4, m: 16, s: "gpipe" },
  { p: 4, m: 16, s: "1f1b" },
  { p: 4, m: 16, s: "interleaved-1f1b" },
  { p: 4, m: 16, s: "zb-h1" },
  { p: 4, m: 16, s: "dualpipe" },
  // From the third on they are about memory too.
].map((inputs, at) => ({ ...DEFAULTS, h: +(at > 1), ...inputs, st: at + 1 }));

const NAMES = new Set(SCHEDULES.map((one) => one.name));

/** Whether two states ask for the same picture, whatever the playhead shows. */
export function samePicture(a, b) {
  return Object.keys(DEFAULTS).every((key) => key === "t" || key === "st" || a[key] === b[key]);
}

/** Return the query of a state, other widgets' keys kept: only what is not the default. */
export function toQuery(state, query) {
  const kept = new URLSearchParams(query);
  for (const key of [...Object.keys(DEFAULTS), "w"]) kept.delete(key);
  const ours = Object.keys(DEFAULTS).filter((key) => state[key] !== DEFAULTS[key]);
  if (ours.length) kept.append("w", "sched");
  for (const key of ours) kept.append(key, state[key]);
  const whole = kept.toString();
  return whole && `?${whole}`;
}

/** Return the state that a query asks for, and the values in it that mean nothing. */
export function fromQuery(query) {
  const given = new URLSearchParams(query);
  const state = { ...DEFAULTS };
  const bad = [];
  if ((given.get("w") ?? "sched") !== "sched") return { state, bad };
  for (const key of Object.keys(DEFAULTS)) {
    const value = given.get(key);
    if (value === null) continue;
    const read = parsed(key, value);
    if (read === undefined) bad.push(`${key}=${value.slice(0, 20)}`);
    else state[key] = read;
  }
  return { state, bad };
}

function parsed(key, value) {
  if (key === "s" || key === "c") return NAMES.has(value) ? value : undefined;
  const number = Number(value);
  const [least, most, whole] = BOUNDS[key];
  const good = value.trim() && number >= least && number <= most;
  return good && !(whole && !Number.isInteger(number)) ? number : undefined;
}
