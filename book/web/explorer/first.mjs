// Makes what the page shows before anything is chosen: run by Node, when the site is built, on the
// page's own modules. It keeps what is drawn and printed; the page asks again for all else.
import { makeAnswer, modelFields } from "./answer.js";
import { data } from "./data.js";
import * as formulas from "./formulas.js";
import { changeText, nearestFit } from "./nearest.js";
import { DEFAULTS } from "./state.js";

const MODEL = ["key", "name"];
const JOB = ["tp", "cp", "pp", "dp", "vpp", "recompute_full"];
const LINKS = ["nvlink_domain", "nvlink_bytes_per_s", "network_bytes_per_s"];

const STAGE = ["weights", "gradients", "optimizer", "activations", "logits", "buffers", "reserve", "in_flight", "total"];
const OUTCOME = ["mfu_fraction", "hardware_flop_per_s", "tokens_per_s", "days"];

const some = (record, keys) => Object.fromEntries(keys.map((key) => [key, record[key]]));
const machine = makeAnswer(data, formulas);
const whole = machine.answer(DEFAULTS);
const { state, job, several, link, memory, outcome, num_parameters, num_microbatches } = whole;
const steps = whole.steps.map((step) => ({ ...step, model: { ...some(step.model, MODEL), records: [] } }));
const { facts, ...held } = { ...memory, stages: memory.stages.map((one) => some(one, STAGE)) };
const found = nearestFit(state, machine.quick, modelFields(state, data).num_experts > 0, false);
const answer = {
  state: some(state, ["n", "schedule", "tokens"]),
  job: some(job, [...JOB, ...LINKS]),
  ...{ several, link, memory: held, steps, outcome: some(outcome, OUTCOME), num_parameters, num_microbatches },
  chosen: whole.steps.indexOf(whole.chosen),
};
const moved = found && Object.keys(DEFAULTS).filter((key) => found.state[key] !== DEFAULTS[key]);
const way = found && { to: some(found.state, moved), text: changeText(state, found.state, data), memory: { total: found.memory.total } };
console.log(JSON.stringify({ answer, way }));
