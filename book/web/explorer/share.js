/** A layout as text that works elsewhere: a command, Python, a table. */

import { MEMORY_PARTS, stepParts } from "./outs.js";
import { OWN_FIELDS, ownShape } from "./state.js";

const EXPERT_FIELDS = OWN_FIELDS.slice(8);

/** Flag and Python name of every input, in the order of the command's help. */
function inputs({ state, job }) {
  return [
    ["accelerator", state.gpu],
    ["seq_length", state.seq],
    ["global_batch_size", state.batch],
    ["micro_batch_size", state.mb],
    ["tp", state.tp],
    ["cp", state.cp],
    ["pp", state.pp],
    ["vpp", state.vpp],
    ["dp", job.dp],
    ...(state.copies > 1 ? [["dp_replicate", state.copies]] : []),
    ["ep", state.ep],
    ["etp", state.etp],
    ["zero_stage", state.zero],
    ["recompute", state.recompute],
    ["precision", state.precision],
    ["schedule", state.schedule],
    ...(state.domain ? [["nvlink_domain", state.domain]] : []),
  ];
}

/** The `steptime` command that gives the same answer; one's own model is a file before it. */
export function asCommand(answer) {
  const { state } = answer;
  const own = state.model === "own";
  const words = ["steptime predict", `--model ${own ? "my-model.toml" : state.model}`];
  for (const [name, value] of inputs(answer)) {
    words.push(`--${name.replace("_stage", "").replaceAll("_", "-")} ${value}`);
  }
  words.push(state.sp ? "--sequence-parallel" : "--no-sequence-parallel");
  words.push(`--predictor ${answer.chosen.model.key}`);
  const command = words.join(" ");
  return (own ? `cat > my-model.toml <<'END'\n${asToml(state.own)}\nEND\n` : "") + command;
}

function asToml(own) {
  const shape = ownShape(own);
  const line = (name) => {
    const value = ["gated", "tied"].includes(name) ? Boolean(shape[name]) : shape[name];
    return `${name} = ${value}`;
  };
  const lines = OWN_FIELDS.slice(0, 8).map(line);
  if (shape.num_experts) lines.push("[experts]", ...EXPERT_FIELDS.map(line));
  return lines.join("\n");
}

/** Python that gives the same answer. */
export function asPython(answer) {
  const { state } = answer;
  const text = (value) => (typeof value === "string" ? `"${value}"` : String(value));
  const lines = ["import steptime", ""];
  let model = text(state.model);
  if (state.model === "own") {
    lines.push(...ownPython(state.own));
    model = "shape";
  }
  lines.push("step = steptime.predict(", `    model=${model},`);
  for (const [name, value] of inputs(answer)) lines.push(`    ${name}=${text(value)},`);
  lines.push(`    sequence_parallel=${state.sp ? "True" : "False"},`);
  lines.push(`    predictor="${answer.chosen.model.key}",`, ")");
  lines.push("print(step.step_time_s, step.memory.total_bytes, step.fits)");
  return lines.join("\n");
}

function ownPython(own) {
  const shape = ownShape(own);
  const truth = (name) => (shape[name] ? "True" : "False");
  const line = (name) => `    ${name}=${["gated", "tied"].includes(name) ? truth(name) : shape[name]},`;
  const lines = ["shape = steptime.ModelShape(", '    name="my model",'];
  lines.push(...OWN_FIELDS.slice(0, 8).map(line));
  if (shape.num_experts) {
    const inner = EXPERT_FIELDS.map((name) => `${name}=${shape[name]}`).join(", ");
    lines.push(`    experts=steptime.Experts(${inner}),`);
  }
  return [...lines, ")"];
}

/** All parts as a table of comma-separated values. */
export function asCsv(answer) {
  const rows = [["quantity", "of", "value", "unit"]];
  const model = answer.state.model === "own" ? answer.state.own : answer.state.model;
  for (const [name, value] of [["model", model], ...inputs(answer)]) rows.push([name, "input", value, ""]);
  rows.push(["sequence_parallel", "input", answer.state.sp, ""]);
  answer.memory.stages.forEach((stage, index) => {
    for (const [key] of [...MEMORY_PARTS, ["total"]]) {
      rows.push([`memory ${key}`, `stage ${index + 1}`, stage[key], "bytes"]);
    }
  });
  for (const step of answer.steps) {
    for (const [key] of stepParts(step.parts)) {
      rows.push([`step ${key}`, step.model.key, step.parts[key], "s"]);
    }
    rows.push(["step total", step.model.key, step.total, "s"]);
  }
  for (const [key, value] of Object.entries(answer.outcome)) {
    rows.push([key, answer.chosen.model.key, value, ""]);
  }
  return rows.map((row) => row.join(",")).join("\n");
}
