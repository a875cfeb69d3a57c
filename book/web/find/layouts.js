/** A found layout in words, and as a state of the explorer. */

import { gb, group, likely, seconds } from "../explorer/format.js";
import { DEFAULTS, toQuery } from "../explorer/state.js";

/** Return a layout's sizes and switches by name. */
export function named(found, settings) {
  const { layout } = found;
  const keys = settings.row_keys;
  const [recompute, zero, sequence] = layout.slice(keys.length);
  return {
    ...Object.fromEntries(keys.map((key, at) => [key, layout[at]])),
    recompute: settings.recompute[recompute],
    zero: settings.zero[zero],
    sp: settings.sequence[sequence],
  };
}

/** Return a layout in one line: what is 1 says nothing and is left out. */
export function inWords(found, settings) {
  const one = named(found, settings);
  const cuts = ["tp", "cp", "pp", "dp", "ep"];
  const sizes = settings.columns.filter(([key]) => cuts.includes(key)).map(([key, word]) => [word, one[key]]);
  const words = sizes.filter(([, size]) => size > 1).map(([word, size]) => `${word} ${group(size)}`);
  if (one.vpp > 1) words.push(`${one.vpp} chunks`);
  words.push(`micro-batch ${one.mb}`, `ZeRO ${one.zero}`);
  words.push(one.recompute === "none" ? "no recomputation" : `${one.recompute} recomputation`);
  if (one.sp) words.push("sequence parallel");
  return words.join(", ");
}

/** Return time, memory and chance of a layout. */
export function inNumbers(found, limit) {
  const chance = found.chance === null ? "" : `, fits with a chance of ${likely(found.chance)}`;
  return `${seconds(found.seconds)} a step, ${gb(found.bytes)} of ${gb(limit)} GB${chance}`;
}

/** A share that somebody chose, in whole percent; what the model computes is never so certain. */
export const percent = (share) => `${Math.round(100 * share)} %`;

/** Return a found layout as a state of the explorer. */
export function stateOfFound(found, result) {
  const one = named(found, result.settings);
  const schedule = result.settings.schedules.find((_, at) => result.codes[at] === one.schedule);
  const state = { ...DEFAULTS, ...result.question, ...one, schedule: schedule ?? "1f1b", by: result.model };
  return Object.fromEntries(Object.keys(DEFAULTS).map((key) => [key, state[key]]));
}

/** Return the address of the explorer with a layout. */
export const explorerLink = (page, found, result) => page + toQuery(stateOfFound(found, result));
