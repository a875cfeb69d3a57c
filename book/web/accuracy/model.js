/** The runs, unpacked, and what some of them amount to. No step is worked out here. */

import { DATA } from "./data.js";

const { texts } = DATA;

/** In the order of each run's errors. */
export const MODELS = ["roofline", "baseline", "share", "llm-analysis"];
export const KINDS = DATA.kinds;
export const SOURCES = DATA.sources;
export const PARTS = DATA.parts;

export const RUNS = DATA.rows.map((row) => {
  const [id, model, kind, accelerator, gpus, layout, batch, source, work, place, published, errors, shares, assumed, software, cause] = row;
  const [title, where, url] = DATA.works[work];
  return {
    id, kind, gpus, published, errors, model: texts[model], accelerator: texts[accelerator],
    layout: texts[layout], batch: texts[batch], source: SOURCES[source][0], sourceName: SOURCES[source][1],
    title, where, url, place: texts[place], assumed: assumed.map((at) => texts[at]),
    software: texts[software], cause: texts[cause],
    shares: Object.fromEntries(Object.keys(PARTS).map((name, i) => [name, shares[i]])),
  };
}).sort((a, b) => a.published - b.published || (a.id < b.id ? -1 : 1));

export const NAMES = [...new Set(RUNS.map((run) => run.model))].sort();
export const ACCELERATORS = [...new Set(RUNS.map((run) => run.accelerator))].sort();

/** Return the error of a run by a model, null where the model has no answer. */
export const errorOf = (run, model) => run.errors[MODELS.indexOf(model)];
export const predicted = (run, model) => run.published * Math.exp(errorOf(run, model));

const chosen = (run, state) =>
  (!state.k || state.k === String(run.kind)) && (!state.g || state.g === run.accelerator) &&
  (!state.n || state.n === run.model) && (!state.s || state.s === run.source);

/** Return the runs that pass the filters and the model has an answer for, and those it has none for. */
export function choose(state) {
  const all = RUNS.filter((run) => chosen(run, state));
  const shown = all.filter((run) => errorOf(run, state.m) !== null);
  return { shown, silent: all.length - shown.length };
}

const average = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;

function middle(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Return what the errors of runs amount to; NaN where there are no runs. */
export function amount(runs, model) {
  const errors = runs.map((run) => errorOf(run, model));
  const sizes = errors.map(Math.abs);
  const groups = new Map();
  runs.forEach((run, i) => groups.set(run.source, [...(groups.get(run.source) ?? []), sizes[i]]));
  const each = [...groups.values()];
  return {
    rows: runs.length,
    mean: average(sizes),
    median: middle(sizes),
    worst: Math.max(0, ...sizes),
    slow: errors.filter((one) => one > 0).length,
    sources: groups.size,
    eachMean: average(each.map(average)),
    eachMedian: average(each.map(middle)),
  };
}

/** Return the run whose error is nearest to the median: a fair example. */
export function typical(runs, model, median) {
  const off = (run) => Math.abs(Math.abs(errorOf(run, model)) - median);
  return runs.reduce((best, run) => (best && off(best) <= off(run) ? best : run), null);
}
