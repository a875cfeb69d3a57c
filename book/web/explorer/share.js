/** A layout as text that works elsewhere: a command, Python, a table. */

import { MEMORY_PARTS, stepParts } from "./outs.js";

/** The `steptime` command that gives the same answer. */
export function asCommand(answer) {
  const { state } = answer;
  const flags = [
    ["--model", state.model],
    ["--accelerator", state.gpu],
    ["--tp", state.tp],
    ["--cp", state.cp],
    ["--pp", state.pp],
    ["--vpp", state.vpp],
    ["--dp", answer.job.dp],
    ["--ep", state.ep],
    ["--zero", state.zero],
    ["--recompute", state.recompute],
    ["--schedule", state.schedule],
    ["--precision", state.precision],
    ["--seq-length", state.seq],
    ["--global-batch-size", state.batch],
    ["--micro-batch-size", state.mb],
  ];
  const words = flags.map(([name, value]) => `${name} ${value}`);
  words.push(state.sp ? "--sequence-parallel" : "--no-sequence-parallel");
  words.push(`--predictor ${answer.chosen.model.key}`);
  return `steptime predict ${words.join(" ")}`;
}

/** Python that gives the same answer. */
export function asPython(answer) {
  const { state, job } = answer;
  return [
    "from steptime.formulas.memory import memory_bytes",
    "from steptime.inputs.job import job",
    "from steptime.inputs.layout import Batch, Layout",
    "from steptime.inputs.memory_facts import memory_facts",
    "from steptime.inputs.presets import accelerator, model",
    "",
    `layout = Layout(tp=${state.tp}, cp=${state.cp}, pp=${state.pp}, vpp=${state.vpp}, dp=${job.dp}, ep=${state.ep},`,
    `    sequence_parallel=${state.sp ? "True" : "False"}, zero_stage=${state.zero}, recompute="${state.recompute}",`,
    `    precision="${state.precision}", schedule="${state.schedule}")`,
    `batch = Batch(global_batch_size=${state.batch}, seq_length=${state.seq}, micro_batch_size=${state.mb})`,
    `step = job(model("${state.model}"), accelerator("${state.gpu}"), layout, batch)`,
    "print(memory_bytes(step, memory_facts()))",
  ].join("\n");
}

/** All parts as a table of comma-separated values. */
export function asCsv(answer) {
  const rows = [["quantity", "of", "value", "unit"]];
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
