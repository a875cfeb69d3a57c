// Says what the page answers before a reader has chosen anything.
import { writeFileSync } from "node:fs";
import { data } from "./explorer/data.js";
import * as formulas from "./explorer/formulas.js";
import { makeAnswer } from "./explorer/answer.js";
import { DEFAULTS } from "./explorer/state.js";
const { chosen, memory } = makeAnswer(data, formulas).answer(DEFAULTS);
const said = { predictor: chosen.model.key, step_s: chosen.total, low_s: chosen.low, high_s: chosen.high };
writeFileSync("said.json", JSON.stringify({ ...said, memory_bytes: memory.total }));
