// Says states.json as commands, Python and tables with the page's own modules.
import { readFileSync, writeFileSync } from "node:fs";
import { data } from "./explorer/data.js";
import * as formulas from "./explorer/formulas.js";
import { makeAnswer } from "./explorer/answer.js";
import { asCommand, asCsv, asPython } from "./explorer/share.js";
import { DEFAULTS, fromQuery, toQuery } from "./explorer/state.js";
import { makeNamed } from "./explorer/named.js";
import { tables } from "./explorer/tables-of-software.js";
const machine = makeAnswer(data, formulas);
machine.learn(makeNamed(tables, data, formulas));
const out = [];
for (const given of JSON.parse(readFileSync("states.json", "utf8"))) {
  const answer = machine.answer({ ...DEFAULTS, ...given });
  if (answer.refused) continue;
  const { state } = answer;
  out.push({
    state,
    back: fromQuery(toQuery(state), data).state,
    command: asCommand(answer),
    python: asPython(answer),
    csv: asCsv(answer),
    step_s: answer.chosen.total,
    memory_bytes: answer.memory.total,
    limit_bytes: answer.memory.limit,
  });
}
writeFileSync("said.json", JSON.stringify(out));
