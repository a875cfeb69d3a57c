// Answers states.json with the page's own modules; every number as its 64 bits.
import { readFileSync, writeFileSync } from "node:fs";
import { data } from "./explorer/data.js";
import * as formulas from "./explorer/formulas.js";
import { makeAnswer } from "./explorer/answer.js";
import { makeAssumed } from "./explorer/assumed.js";
import { makeRanked } from "./explorer/ranked.js";
import { makeNamed } from "./explorer/named.js";
import { tables } from "./explorer/tables-of-software.js";
const machine = makeAnswer(data, formulas);
const named = makeNamed(tables, data, formulas);
machine.learn(named);
const assumed = makeAssumed(named, data, formulas);
const ranked = makeRanked(named, machine);
/** What a ranking says once all its turns are taken. */
function whole(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
const spans = (answer, of) => whole(ranked(answer, of)).map((one) => ({ ...one, low: bits(one.low), high: bits(one.high) }));
const view = new DataView(new ArrayBuffer(8));
const bits = (value) => {
  view.setFloat64(0, value);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
};
const coded = (object) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, bits(value)]));
const out = JSON.parse(readFileSync("states.json", "utf8")).map((state) => {
  const answer = machine.answer(state);
  const quick = machine.quick(state);
  if (answer.refused) return { refused: answer.refused, quick: quick.refused };
  const { memory, steps, outcome, job } = answer;
  return {
    job: coded(job),
    first: coded(memory.stages[0]),
    last: coded(memory.stages[memory.stages.length - 1]),
    fullest: coded(memory.stages[memory.worst]),
    models: Object.fromEntries(steps.map((one) => [one.model.key, coded(one.parts)])),
    totals: Object.fromEntries(steps.map((one) => [one.model.key, bits(one.total)])),
    bands: Object.fromEntries(steps.map((one) => [one.model.key, one.low === null ? null : [bits(one.low), bits(one.high)]])),
    outcome: coded(outcome),
    scalars: coded({
      total: memory.total,
      quick: quick.memory.total,
      limit: memory.limit,
      seconds: quick.seconds,
    }),
    software: answer.software.name,
    assumed: assumed(answer),
    ...(state.ranks ? { open: spans(answer, "time"), open_of_memory: spans(answer, "memory") } : {}),
    verdict: memory.verdict,
    outlook: memory.outlook,
    chance: memory.chance === null ? null : bits(memory.chance),
  };
});
writeFileSync("answers.json", JSON.stringify(out));
