/**
 * From a state to everything the page shows. The arithmetic is `formulas`, made from the
 * Python of the same name when the site is built; here numbers are only put together.
 */

import { ownShape, saysHow } from "./state.js";
import { inNumber } from "../shared/number.js";

/** Words of `fit_verdict`, by its number. */
const VERDICTS = ["over", "tight", "fits"];

/** Return the sizes of the model that a state names, as the flat record has them. */
export function modelFields(state, data) {
  const preset = data.models.find((one) => one.key === state.model);
  if (preset) return preset.fields;
  // What it does not say is nothing, of all that a preset says.
  const nothing = Object.keys(data.models[0].fields).map((name) => [name, 0]);
  return { ...Object.fromEntries(nothing), ...ownShape(state.own) };
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
    network_bytes_per_s: state.net ? (state.net * 1e9) / 8 : gpu.fields.network_bytes_per_s,
    seq_length: state.seq,
    micro_batch_size: state.mb,
    global_batch_size: state.batch,
    ...Object.fromEntries(Object.entries(data.sizes).map(([name, key]) => [name, state[key]])),
    dp: state.n / (state.tp * state.cp * state.pp),
    sequence_parallel: state.sp,
    zero_stage: state.zero,
    schedule: data.schedules.findIndex((one) => one.key === state.schedule),
    recompute_full: state.recompute === "full" ? 1 : 0,
    recompute_selective: state.recompute === "selective" ? 1 : 0,
    fp8: precisionOf(state, data).fp8,
  };
}

export const precisionOf = (state, data) => data.precisions.find((one) => one.key === state.precision);

/** Return why a device lacks the products of a precision, or null. */
export function precisionRefusal(state, job, data) {
  const { needs } = precisionOf(state, data);
  const gpu = data.accelerators.find((one) => one.key === state.gpu);
  const values = { precision: state.precision, accelerator: state.gpu, near: gpu.sixteen };
  const refuse = (kind, value) => ({
    field: "precision",
    value,
    text: sentence(data.precision_faults?.[kind], values),
  });
  if (needs && !job.peak_fp8_flop_per_s) return refuse("eight", gpu.sixteen);
  return needs === "blocks" && !gpu.blocks ? refuse("blocks", "fp8") : null;
}

/**
 * Return why a state cannot be cut, or null: {field, value, text}, as Python says it.
 * @param {object} named - What looks up named software; a state that names none needs it not.
 */
export function refusal(state, job, data, formulas, named = null) {
  const devices = formulas.device_fault(state.n, state.tp, state.cp, state.pp);
  if (devices.broken) {
    const gpus = `${state.n} ${inNumber(state.n, "GPUs")}`;
    const values = { ...state, gpus, nearest: devices.nearest };
    return { field: "n", value: devices.nearest, text: sentence(data.device_fault, values) };
  }
  const lacking = precisionRefusal(state, job, data);
  const unlike = lacking ?? (saysHow(state) ? named.shardingRefusal(state, job) : null);
  if (unlike) return unlike;
  const rule = formulas.layout_rule(job);
  // In the order of Python: the batch, then the schedule, then all else.
  const unfit = rule === 1 ? null : scheduleRefusal(state, job, data, formulas);
  if (unfit || !rule) return unfit;
  const fault = formulas.layout_fault(job);
  const [field, template] = data.faults?.[rule - 1] ?? [];
  const values = {
    ...job,
    name: modelName(state, data),
    group: job.tp * job.cp * job.dp,
    nearest: fault.nearest,
  };
  return { field: data.fields?.[field], value: fault.nearest, text: sentence(template, values) };
}

/** Why the pipeline schedule cannot run at these sizes, or null. */
function scheduleRefusal(state, job, data, formulas) {
  const micro = formulas.num_microbatches(job);
  const rule = formulas.schedule_rule(job.schedule, job.pp, micro, job.vpp);
  if (!rule) return null;
  const near = formulas.mended_sizes(job.pp, micro);
  const [, template, instead] = data.schedule_faults?.[rule - 1] ?? [];
  const text = sentence(template, { ...state, micro, instead, ...near });
  if (rule < 3 || rule === 6) return { field: "vpp", value: rule === 1 ? 2 : 1, text };
  if (near.even_pp !== job.pp && (rule === 4 || rule === 7)) return { field: "schedule", value: instead, text };
  const closer = micro - near.fewer <= near.more - micro ? near.fewer : near.more;
  const least = rule === 5 ? near.least : near.even;
  const batch = (rule === 3 ? closer : least) * job.dp * job.micro_batch_size;
  return { field: "batch", value: batch, text };
}

/** A sentence with values put in; none while its words are still on their way. */
export function sentence(template = "", values) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** Facts with nothing hidden of which nobody says that it is. */
export const hidingNothing = (time, told = {}, { hiding }) =>
  time && { ...time, ...Object.fromEntries(hiding.filter((name) => !(name in told)).map((name) => [name, 0])) };

/** Return the answer machine: `answer(state)` gives every number of the page. */
export function makeAnswer(data, formulas) {
  let named = null;
  /** What is taken of the software: one kind where weights are whole, one where ranks share them. */
  function softwareOf(state, sharing, job) {
    if (saysHow(state)) return named.softwareOf(state, sharing, job);
    const gpu = data.accelerators.find((one) => one.key === state.gpu);
    const model = data.models.find((one) => one.key === state.model);
    const common = data.software[sharing];
    const precision = precisionOf(state, data);
    const own = { ...model?.trained?.[precision.key], ...precision.facts, ...model?.facts };
    const mixture = job.num_experts > 0 && gpu.experts?.[sharing];
    const narrow = job.fp8 > 0 && gpu.narrow?.[sharing];
    const stack = gpu.facts && { ...common.time, ...gpu.facts[sharing], ...mixture, ...narrow };
    const time = stack && { ...stack, ...known(own, common.time) };
    const kind = { ...(job.num_experts > 0 && common.experts), ...(job.fp8 > 0 && common.narrow) };
    const memory = { ...common.memory, ...gpu.held[sharing], ...kind, ...known(own, common.memory) };
    const report = model?.trained ? `, with what ${model.name}'s own report says` : "";
    const unhidden = hidingNothing(time, model?.trained?.[precision.key], data);
    return { name: common.name, title: common.title + report, time, unhidden, memory };
  }

  function memory(job, facts, state) {
    const stages = [];
    for (let rank = 0; rank < job.pp; rank += 1) {
      stages.push(formulas.rank_memory_bytes(job, facts, rank));
    }
    const worst = formulas.worst_rank(job, facts).rank;
    const total = stages[worst].total;
    // How measured peaks lie about predicted ones; what a model's own report says counts.
    const level = state.stack ? named.knowledgeOf(state) : (data.memory.levels[state.model] ?? "nothing");
    const width = data.memory.widths[level];
    const chance = width ? formulas.fit_probability(width, total, job.hbm_bytes) : null;
    const outlook = data.memory.outlooks[formulas.fit_outlook(total, job.hbm_bytes, chance ?? 1)];
    const unshared = formulas.unshared_bytes(job, facts);
    return { stages, worst, facts, unshared, chance, outlook, ...verdict(total, job.hbm_bytes, formulas) };
  }

  /** The models that can tell the time of a step here, and what each takes besides the job. */
  function modelsFor(state, job, software) {
    const device = data.accelerators.find((one) => one.key === state.gpu);
    const bits = precisionOf(state, data).bits;
    const efficiency = device.efficiency[bits];
    return data.step_models
      .filter((one) => (software.time || !one.uses_software) && !(one.sixteen_bits_only && job.fp8))
      .map((one) => ({
        ...one,
        // Wider where no run stands behind the share of the matrix rate.
        widths: one.widths && widened(...(saysHow(state) ? named.widthsOf(state, bits) : [one.widths, device.bases[bits] ?? {}])),
        records: one.uses_software
          ? [software.time, { efficiency, ...one.constants }]
          : [one.constants],
        unhidden: software.unhidden,
      }));
  }

  /** The step with nothing hidden, where nobody says what the software hides. */
  function slowest(job, model, { unhidden }, total) {
    if (!unhidden) return total;
    return formulas[model.total](formulas[model.function](job, model.unhidden, model.records[1]));
  }

  function step(job, model) {
    const parts = formulas[model.function](job, ...model.records);
    const total = formulas[model.total](parts);
    const width = model.widths?.[kindOf(job)];
    const ends = width
      ? formulas.interval_s(job, model.records[0], width, parts, total, slowest(job, model, width, total))
      : { low_s: null, high_s: null };
    return { model, parts, total, low: ends.low_s, high: ends.high_s };
  }

  const chosenOf = (list, state) => list.find((one) => (one.model ?? one).key === state.by) ?? list[0];

  /** Why a state has no answer, or null; with the software and the models where it has one. */
  function asked(state, job) {
    const refused = refusal(state, job, data, formulas, named);
    if (refused) return { refused };
    const software = softwareOf(state, formulas.shares_weights(job), job);
    const models = modelsFor(state, job, software);
    if (!models.length) return { refused: untimed(state) };
    const unable = saysHow(state) && named.refusal(state, job);
    return unable ? { refused: unable } : { software, models };
  }

  function answer(state) {
    const job = jobOf(state, data);
    const { refused, software, models } = asked(state, job);
    if (refused) return { state, job, refused };
    const steps = models.map((model) => step(job, model));
    const chosen = chosenOf(steps, state);
    // Where some layers are recomputed, the share of them executes its FLOP again.
    const again = software.time ? formulas.full_share(job, software.time) : job.recompute_full;
    const executed = { ...job, recompute_full: again };
    const outcome = formulas.outcome(executed, chosen.total, state.tokens);
    return {
      state,
      job,
      software,
      several: job.vpp > 1 || formulas.weight_copies(job) > 1,
      link: data.accelerators.find((one) => one.key === state.gpu).link,
      memory: memory(job, software.memory, state),
      steps,
      chosen,
      ...{ executed, outcome },
      num_parameters: formulas.num_parameters(job),
      num_microbatches: formulas.num_microbatches(job),
    };
  }

  /** The little that the map and the search for a way out need. */
  function quick(state) {
    const job = jobOf(state, data);
    const { refused, software, models } = asked(state, job);
    if (refused) return { state, refused };
    const total = formulas.memory_total_bytes(job, software.memory);
    return {
      state,
      memory: verdict(total, job.hbm_bytes, formulas),
      // Not everybody asks, and the form of a schedule may not be here yet.
      get seconds() {
        return step(job, chosenOf(models, state)).total;
      },
    };
  }

  /** Why a state has no answer, or null. */
  const legal = (state) => asked(state, jobOf(state, data)).refused ?? null;

  /** Take what looks up named software: from then on states may name some. */
  const learn = (found) => (named = found);

  /** The software of a state, looked up whether or not it names any. */
  function softwareNow(state) {
    const job = jobOf(state, data);
    return named.softwareOf(state, formulas.shares_weights(job), job);
  }

  const of = (ask) => (state) => ask(named ? named.meant(state) : state);
  return { answer: of(answer), quick: of(quick), legal: of(legal), learn, softwareOf, softwareNow, modelsFor, kindOf, slowest };
}

/** The facts that a record has a field for. */
export const known = (facts, record) =>
  Object.fromEntries(Object.entries(facts).filter(([name]) => name in record));

/** No model tells the time of 8-bit products on a device that nobody measured. */
export function untimed(state) {
  const text = `no model tells the time of ${state.precision} products on ${state.gpu}; use bf16`;
  return { field: "precision", value: "bf16", text };
}

/** The width of each kind of run, with another base where a device has one. */
const widened = (widths, bases) =>
  Object.fromEntries(
    Object.entries(widths).map(([kind, one]) => [kind, { ...one, base: bases[kind] ?? one.base }]),
  );

const kindOf = (job) => (job.num_experts > 0 ? "experts" : job.fp8 ? "eight_bits" : "dense");

function verdict(total, limit, formulas) {
  const word = VERDICTS[formulas.fit_verdict(total, limit)];
  return { total, limit, share: total / limit, verdict: word };
}
