/**
 * What named software, a stated month and single facts mean. The package was asked for every
 * answer when the site was built: `tables` has them, and here they are only looked up.
 */

import { hidingNothing, known, precisionOf, sentence } from "./answer.js";
import { factsOf } from "./state.js";

/** Return what looks up: software, what it refuses, its widths. */
export function makeNamed(tables, data, formulas) {
  /** Walk from a place of the tables to what is said for some values. */
  function end(place, values) {
    let node = tables.nodes[place];
    while (Array.isArray(node)) {
      const [name, own, usual] = node;
      const value = String(values[name]);
      // Of months the last that is not later stands.
      const at = usual === undefined ? own.filter(([from]) => from <= value).pop()[1] : (own[value] ?? usual);
      node = tables.nodes[at];
    }
    return node;
  }
  const ask = (name, values) => end(tables.places[name], values);

  /** The values that tables are asked with. */
  function valuesOf(state, job) {
    return {
      name: state.stack,
      exact: Number(tables.names[state.stack].exact),
      zero: state.zero,
      precision: state.precision,
      generation: tables.devices[state.gpu].generation,
      kind: job.num_experts > 0 ? "experts" : "dense",
      latent: Number(job.kv_lora_rank > 0),
      dated: Number(Boolean(state.date)),
      model: tables.trained.includes(state.model) ? state.model : "",
    };
  }

  /** The month that is taken, or why the software cannot shard so. */
  function eraOf(state, values) {
    if (!state.date) return ask("era", { ...values, date: "" });
    return { era: state.date, ...ask("sharding", { ...values, date: state.date }) };
  }

  /** Why the software has no such sharding, or null. */
  function shardingRefusal(state, job) {
    const { no, near } = eraOf(state, valuesOf(state, job));
    return no ? { field: "zero", value: near, text: no } : null;
  }

  /** The stack that is meant, by its name. */
  const stackAt = (values, era, sharing) => ask("stack", { ...values, date: era, sharded: sharing }).stack;

  function softwareOf(state, sharing, job) {
    const values = valuesOf(state, job);
    const { era, learnt } = eraOf(state, values);
    const name = stackAt(values, era, sharing);
    const stack = tables.stacks[name];
    const dated = { ...values, date: era };
    const stated = factsOf(state);
    const model = data.models.find((one) => one.key === state.model);
    const { words } = tables;
    const trained = state.stack ? {} : ask("trained", dated);
    const lines = {
      ...end(era ? stack.dated : stack.new, dated),
      ...tables.context[stated[words.context]],
      ...trained,
      ...precisionOf(state, data).facts,
      ...model?.facts,
      ...stated,
    };
    const device = tables.devices[state.gpu];
    const kernel = lines[words.kernel];
    const flash = Number(kernel !== words.stored);
    const part = device.kernels && {
      flash: device.flash[kernel] ?? flash,
      attention_flop_per_s: device.kernels[kernel],
      power_scale: device.power_scale,
    };
    const title = state.stack ? stack.title : `${stack.title}: ${tables.mixtures[stack.family]}`;
    const report = Object.keys(trained).length ? `, with what ${model.name}'s own report says` : "";
    const time = part && { ...tables.time, ...part, ...known(lines, tables.time) };
    return {
      name,
      title: title + report,
      time,
      unhidden: hidingNothing(time, { ...trained, ...stated }, data),
      memory: { ...tables.memory, flash, ...known(lines, tables.memory) },
      ...{ lines, era, learnt, stack },
    };
  }

  /** Why there is no such software for a model in a precision, or null. */
  function unable(state, sharing, job) {
    const values = valuesOf(state, job);
    const { date } = state;
    const layers = layersRefusal(state, job);
    if (layers) return layers;
    const found = (said, field, value) => said.no && { field, value, text: sentence(said.no, { date, device: state.gpu }) };
    const elsewhere = found(ask("starts", values), "stack", "");
    if (elsewhere) return elsewhere;
    const early = date && found(ask("early", { ...values, date }), "date", "");
    if (early) return early;
    const stack = stackAt(values, eraOf(state, values).era, sharing);
    const bits = found(ask("bits", { ...values, stack, date }), "precision", "bf16");
    if (bits) return bits;
    const kernel = softwareOf(state, sharing, job).lines[tables.words.kernel];
    const fault = tables.kernel_faults[values.generation]?.[kernel];
    return fault && tables.devices[state.gpu].kernels ? { field: "facts", value: "", text: fault } : null;
  }

  /** Why the software cannot run a layout that can be cut, or null. */
  function refusal(state, job) {
    const kinds = state.stack ? [0] : [0, 1];
    const lacking = kinds.map((sharing) => unable(state, sharing, job)).find(Boolean);
    return lacking ?? headsRefusal(job, softwareOf(state, formulas.shares_weights(job), job));
  }

  /** Why a fact speaks of more layers than there are, or null. */
  function layersRefusal(state, job) {
    const stated = Object.entries(factsOf(state));
    const over = stated.find(([name, value]) => tables.layers.includes(name) && value > job.num_layers);
    if (!over) return null;
    const [name, value] = over;
    const model = data.models.find((one) => one.key === state.model)?.name ?? "your model";
    const text = sentence(tables.too_many_layers, { name, value, model, layers: job.num_layers });
    return { field: "facts", value: "", text };
  }

  /** Why the heads of attention do not fall to the ranks that share a sequence, or null. */
  function headsRefusal(job, { time, name }) {
    if (!time || !formulas.heads_left_over(job, time)) return null;
    const ranks = formulas.head_ranks(job, time);
    const fits = (count) =>
      job.cp % count === 0 &&
      !formulas.heads_left_over({ ...job, cp: count }, { ...time, cp_head_ranks: count });
    let most = ranks;
    while (most > 1 && !fits(most)) most -= 1;
    const whole = ranks === job.cp;
    const text = sentence(tables.heads_left, {
      cp: job.cp,
      stack: name,
      heads: job.num_attention_heads,
      keys: job.kv_lora_rank > 0 ? job.num_attention_heads : job.num_query_groups,
      tp: job.tp,
      ranks,
      mended: whole ? `cp=${most}` : `--fact cp_head_ranks=${most}`,
    });
    return { field: "cp", value: whole ? most : 1, text };
  }

  const inKind = (value, { least, above, most, whole }) =>
    typeof value === "number" &&
    value >= (least ?? -Infinity) &&
    value <= (most ?? Infinity) &&
    (above === null || value > above) &&
    (!whole || Number.isInteger(value));

  /** Whether a fact may have a value. */
  const factHolds = (name, value) =>
    tables.words_of[name]?.includes(value) ?? (name in tables.kind_of && inKind(value, tables.kinds[tables.kind_of[name]]));

  /** The keys of a state that name what is in no table. */
  function unread(state) {
    const [first, last] = tables.months;
    const bad = {
      stack: !(state.stack in tables.names),
      date: state.date && !(state.date >= first && state.date <= last),
      facts: !Object.entries(factsOf(state)).every(([name, value]) => factHolds(name, value)),
    };
    return Object.keys(bad).filter((key) => bad[key]);
  }

  const knowledgeOf = (state) => tables.names[state.stack].knowledge;

  /** The width of intervals of each kind of run, wider where no run stands behind a share. */
  function widthsOf(state, bits) {
    const level = knowledgeOf(state);
    const bases = tables.bases[level][tables.devices[state.gpu].generation]?.[bits] ?? {};
    return [tables.widths[level], bases];
  }

  /** A state whose software is named, or none: what is assumed without a name is no name. */
  const meant = (state) => (state.stack in tables.mixtures ? { ...state, stack: "" } : state);

  return { tables, meant, ask, end, valuesOf, eraOf, softwareOf, shardingRefusal, refusal, unable, widthsOf, knowledgeOf, unread, factHolds, inKind };
}
