/** What an answer takes for granted: the records of the package, in its order and its words. */

import { modelName, sentence } from "./answer.js";
import { group } from "./format.js";
import * as limitFormulas from "./limits.js";
import { inWord } from "./ranked.js";
import { factsOf } from "./state.js";

/** Records as objects: the tables list what, value, why, how. */
const told = (lists = []) => lists.map(([what, value, why, how]) => ({ what, value, why, how }));
const record = (what, value, why, how = "") => ({ what, value: String(value), why, how });

/** Return what lists the records of an answer. */
export function makeAssumed(named, data, formulas) {
  const { tables } = named;

  function network({ state, job }) {
    const all = state.net || state.n <= job.nvlink_domain;
    return all ? [] : told(tables.networks[state.gpu].records);
  }

  /** What the layout asks and the named software does not run. */
  function notRun({ state, job }) {
    const { what, place, limits } = tables.abilities;
    const valueOf = (name) => {
      const value = state[data.fields[name]] ?? job[name];
      return name === "sequence_parallel" ? (value ? "True" : "False") : value;
    };
    const allows = (limit) => {
      if (limit.one_of.length) return limit.one_of.includes(state[data.fields[limit.of]]);
      const found = limit.counts ? limitFormulas[limit.of](job) : job[limit.of];
      return (limit.least === null || found >= limit.least) && (limit.most === null || found <= limit.most);
    };
    const holds = (limit) => Object.entries(limit.where).every(([name, above]) => job[name] > above);
    const broken = named
      .end(place, { name: state.stack, date: state.date })
      .limits.map((at) => limits[at])
      .filter((limit) => holds(limit) && !allows(limit));
    // Of several limits of one field the last one speaks, in the place of the first.
    const last = new Map(broken.map((limit) => [limit.of, limit]));
    return [...last.values()].map((limit) => {
      const values = { ...job, stack: state.stack, micro: formulas.num_microbatches(job) };
      for (const name of [limit.of, ...Object.keys(limit.where)]) values[name] = valueOf(name);
      return record(what, sentence(limit.asked, values), sentence(limit.text, values), limit.how);
    });
  }

  function ofDevice({ state, chosen }) {
    return told(named.end(tables.device_records, { ...state, by: chosen.model.key }).records);
  }

  function ofSoftware({ state, job, chosen, software }) {
    if (!chosen.model.uses_software) return [];
    const values = named.valuesOf(state, job);
    // An exact stack in a stated month leaves nothing to take, but where another was current then.
    if (values.exact && state.date) {
      const { last, lasts } = tables.stacks[state.stack];
      const told = sentence(tables.remarks.past, { stack: state.stack, last });
      const past = last && (state.date > last || (state.date === last && !lasts));
      return past ? [record("date", state.date, `${state.date} (${told})`, tables.remarks.how_past)] : [];
    }
    const { era, learnt } = named.eraOf(state, values);
    const kind = !state.stack ? "unnamed" : values.exact ? "exact" : "family";
    const { records } = named.ask(kind, {
      ...values,
      ...{ dated: Number(Boolean(state.date)), date: era, learnt: learnt ? state.zero : "" },
      sharded: formulas.shares_weights(job),
    });
    const { words, remarks } = tables;
    const all = software.lines[words.kernel] === words.any && !(words.kernel in factsOf(state));
    const kernels = all ? [record(words.kernel, words.any, remarks.all_kernels, remarks.how_kernel)] : [];
    return [...told(records.map((one) => one.map((text) => text.replaceAll("{era}", era)))), ...kernels];
  }

  function positions({ state, job }) {
    const most = tables.positions[state.model] || job.learned_positions;
    if (!(most > 0 && most < state.seq)) return [];
    const values = { tokens: group(state.seq), most: group(most), model: modelName(state, data) };
    const { sequence, too_long } = tables.remarks;
    return [record(sequence, state.seq, sentence(too_long, values), "--seq-length")];
  }

  /** In what it goes beyond all published runs. */
  function beyond({ state, job, chosen }) {
    const { reach } = tables;
    const { generation } = tables.devices[state.gpu];
    const seen = reach.generations[generation];
    const found = [];
    const add = (value, why, how) => found.push(record(reach.what, value, why, how));
    if (seen) unseen(state, job, seen, add);
    else {
      const name = tables.devices[state.gpu].kin;
      add(name, sentence(reach.no_generation, { generation: name }));
    }
    const { dates, earlier, later } = seen ?? reach;
    if (state.date && state.date < dates[0]) add(state.date, earlier);
    if (state.date > dates[1]) add(state.date, later);
    if (state.seq > reach.longest) add(`${group(state.seq)} tokens`, reach.longer);
    const pace = formulas.layer_pace_s(job, chosen.total);
    if (pace < reach.shortest_s) {
      add(`${(1e3 * pace).toFixed(2)} ms a layer and micro-batch`, reach.shorter, reach.how_shorter);
    }
    if (formulas.attention_share(job) > reach.most_attention) {
      add("mostly attention", reach.mostly_attention, "--fact kernel=NAME");
    }
    return found;
  }

  function unseen(state, job, seen, add) {
    const { reach } = tables;
    const gpu = data.accelerators.find((one) => one.key === state.gpu);
    const cell = reach.cell_of[Number(job.num_experts > 0)][state.precision];
    const [devices, parameters] = [formulas.num_devices(job), formulas.num_parameters(job)];
    if (!seen.rates.includes(gpu.fields.matmul_flop_per_s)) add("device", reach.unseen_device);
    if (!seen.cells.includes(cell)) add(cell, reach.cells[cell]);
    if (devices > seen.most_devices) add(`${group(devices)} devices`, seen.more_devices);
    if (parameters > seen.most_parameters) add(`${group((parameters / 1e9).toFixed(0))}B parameters`, seen.more_parameters);
  }

  /** Facts that say something of a layout to which it does not apply. */
  function unused(answer) {
    const { job, software } = answer;
    const { time, memory, lines } = software;
    const { remarks, words } = tables;
    const found = [];
    if (memory.recompute_layers > 0 && !job.recompute_full) {
      found.push(record("recompute_layers", 0, remarks.unused_layers, "--recompute full"));
    }
    if (job.tp > 1 && time && time.overlap_tp && !formulas.chunk_share(job, time)) {
      const apart = sentence(remarks.no_domain, { tp: job.tp, domain: job.nvlink_domain });
      const [why, how] = job.sequence_parallel
        ? [apart, "--fact overlap_tp=0"]
        : [remarks.no_split, "--sequence-parallel"];
      found.push(record(remarks.overlap, 0, why, how));
    }
    if (job.cp > 1 && time && !time.cp_head_ranks && formulas.head_ranks(job, time) <= 1) {
      const heads = Math.trunc(formulas.key_heads(job) * job.tp);
      const ranks = Math.trunc(Math.max(Math.min(job.cp, job.nvlink_domain / job.tp), 1));
      const why = sentence(remarks.one_rank, { heads, tp: job.tp, ranks });
      found.push(record(words.context, "1 rank", why, "--fact cp_head_ranks=N"));
    }
    const way = lines[words.context];
    if (job.cp > 1 && job.windowed_layers > 0 && tables.windows.includes(way)) {
      const why = sentence(remarks.no_windows, { layers: job.windowed_layers });
      found.push(record(words.context, way, why, "--fact cp_comm_type=all_gather"));
    }
    return [...found, ...unread(answer, found)];
  }

  /** Values of the same kind on both sides of one. */
  function others(value, kind) {
    const most = kind.most ?? 2 * Math.abs(value) + 1;
    const every = [kind.least ?? -most, value + 1, most];
    return every.filter((other) => other !== value && named.inKind(other, kind));
  }

  /** Stated numbers that the answer does not depend on; what is told otherwise is left out. */
  function unread({ state, job, software, chosen: { model } }, told) {
    const names = told.map(({ what }) => what);
    const put = (facts, name, value) => (facts && name in facts ? { ...facts, [name]: value } : facts);
    const answered = (name, value) => {
      const records = model.uses_software ? [put(software.time, name, value), model.records[1]] : model.records;
      const total = formulas.memory_total_bytes(job, put(software.memory, name, value));
      return [...Object.values(formulas[model.function](job, ...records)), total];
    };
    return Object.entries(factsOf(state))
      .filter(([name, value]) => {
        if (names.includes(name) || typeof value !== "number") return false;
        const now = answered(name, value);
        const kind = tables.kinds[tables.kind_of[name]];
        return others(value, kind).every((other) => answered(name, other).every((one, at) => one === now[at]));
      })
      .map(([name, value]) => record(name, inWord(value), tables.remarks.unused));
  }

  /** Where sharing less would hold less, and why. */
  function holdsMore({ state, job, software, memory: { total } }) {
    const stage = formulas.stage_shared(job);
    const plain = named.softwareOf(state, 0, job);
    const less = plain.stack.zero.filter((known) => known < stage && stage > 1);
    const held = less.map((known) => formulas.memory_total_bytes({ ...job, zero_stage: known }, plain.memory));
    const least = Math.min(...held);
    if (!less.length || least >= total) return [];
    const best = less[held.indexOf(least)];
    const same = formulas.memory_total_bytes({ ...job, zero_stage: best }, software.memory);
    const { remarks } = tables;
    const reason = same < total ? remarks.whole_layer : sentence(remarks.other_software, { name: software.name });
    const [whole, part] = ((total - least) / 1e9).toFixed(2).split(".");
    const why = sentence(remarks.holds_more, { stage, best, more: `${group(whole)}.${part}`, reason });
    return [record(remarks.sharding, stage, why, `--zero ${best}`)];
  }

  /** What is not modelled. */
  function leftOut({ state, job, software }) {
    const places = { model: tables.shapes[state.model] ?? {}, job, time: software.time, memory: software.memory };
    return tables.limits
      .filter((limit) => (places[limit.place]?.[limit.name] ?? 0) > limit.above)
      .map((limit) => record(limit.title, limit.value, limit.says));
  }

  const parts = [notRun, network, ofDevice, ofSoftware, positions, beyond, unused, holdsMore, leftOut];

  /** Return the records of an answer, as {what, value, why, how}. */
  return function assumed(answer) {
    const software = named.softwareOf(answer.state, formulas.shares_weights(answer.job), answer.job);
    return parts.flatMap((part) => part({ ...answer, software }));
  };
}
