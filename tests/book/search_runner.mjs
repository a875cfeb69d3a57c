// Answers questions.json with the page's own search; every number as its 64 bits.
import { readFileSync, writeFileSync } from "node:fs";
import { data as presets } from "./explorer/data.js";
import { makeAnswer } from "./explorer/answer.js";
import { search } from "./find/data.js";
import { makeSearch } from "./find/engine.js";
import * as formulas from "./find/formulas.js";
import "./find/named.js";
const data = { ...presets, search };
const machine = makeAnswer(data, formulas);
const named = globalThis.stNamed(data, formulas);
machine.learn(named);
const view = new DataView(new ArrayBuffer(8));
const bits = (value) => {
  if (value === null) return null;
  view.setFloat64(0, value);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
};
const coded = (one) =>
  one && { layout: one.layout, seconds: bits(one.seconds), bytes: bits(one.bytes), chance: bits(one.chance) };
const out = JSON.parse(readFileSync("questions.json", "utf8")).map((question) => {
  const run = makeSearch(question, data, machine, formulas, named);
  if (run.refused) return run;
  const start = performance.now();
  for (const _ of run.rows());
  const { best, front, leanest, ties, counts, dropped, model, interval } = run.result();
  return {
    ...{ ties, counts, dropped, model, elapsed_ms: performance.now() - start },
    ...{ best: best.map(coded), front: front.map(coded), leanest: coded(leanest) },
    interval: interval && [bits(interval.low_s), bits(interval.high_s)],
  };
});
writeFileSync("answers.json", JSON.stringify(out));
