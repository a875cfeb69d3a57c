/**
 * From a state to everything the page shows. The arithmetic is `formulas`, made from the
 * Python of the same name when the site is built; here numbers are only put together.
 */

import { OWN_FIELDS, ownShape } from "./state.js";

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

/** The share of the memory above which a layout is called tight. */
export const TIGHT = 0.9;

/** Return the sizes of the model that a state names, as the flat record has them. */
export function modelFields(state, data) {
  const preset = data.models.find((one) => one.key === state.model);
  if (preset) return preset.fields;
  const shape = ownShape(state.own);
  const fields = { ...data.blank_model };
  for (const name of OWN_FIELDS) fields[name] = shape[name];
  fields.head_dim = shape.hidden_size / shape.num_attention_heads;
  fields.num_dense_layers = shape.num_experts > 0 ? 0 : shape.num_layers;
  return fields;
}

/** Return the name of the model that a state names. */
export function modelName(state, data) {
  return data.models.find((one) => one.key === state.model)?.name ?? "your model";
}

/** Return the flat record of a state; `dp` is worked out from the devices. */
export function jobOf(state, data) {
  const gpu = data.accelerators.find((one) => one.key === state.gpu);
  return {
    ...data.blank_job,
    ...modelFields(state, data),
    ...gpu.fields,
    nvlink_domain: state.domain || gpu.fields.nvlink_domain,
    seq_length: state.seq,
    micro_batch_size: state.mb,
    global_batch_size: state.batch,
    tp: state.tp,
    cp: state.cp,
    pp: state.pp,
    vpp: state.vpp,
    dp: state.n / (state.tp * state.cp * state.pp),
    ep: state.ep,
    etp: state.etp,
    sequence_parallel: state.sp,
    zero_stage: state.zero,
    schedule: data.schedules.findIndex((one) => one.key === state.schedule),
    recompute_full: state.recompute === "full" ? 1 : 0,
    recompute_selective: state.recompute === "selective" ? 1 : 0,
    fp8: state.precision === "fp8" ? 1 : 0,
  };
}

/** Return why a state cannot be cut, or null: {field, value, text}, as Python says it. */
export function refusal(state, job, data, formulas) {
  const devices = formulas.device_fault(state.n, state.tp, state.cp, state.pp);
  if (devices.broken) {
    const values = { ...state, nearest: devices.nearest };
    return { field: "n", value: devices.nearest, text: sentence(data.device_fault, values) };
  }
  if (job.fp8 && !job.peak_fp8_flop_per_s) {
    const values = { precision: state.precision, accelerator: state.gpu };
    return { field: "precision", value: "bf16", text: sentence(data.precision_fault, values) };
  }
  const rule = formulas.layout_rule(job);
  // In the order of Python: the batch, then the schedule, then all else.
  const unfit = rule === 1 ? null : scheduleRefusal(state, job, data, formulas);
  if (unfit || !rule) return unfit;
  const fault = formulas.layout_fault(job);
  const [field, template] = data.faults[rule - 1];
  const values = {
    ...job,
    name: modelName(state, data),
    group: job.tp * job.cp * job.dp,
    nearest: fault.nearest,
  };
  const key = { global_batch_size: "batch" }[field] ?? field;
  return { field: key, value: fault.nearest, text: sentence(template, values) };
}

/** Why the pipeline schedule cannot run at these sizes, or null. */
function scheduleRefusal(state, job, data, formulas) {
  const micro = formulas.num_microbatches(job);
  const rule = formulas.schedule_rule(job.schedule, job.pp, micro, job.vpp);
  if (!rule) return null;
  const near = formulas.mended_sizes(job.pp, micro);
  const [, template] = data.schedule_faults[rule - 1];
  const text = sentence(template, { ...state, micro, ...near });
  if (rule < 3) return { field: "vpp", value: 3 - rule, text };
  if (near.even_pp !== job.pp && rule === 4) return { field: "schedule", value: "dualpipe-v", text };
  const closer = micro - near.fewer <= near.more - micro ? near.fewer : near.more;
  const least = Math.max(near.even, near.least);
  const batch = (rule === 3 ? closer : least) * job.dp * job.micro_batch_size;
  return { field: "batch", value: batch, text };
}

function sentence(template, values) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** Return the answer machine: `answer(state)` gives every number of the page. */
export function makeAnswer(data, formulas) {
  function memory(job) {
    const facts = factsOf(job, data);
    const stages = [];
    for (let rank = 0; rank < job.pp; rank += 1) {
      stages.push(formulas.rank_memory_bytes(job, facts, rank));
    }
    const worst = formulas.worst_rank(job, facts).rank;
    return { stages, worst, facts, ...verdict(stages[worst].total, job.hbm_bytes) };
  }

  /** What is known of the software that is assumed: by device, ZeRO, model and stages. */
  function stackOf(state, job) {
    const place = state.zero === 3 ? 1 : 0;
    const device = data.accelerators.find((one) => one.key === state.gpu).stacks[place];
    if (!device) return null;
    const model = data.models.find((one) => one.key === state.model)?.facts;
    const edges_count = formulas.ends_count(job.num_layers, job.pp * job.vpp);
    return { ...data.stacks[place], ...device, ...model, edges_count };
  }

  /** The models that can tell the time of a step here, and what each takes besides the job. */
  function modelsFor(state, job) {
    const stack = stackOf(state, job);
    const known = data.step_models.filter((one) => {
      if (one.sixteen_bits_only && job.fp8) return false;
      return stack || !one.records.includes("stack");
    });
    const list = known.length ? known : data.step_models.slice(0, 1);
    return list.map((one) => ({
      ...one,
      records: one.records.map((record) => (record === "stack" ? stack : record)),
    }));
  }

  function step(job, model) {
    const parts = formulas[model.function](job, ...model.records);
    const total = formulas[model.total](parts);
    return { model, parts, total, ...band(model, job, parts, total) };
  }

  const chosenOf = (list, state) => list.find((one) => (one.model ?? one).key === state.by) ?? list[0];

  function answer(state) {
    const job = jobOf(state, data);
    const refused = refusal(state, job, data, formulas);
    if (refused) return { state, job, refused };
    const steps = modelsFor(state, job).map((model) => step(job, model));
    const chosen = chosenOf(steps, state);
    const outcome = formulas.outcome(job, chosen.total, state.tokens);
    return {
      state,
      job,
      link: data.accelerators.find((one) => one.key === state.gpu).link,
      memory: memory(job),
      steps,
      chosen,
      outcome,
      num_parameters: formulas.num_parameters(job),
      num_microbatches: formulas.num_microbatches(job),
    };
  }

  /** The little that the map and the search for a way out need. */
  function quick(state) {
    const job = jobOf(state, data);
    const refused = refusal(state, job, data, formulas);
    if (refused) return { state, refused };
    const total = formulas.memory_total_bytes(job, factsOf(job, data));
    return {
      state,
      memory: verdict(total, job.hbm_bytes),
      seconds: step(job, chosenOf(modelsFor(state, job), state)).total,
    };
  }

  /** Why a state cannot be cut, or null. */
  const legal = (state) => refusal(state, jobOf(state, data), data, formulas);

  return { answer, quick, legal };
}

/** The facts of the software that memory is reckoned with: FSDP for ZeRO-3, else Megatron-LM. */
function factsOf(job, data) {
  return data.memory.stacks[job.zero_stage === 3 ? "fsdp" : "megatron"];
}

/** Between which ends published runs lay, or nine in ten that were left out of the fit. */
function band(model, job, parts, total) {
  if (!model.widths) return { low: total * model.low, high: total * model.high };
  const kind = job.num_experts > 0 ? "experts" : job.fp8 ? "eight_bits" : "dense";
  const width = model.widths[kind];
  if (!width) return { low: null, high: null };
  const exposed = 1 - (parts.compute + parts.recompute) / total;
  const half = width.factor * (width.base + width.slope * exposed);
  const low = Math.min(Math.exp(-(width.middle + half)), 1);
  const high = Math.max(Math.exp(half - width.middle), 1);
  return { low: total * low, high: total * high };
}

function verdict(total, limit) {
  const share = total / limit;
  const word = share > 1 ? "over" : share > TIGHT ? "tight" : "fits";
  return { total, limit, share, verdict: word };
}
