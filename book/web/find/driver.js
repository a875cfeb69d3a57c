/** Runs a search in short turns, so that a new question or a stop is heard between them. */

import { jobOf, makeAnswer } from "../explorer/answer.js";
import { makeRanked } from "../explorer/ranked.js";
import { saysHow } from "../explorer/state.js";
import { makeSearch } from "./engine.js";
import { stateOfFound } from "./layouts.js";

/** Layouts that a page lists where fewer tie. */
const SHOWN = 10;

/**
 * Return `hear({ question, open, id })`. `tell(message)` gets the state of the search after
 * `first_ms` and then after every `next_ms`; a turn lasts `turn_ms` and `pause()` ends it.
 * `bring()` fetches what looks up software, with the first question that says anything of it.
 * Asked to `open`, it tells what the best layout of a search that is done leaves open.
 */
export function makeDriver(data, formulas, tell, { turn_ms, first_ms, next_ms, pause, bring }) {
  const machine = makeAnswer(data, formulas);
  let named = null;
  let current = 0;
  let found = null;

  /** Fetch what looks up software, once. */
  async function look() {
    if (named) return;
    await bring();
    named = globalThis.stNamed(data, formulas);
    machine.learn(named);
  }

  async function ask(question, id) {
    current = id;
    found = null;
    if (saysHow(question)) {
      try {
        await look();
      } catch {
        return tell({ id, refused: "The table of software could not be loaded: look again later, or state none" });
      }
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
    found = search.result(SHOWN);
    return tell({ id, done: true, ...found, elapsed_ms });
  }

  /** Tell what the best layout leaves open, ranked as for `steptime predict`; in turns too. */
  async function open(id) {
    const result = found;
    if (current !== id || !result?.best.length) return;
    const state = stateOfFound(result.best[0], result);
    try {
      await look();
    } catch {
      tell({ id, open: null });
      return;
    }
    const { seconds, memory } = machine.quick(state);
    const chosen = { total: seconds, model: { key: result.model } };
    const steps = makeRanked(named, machine)({ state, job: jobOf(state, data), chosen, memory });
    for (let turn = performance.now(); ; ) {
      if (current !== id) return;
      const { done, value } = steps.next();
      if (done) {
        tell({ id, open: value });
        return;
      }
      if (performance.now() - turn < turn_ms) continue;
      await pause();
      turn = performance.now();
    }
  }

  /** Do what a page asks: a search, what is open after it, or to stop. */
  function hear({ question, open: opens, id }) {
    if (question) return ask(question, id);
    if (opens) return open(id);
    current = 0;
    return undefined;
  }
  return { hear };
}
