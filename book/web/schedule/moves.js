/** Where a key goes from an action. */

import { at, needed } from "./model.js";

const ACROSS = { ArrowRight: "later", ArrowLeft: "sooner", ArrowDown: "next", ArrowUp: "before" };
const DOWN = { ArrowDown: "later", ArrowUp: "sooner", ArrowRight: "next", ArrowLeft: "before" };

const MOVES = {
  later: (run, box) => run.rows[box.rank][box.i + 1],
  sooner: (run, box) => run.rows[box.rank][box.i - 1],
  next: (run, box) => beside(run, box, 1),
  before: (run, box) => beside(run, box, -1),
  Home: (run, box) => run.rows[box.rank][0],
  End: (run, box) => run.rows[box.rank].at(-1),
  Enter: (run, box) => needed(run, box),
};

/** Return the action that a key leads to; null if there is none, undefined for other keys. */
export function target(run, box, key, down) {
  const move = MOVES[(down ? DOWN : ACROSS)[key] ?? key];
  if (!move) return undefined;
  return (box ? move(run, box) : run.rows[0][0]) ?? null;
}

function beside(run, box, step) {
  const row = run.rows[box.rank + step];
  const found = row && at(run, box.rank + step, (box.start + box.end) / 2);
  return found && (found.box ?? found.gap.next ?? row.at(-1));
}
