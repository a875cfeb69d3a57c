/** A layout as text that works elsewhere: a command, Python, a table. */

import { data } from "./data.js";
import { MEMORY_PARTS, stepParts } from "./outs.js";
import { DEFAULTS, OWN_FIELDS, OWN_MORE, factsOf, ownShape } from "./state.js";

const EXPERT_FIELDS = OWN_FIELDS.slice(8);

/** Inputs that say nothing where they are what the page starts with. */
const QUIET = ["copies", "domain", "net", "stack", "date"];
/** Inputs that each way to share writes in a way of its own. */
const APART = ["model", "sequence_parallel"];

/** Python name and value of every input, in the order of the command's help. */
function inputs({ state, job }) {
  const found = [];
  for (const [name, key] of Object.entries(data.fields)) {
    if (APART.includes(name) || (QUIET.includes(key) && state[key] === DEFAULTS[key])) continue;
    found.push([name, state[key]]);
    if (name === "vpp") found.push(["dp", job.dp]);
  }
  return found;
}

/** The `steptime` command that gives the same answer; one's own model is a file before it. */
export function asCommand(answer) {
  const { state } = answer;
  const own = state.model === "own";
  const words = ["steptime predict", `--model ${own ? "my-model.toml" : state.model}`];
  for (const [name, value] of inputs(answer)) {
    words.push(`--${name.replace("_stage", "").replaceAll("_", "-")} ${value}`);
  }
  for (const [name, value] of Object.entries(factsOf(state))) words.push(`--fact ${name}=${value}`);
  words.push(state.sp ? "--sequence-parallel" : "--no-sequence-parallel");
  words.push(`--predictor ${answer.chosen.model.key}`);
  const command = words.join(" ");
  return (own ? `cat > my-model.toml <<'END'\n${asToml(state.own)}\nEND\n` : "") + command;
}

const SWITCHES = ["gated", "tied"];
const MORE = ["head_dim", "learned_positions", "window_size", "windowed_layers"];
const LATENT = OWN_MORE.slice(OWN_MORE.indexOf("q_lora_rank"));
const RENAMED = { expert_groups: "num_groups" };

/** The fields of one's own model as [part, [[name, value], …]]; what is usual is left out. */
function ownParts(own) {
  const shape = ownShape(own);
  const pairs = (names) =>
    names.map((name) => [RENAMED[name] ?? name, SWITCHES.includes(name) ? Boolean(shape[name]) : shape[name]]);
  const parts = [["", pairs([...OWN_FIELDS.slice(0, 8), ...MORE.filter((name) => shape[name])])]];
  if (shape.num_experts) {
    parts.push(["experts", pairs([...EXPERT_FIELDS, "num_dense_layers", "expert_groups", "max_groups"])]);
  }
  if (shape.kv_lora_rank) parts.push(["latent_attention", pairs(LATENT)]);
  return parts;
}

function asToml(own) {
  const lines = ([part, pairs]) => [
    ...(part ? [`[${part}]`] : []),
    ...pairs.map(([name, value]) => `${name} = ${value}`),
  ];
  return ownParts(own).flatMap(lines).join("\n");
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
  const facts = Object.entries(factsOf(state)).map(([name, value]) => `"${name}": ${text(value)}`);
  if (facts.length) lines.push(`    facts={${facts.join(", ")}},`);
  lines.push(`    sequence_parallel=${state.sp ? "True" : "False"},`);
  lines.push(`    predictor="${answer.chosen.model.key}",`, ")");
  lines.push("print(step.step_time_s, step.memory.total_bytes, step.fits)");
  return lines.join("\n");
}

const CLASSES = { experts: "Experts", latent_attention: "LatentAttention" };

function ownPython(own) {
  const word = (value) => (typeof value === "boolean" ? (value ? "True" : "False") : value);
  const [[, plain], ...parts] = ownParts(own);
  const lines = ["shape = steptime.ModelShape(", '    name="my model",'];
  lines.push(...plain.map(([name, value]) => `    ${name}=${word(value)},`));
  for (const [part, pairs] of parts) {
    const inner = pairs.map(([name, value]) => `${name}=${value}`).join(", ");
    lines.push(`    ${part}=steptime.${CLASSES[part]}(${inner}),`);
  }
  return [...lines, ")"];
}

/** All parts as a table of comma-separated values. */
export function asCsv(answer) {
  const rows = [["quantity", "of", "value", "unit"]];
  const model = answer.state.model === "own" ? answer.state.own : answer.state.model;
  for (const [name, value] of [["model", model], ...inputs(answer)]) rows.push([name, "input", value, ""]);
  rows.push(["sequence_parallel", "input", answer.state.sp, ""]);
  for (const [name, value] of Object.entries(factsOf(answer.state))) rows.push([`fact ${name}`, "input", value, ""]);
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
