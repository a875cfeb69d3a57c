/** Every number that the page prints, by name: the words and where they come from. */

import { count, digits, gb, group, percent, seconds } from "./format.js";

/** Parts of the step in the order they are drawn, with the words of the page. */
export const STEP_PARTS = [
  ["compute", "compute"],
  ["recompute", "recomputation"],
  ["tensor_parallel", "tensor-parallel"],
  ["context_parallel", "context-parallel"],
  ["expert_parallel", "all-to-all"],
  ["pipeline_sends", "stage sends"],
  ["data_parallel", "data-parallel"],
  ["optimizer", "optimizer step"],
  ["bubble", "bubble"],
];

/** Words of the parts of memory, in the order they are stacked. */
export const MEMORY_PARTS = [
  ["weights", "weights", "m1"],
  ["gradients", "gradients", "m2"],
  ["optimizer", "optimizer", "m3"],
  ["activations", "activations", "m4"],
  ["logits", "logits", "m5"],
  ["buffers", "buffers", "m6"],
  ["reserve", "reserve", "m7"],
];

/** Colour slots of the parts of the step; idle time is hatched. */
export const STEP_SLOTS = {
  compute: "m1",
  recompute: "again",
  tensor_parallel: "m2",
  context_parallel: "m3",
  expert_parallel: "m4",
  pipeline_sends: "m5",
  data_parallel: "m6",
  optimizer: "m7",
  bubble: "idle",
};

/** What a GPU of a pipeline is called: a stage, or a rank where it holds several. */
export const placeWord = (answer) => (answer.several ? "rank" : "stage");

/** The name of a part of the step among the numbers: memory has an optimizer too. */
export const stepOut = (key) => (key === "optimizer" ? "update" : key);

/** Return the parts of a step that any model on the page gives, in drawing order. */
export function stepParts(parts) {
  const known = STEP_PARTS.map(([key]) => key);
  const others = Object.keys(parts).filter((key) => !known.includes(key));
  const named = others.map((key) => [key, key.replaceAll("_", " ")]);
  const bubble = STEP_PARTS[STEP_PARTS.length - 1];
  return [...STEP_PARTS.slice(0, -1), ...named, bubble].filter(([key]) => key in parts);
}

/**
 * Return name -> {text, value, formula}; `formula` is [function, arguments, key of its result].
 */
export function outs(answer) {
  const { job, executed, memory, chosen, outcome, state } = answer;
  const { facts } = memory;
  const full = memory.stages[memory.worst];
  const rank = ["rank_memory_bytes", [job, facts, memory.worst]];
  const result = ["outcome", [executed, chosen.total, state.tokens]];
  const out = {
    memory: entry(`${gb(memory.total)} GB`, memory.total, [...rank, "total"]),
    limit: entry(`${gb(memory.limit)} GB`, memory.limit),
    ratio: entry(`${digits(memory.share)}×`, memory.share),
    free: entry(`${gb(Math.abs(memory.limit - memory.total))} GB`, memory.limit - memory.total),
    in_flight: entry(digits(full.in_flight), full.in_flight, [...rank, "in_flight"]),
    step: entry(seconds(chosen.total), chosen.total, [chosen.model.total, [chosen.parts], null]),
    mfu: entry(percent(outcome.mfu_fraction), outcome.mfu_fraction, [...result, "mfu_fraction"]),
    tflops: entry(
      `${digits(outcome.hardware_flop_per_s / 1e12)} TFLOP/s`,
      outcome.hardware_flop_per_s,
      [...result, "hardware_flop_per_s"],
    ),
    tokens_per_s: entry(`${count(outcome.tokens_per_s)} tokens/s`, outcome.tokens_per_s, [
      ...result,
      "tokens_per_s",
    ]),
    days: entry(`${digits(outcome.days)} days`, outcome.days, [...result, "days"]),
    parameters: entry(count(answer.num_parameters), answer.num_parameters, [
      "num_parameters",
      [job],
      null,
    ]),
    dp: entry(digits(job.dp), job.dp),
    m: entry(group(answer.num_microbatches), answer.num_microbatches, [
      "num_microbatches",
      [job],
      null,
    ]),
    gpus: entry(group(state.n), state.n),
  };
  for (const [key] of MEMORY_PARTS) {
    out[key] = entry(`${gb(full[key])} GB`, full[key], [...rank, key]);
  }
  for (const [key] of stepParts(chosen.parts)) {
    const formula = [chosen.model.function, [job, ...chosen.model.records], key];
    out[stepOut(key)] = entry(seconds(chosen.parts[key]), chosen.parts[key], formula);
    out[`${stepOut(key)}_share`] = entry(percent(chosen.parts[key] / chosen.total), chosen.parts[key] / chosen.total);
  }
  out.idle = out.bubble_share;
  for (const step of answer.steps) {
    const name = `step_${step.model.key}`;
    out[name] = entry(seconds(step.total), step.total, [step.model.total, [step.parts], null]);
  }
  return out;
}

function entry(text, value, formula = null) {
  return { text, value, formula };
}

/** Say what changed between two answers: "optimizer 262 → 33 GB, step 4.1 → 3.9 s". */
export function changes(before, after) {
  if (!before?.memory || !after?.memory) return "";
  const [from, to] = [outs(before), outs(after)];
  const scale = Math.max(from.memory.value, to.memory.value);
  const parts = MEMORY_PARTS.map(([key, word]) => [key, word, Math.abs(to[key].value - from[key].value)])
    .filter(([, , size]) => size > 0.01 * scale)
    .sort((a, b) => b[2] - a[2])
    .slice(0, 2);
  const list = parts.map(([key, word]) => arrow(word, from[key].text, to[key].text));
  const moved = Math.abs(to.step.value - from.step.value) > 0.005 * from.step.value;
  if (moved) list.push(arrow("step", from.step.text, to.step.text));
  if (from.mfu.text !== to.mfu.text) list.push(arrow("MFU", from.mfu.text, to.mfu.text));
  return list.join(" · ");
}

function arrow(word, from, to) {
  const unit = to.split(" ").pop();
  const short = from.endsWith(` ${unit}`) ? from.slice(0, -unit.length - 1) : from;
  return `${word} ${short} → ${to}`;
}
