/** What a search fetches with the first software or month that somebody states. */

import { makeNamed } from "../explorer/named.js";
import { tables } from "../explorer/tables-of-software.js";
import { tries } from "./tries-of-software.js";

/** Return what looks up named software, and what is tried with it. */
globalThis.stNamed = (data, formulas) => {
  const software = makeNamed({ ...tables, ...tries }, data, formulas);
  return { ...makeNamed(tables, data, formulas), tries: { ...tries, tables, software } };
};
