/** What the reader has chosen: inputs only, read from and written to the address. */

import { ACCELERATORS, KINDS, MODELS, NAMES, RUNS, SOURCES } from "./model.js";

export const PREFIX = "a.";

/** Predictor, kind, accelerator, model, source, run, story; empty is all, or none. */
export const DEFAULTS = { m: "roofline", k: "", g: "", n: "", s: "", r: "", st: "0" };

/** Stories hold inputs, never outputs. */
export const STORIES = [
  {},
  { s: "nar21-t1" },
  { s: "nar21-t1", m: "baseline" },
  { k: String(KINDS.length - 1) },
  { m: "share" },
  { m: "llm-analysis" },
].map((inputs, at) => ({ ...DEFAULTS, ...inputs, st: String(at + 1) }));

const ALLOWED = {
  m: MODELS,
  k: ["", ...KINDS.map((_, i) => String(i))],
  g: ["", ...ACCELERATORS],
  n: ["", ...NAMES],
  s: ["", ...SOURCES.map(([key]) => key)],
  r: ["", ...RUNS.map((run) => run.id)],
  st: ["0", ...STORIES.map((story) => story.st)],
};

/** Whether two states show the same runs by the same model. */
export const sameView = (a, b) => ["m", "k", "g", "n", "s"].every((key) => a[key] === b[key]);

/** Return the query of a state, other figures' keys kept: only what is not the default. */
export function toQuery(state, query) {
  const kept = new URLSearchParams(query);
  for (const key of Object.keys(DEFAULTS)) {
    if (state[key] === DEFAULTS[key]) kept.delete(PREFIX + key);
    else kept.set(PREFIX + key, state[key]);
  }
  const whole = kept.toString();
  return whole && `?${whole}`;
}

/** Return the state that a query asks for, and the values in it that mean nothing. */
export function fromQuery(query) {
  const given = new URLSearchParams(query);
  const state = { ...DEFAULTS };
  const bad = [];
  for (const [name, value] of given) {
    if (!name.startsWith(PREFIX)) continue;
    const key = name.slice(PREFIX.length);
    if (ALLOWED[key]?.includes(value)) state[key] = value;
    else bad.push(`${name.slice(0, 20)}=${value.slice(0, 20)}`);
  }
  return { state, bad };
}
