/**
 * What a question leaves open, ranked by what each could change: every choice is asked in full.
 * Which choices there are stands in the package's tables.
 */

import { factsOf } from "./state.js";

/** Things that move the answer by less than rounding are not listed. */
const LEAST_CHANGE = 1e-9;

/** A value as Python's `:g` writes it. */
export function inWord(value) {
  if (typeof value !== "number") return value;
  const [digits, power] = value.toExponential(5).split("e");
  if (value !== 0 && (power < -4 || power > 5)) {
    const size = String(Math.abs(power)).padStart(2, "0");
    return `${Number(digits)}e${power < 0 ? "-" : "+"}${size}`;
  }
  return String(Number(value.toPrecision(6)));
}

/** How many of the outcomes an answer's interval leaves out; none where it has no interval. */
const outside = ({ low, high }, outcomes) => (low === null ? 0 : outcomes.filter(([time]) => time < low || time > high).length);

/** Return what ranks the things that an answer leaves open: for its "time" or its "memory". */
export function makeRanked(named, machine) {
  const { tables } = named;

  /** The families whose runs were cut like a layout. */
  function familiesSeen(state) {
    const cuts = ["tp", "pp", "cp", "ep"].filter((key) => state[key] > 1);
    return Object.keys(tables.seen).filter((name) => cuts.every((cut) => tables.seen[name].includes(cut)));
  }

  const monthsOf = (name, generation) => named.end(tables.tried_months, { name, generation }).months;

  const choice = (how, key) => (value) => ({ word: inWord(value), how, change: { [key]: value } });

  function ofLayout({ state, job }) {
    if (state.net || state.n <= job.nvlink_domain) return {};
    return { network_gbit: tables.networks[state.gpu].tried.map(choice(tables.how.network_gbit, "net")) };
  }

  function ofSoftware({ state, job }) {
    const { exact, generation } = named.valuesOf(state, job);
    if (exact) return {};
    return {
      stack: state.stack ? [] : familiesSeen(state).map(choice(tables.how.stack, "stack")),
      date: state.date ? [] : monthsOf(state.stack, generation).map(choice(tables.how.date, "date")),
    };
  }

  /** The values that each fact has in software that may be the step's. */
  function* valuesOf(state, job, group) {
    const stated = factsOf(state);
    const told = { ...stated, ...tables.context[stated[tables.words.context]] };
    const values = new Map(
      Object.keys(tables.open[group])
        .filter((name) => !(name in told))
        .map((name) => [name, new Set()]),
    );
    const { generation } = named.valuesOf(state, job);
    const sharing = Number(state.zero > 2);
    for (const stack of state.stack ? [state.stack] : familiesSeen(state)) {
      for (const date of state.date ? [state.date] : monthsOf(stack, generation)) {
        const like = { ...state, stack, date };
        if (named.unable(like, sharing, job)) continue;
        const { lines, time, memory } = named.softwareOf(like, sharing, job);
        for (const [name, found] of values) found.add(lines[name] ?? time[name] ?? memory[name]);
        yield;
      }
    }
    return values;
  }

  function* ofFacts(answer, group) {
    const { state, job } = answer;
    const { exact } = named.valuesOf(state, job);
    if (exact || !tables.devices[state.gpu].kernels) return {};
    const { context } = tables.words;
    const found = {};
    for (const [name, values] of yield* valuesOf(state, job, group)) {
      if (name === context && job.cp === 1) continue;
      const how = `--fact ${name}=${name in tables.words_of ? "NAME" : "NUMBER"}`;
      found[name] = [...values].map((value) => {
        const facts = { ...factsOf(state), [name]: value };
        const written = Object.entries(facts).map((pair) => pair.join("="));
        return { word: inWord(value), how, change: { facts: written.join(",") } };
      });
    }
    return found;
  }

  /** What an answer says with a choice stated, or null where that is no possible question. */
  function asked(state, change, by) {
    const found = machine.quick({ ...state, ...change, by });
    return found.refused ? null : found;
  }

  /**
   * Return [{what, says, how, low, high, least, most, choices, change, outside}, …], the widest first.
   * It asks thousands of times: each `yield` is a place to let the page breathe.
   */
  return function* ranked(answer, of = "time") {
    const group = of === "time" ? "facts" : "memory";
    const taken = of === "time" ? answer.chosen.total : answer.memory.total;
    const fits = answer.memory.verdict !== "over";
    const counts = (one) => of !== "time" || !fits || one.memory.verdict !== "over";
    const value = (one) => (of === "time" ? one.seconds : one.memory.total);
    const words = { ...tables.open.fields, ...tables.open.facts, ...tables.open[group] };
    const layout = ofLayout(answer);
    const things = { ...layout, ...ofSoftware(answer), ...(yield* ofFacts(answer, group)) };
    const spans = [];
    const left = (what, outcomes) => (what in layout || of !== "time" ? 0 : outside(answer.chosen, outcomes));
    for (const [what, choices] of Object.entries(things)) {
      const outcomes = [];
      for (const { change, word } of choices) {
        const one = asked(answer.state, change, answer.chosen.model.key);
        if (one && counts(one)) outcomes.push([value(one), word]);
        yield;
      }
      if (!outcomes.length) continue;
      const every = [...outcomes, [taken, "as taken"]];
      // Of equal ones the first stands: a choice's own word comes before what was taken.
      const [low, least] = every.reduce((a, b) => (b[0] < a[0] ? b : a));
      const [high, most] = every.reduce((a, b) => (b[0] > a[0] ? b : a));
      const change = Math.log(high / low);
      spans.push({ what, says: words[what], how: choices[0].how, low, high, least, most, choices: outcomes.length, change, outside: left(what, outcomes) });
    }
    return spans.filter((one) => one.change > LEAST_CHANGE).sort((a, b) => b.change - a.change);
  };
}
