/** The closest sizes that a schedule can run, for those that it refuses. */

import { refusal } from "./model.js";
import { BOUNDS } from "./state.js";

/** Return the least change of m, then v, then p and m together that is allowed, or null. */
export function nearest(state, name) {
  const [least, most] = BOUNDS.m;
  const fits = (patch) => !refusal({ ...state, ...patch }, name);
  for (let off = 1; off < most; off += 1) {
    for (const m of [state.m + off, state.m - off]) {
      if (m >= least && m <= most && fits({ m })) return { m };
    }
  }
  for (const v of [1, 2, 4, 8]) if (fits({ v })) return { v };
  for (const p of [2, 4, 8]) {
    for (let m = 1; m <= most; m += 1) if (fits({ p, m })) return { p, m };
  }
  return null;
}
