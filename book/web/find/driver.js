/** Runs a search in short turns, so that a new question or a stop is heard between them. */

import { makeAnswer } from "../explorer/answer.js";
import { saysHow } from "../explorer/state.js";
import { makeSearch } from "./engine.js";

/** Layouts that a page lists where fewer tie. */
const SHOWN = 10;

/**
 * Return `ask(question, id)` and `stop()`. `tell(message)` gets the state of the search after
 * `first_ms` and then after every `next_ms`; a turn lasts `turn_ms` and `pause()` ends it.
 * `bring()` fetches what looks up software, with the first question that says anything of it.
 */
export function makeDriver(data, formulas, tell, { turn_ms, first_ms, next_ms, pause, bring }) {
  const machine = makeAnswer(data, formulas);
  let named = null;
  let current = 0;

  async function ask(question, id) {
    current = id;
    if (saysHow(question) && !named) {
      try {
        await bring();
      } catch {
        return tell({ id, refused: "The table of software could not be loaded: look again later, or state none" });
      }
      named = globalThis.stNamed(data, formulas);
      machine.learn(named);
      if (current !== id) return undefined;
    }
    const search = makeSearch(question, data, machine, formulas, named);
    if (search.refused) return tell({ id, refused: search.refused });
    const start = performance.now();
    const rows = search.rows();
    let shown = start + first_ms - next_ms;
    for (let turn = performance.now(); !rows.next().done; ) {
      const now = performance.now();
      if (now - turn < turn_ms) continue;
      if (now - shown >= next_ms) {
        tell({ id, done: false, ...search.result(SHOWN), elapsed_ms: now - start });
        shown = performance.now();
      }
      await pause();
      if (current !== id) return undefined;
      turn = performance.now();
    }
    const elapsed_ms = performance.now() - start;
    return tell({ id, done: true, ...search.result(SHOWN), elapsed_ms });
  }
  return { ask, stop: () => (current = 0) };
}
