/**
 * The search of `steptime search`, one layout after another. What may be tried, its time and its
 * memory are the package's own lines, made into JavaScript; here they are only called in turn.
 */

import { jobOf, precisionRefusal, untimed } from "../explorer/answer.js";
import { DEFAULTS, UNCUT, saysHow } from "../explorer/state.js";
import { SLOWEST, makeCloud, makeFastest, makeFront, packed } from "./kept.js";
import { countsRule, makeCuts, runsBeside, triesOf } from "./tries.js";

export const KEEP = 1000;

/** Return the state of the explorer in which nothing is cut. */
export const stateOf = (question) => ({
  ...DEFAULTS,
  ...question,
  ...UNCUT,
  ...{ mb: 1, zero: 0, recompute: "none" },
});

/**
 * Return one search: `rows()` takes in a few layouts at each step, `result()` is what was found
 * so far. `question` has model, own, gpu, n, batch, seq and precision as the explorer's state,
 * and `fits`, the chance to fit that is asked for. `named` looks software up that it names.
 */
export function makeSearch(question, data, machine, formulas, named = null) {
  const asked = stateOf(question);
  const tried = triesOf(asked, data, named);
  const state = { ...asked, zero: tried.zero[0] };
  const cuts = makeCuts(tried, formulas);
  const job = jobOf(state, data);
  const refused = precisionRefusal(state, job, data);
  if (refused) return { refused: refused.text };
  const lacking = saysHow(state) && (state.stack ? [0] : [0, 1]).map((sharing) => named.unable(state, sharing, job)).find(Boolean);
  if (lacking) return { refused: lacking.text };
  /** The records and facts of both kinds of software: weights whole, and shared by ranks. */
  const kinds = [0, 1].map((sharing) => {
    const software = machine.softwareOf(state, sharing, job);
    const models = machine.modelsFor(state, job, software);
    return { ...software, model: models.find((one) => one.key === state.by) ?? models[0] };
  });
  const model = kinds[0].model;
  if (!model) return { refused: untimed(state).text };
  const [step, total] = [formulas[model.function], formulas[model.total]];

  const settings = [tried.recompute.length, tried.zero.length, tried.sequence.length];
  const schedules = tried.schedules.map((name) => data.schedules.findIndex((one) => one.key === name));
  const micro = formulas.micro_batch_sizes([], state.batch);
  const limit = job.hbm_bytes;
  /** How measured peaks lie about predicted ones; what a model's own report says counts. */
  const level = state.stack ? named.knowledgeOf(state) : (data.memory.levels[state.model] ?? "nothing");
  const width = data.memory.widths[level];
  /** Software that cuts attention by heads has a rule of its own. */
  const heads = kinds[0].time?.cp_head_ranks !== 1 && kinds[0].time;
  let { beside } = tried;
  const chances = tried.chances.find((one) => String(one.chance) === question.fits);
  const scales = chances?.scales ?? null;
  const sure = width && scales !== null ? Math.min(limit, formulas.most_bytes(width, scales, limit)) : limit;
  const fastest = makeFastest(KEEP);
  const front = makeFront();
  /** The front of what fits by what is counted, while nothing fits as surely as asked. */
  const unsure = makeFront();
  const cloud = makeCloud(limit);
  const counts = { evaluated: 0, fitting: 0, rows: 0, all: 0 };
  let dropped = {};
  let leanest = null;

  const drop = (reason, count) => {
    if (count) dropped[reason] = (dropped[reason] ?? 0) + count;
  };

  /** Put values into the record, each under its field's name. */
  function put(names, values) {
    for (let at = 0; at < names.length; at += 1) job[names[at]] = values[at];
  }

  /** Every stage count and tensor size, with what runs there and the sizes around it. */
  function spaces() {
    const found = [];
    for (const pp of cuts.stages(state.n)) {
      const runs = cuts.runs(job.num_layers, pp, schedules, micro);
      if (!runs.length) continue;
      for (const tp of cuts.tensors(state.n / pp)) {
        const splits = cuts.splits(job.num_experts, tp, state.n / pp);
        const sizes = cuts.sizesOf(state.n / pp, pp, tp, tried.copies, splits);
        counts.all += sizes.length * runs.length;
        found.push([sizes, runs]);
      }
    }
    return found;
  }

  /** Take in all layouts; where all break what the software counts, that was asked for by name. */
  function* rows() {
    yield* pass();
    if (counts.evaluated || !beside.some((limit) => limit.counts)) return;
    beside = beside.filter((limit) => !limit.counts);
    dropped = {};
    Object.assign(counts, { rows: 0, all: 0 });
    yield* pass();
  }

  /** A step is what runs on one choice of sizes. */
  function* pass() {
    drop(tried.too_many, formulas.sizes_over_layers(state.n, job.num_layers, cuts.stages(state.n)));
    for (const [all, runs] of spaces()) {
      for (const sizes of all) {
        counts.rows += runs.length;
        const rule = formulas.outer_rule(sizes, job.num_attention_heads, state.seq);
        if (rule) {
          const lost = lostWith(sizes);
          drop(tried.reasons[rule - 1], runs.length * lost);
          continue;
        }
        put(tried.size_fields, sizes);
        for (const run of runs) row(sizes, run);
        yield;
      }
    }
  }

  /** How many layouts a row of sizes that cannot be cut stands for. */
  function lostWith(sizes) {
    if (!beside.length) return formulas.settings_lost(sizes, settings, state.seq, job.num_experts);
    put(tried.row_fields, tried.row_fields.map((_, at) => sizes[at] ?? 1));
    return ways(() => {});
  }

  /** Call `each` for every way to share and to cut the sequence; return how many layouts they are. */
  function ways(each) {
    let own = 0;
    for (let zero = 0; zero < settings[1]; zero += 1) {
      job.zero_stage = tried.zero[zero];
      if (!formulas.own_sharding(job, zero)) continue;
      for (let sequence = 0; sequence < settings[2]; sequence += 1) {
        job.sequence_parallel = tried.sequence[sequence];
        if (!formulas.own_sequence(job, sequence, settings[2])) continue;
        if (!runsBeside(beside, job, formulas)) continue;
        own += settings[0];
        each(zero, sequence);
      }
    }
    return own;
  }

  /** The number of the rule of its own that a row breaks with the software, or 0. */
  function ruleOfSoftware() {
    if (heads && formulas.heads_left_over(job, heads)) return tried.rules.heads;
    return countsRule(beside, job, formulas);
  }

  function row(sizes, run) {
    put(tried.run_fields, run);
    const rule = formulas.row_rule(job) || ruleOfSoftware();
    const own = ways((zero, sequence) => {
      if (rule) return;
      const kind = kinds[formulas.shares_weights(job)];
      for (let again = 0; again < settings[0]; again += 1) {
        job.recompute_full = tried.recompute[again] === "full" ? 1 : 0;
        job.recompute_selective = tried.recompute[again] === "selective" ? 1 : 0;
        layout(kind, sizes, run, [again, zero, sequence]);
      }
    });
    if (rule) drop(tried.reasons[rule - 1], own);
  }

  function layout(kind, sizes, run, places) {
    counts.evaluated += 1;
    const bytes = formulas.memory_total_bytes(job, kind.memory);
    const one = (seconds) => ({ seconds, bytes, layout: [...sizes, ...run, ...places] });
    if (!(bytes <= sure)) {
      drop(chances?.chance ? tried.not_sure : tried.too_much, 1);
      if (counts.fitting) return;
      if (!(leanest?.bytes <= bytes)) leanest = one(time(kind));
      if (bytes > limit) return;
      const late = one(time(kind));
      if (unsure.wants(late.seconds, bytes)) unsure.add(late);
      return;
    }
    counts.fitting += 1;
    const seconds = time(kind);
    const at = cloud.key(seconds, bytes);
    const [fast, near, seen] = [
      seconds <= fastest.limit(),
      front.wants(seconds, bytes),
      cloud.wants(at, seconds),
    ];
    if (!fast && !near && !seen) return;
    const found = one(seconds);
    if (fast) fastest.add(found);
    if (near) front.add(found);
    if (seen) cloud.add(at, found);
  }

  const time = (kind) => total(step(job, ...kind.model.records));

  /** Return the chance that a layout's measured peak fits, or null where too few are known. */
  function chance(bytes) {
    return width ? formulas.fit_probability(width, bytes, limit) : null;
  }
  /** Return the ends of the interval of a layout's time, or null where too few runs are known. */
  function interval({ layout }) {
    const width = model.widths?.[machine.kindOf(job)];
    if (!width) return null;
    put(tried.row_fields, layout);
    const [redo, zero, sequence] = layout.slice(tried.row_fields.length);
    const again = tried.recompute[redo];
    job.recompute_full = again === "full" ? 1 : 0;
    job.recompute_selective = again === "selective" ? 1 : 0;
    job.zero_stage = tried.zero[zero];
    job.sequence_parallel = tried.sequence[sequence];
    const kind = kinds[formulas.shares_weights(job)];
    const parts = step(job, ...kind.model.records);
    const all = total(parts);
    return formulas.interval_s(job, kind.time, width, parts, all, machine.slowest(job, kind.model, width, all));
  }
  const told = (one) => ({ ...one, chance: chance(one.bytes) });

  /** What was found so far; of the fastest `most`, or all that tie. */
  function result(most = KEEP) {
    /** Where none is as sure as asked, the fastest of the most likely to fit stands alone. */
    const likely = counts.fitting ? [] : unsure.list();
    const near = likely.length ? chance(likely[likely.length - 1].bytes) - tried.near_chance : 0;
    const alone = likely.length ? [likely.find((one) => chance(one.bytes) >= near)] : null;
    const best = alone ?? fastest.list();
    const share = tried.ties[model.key];
    const ties = best.filter((one) => one.seconds <= best[0].seconds * (1 + share)).length;
    const byCount = Object.entries(dropped).sort((a, b) => b[1] - a[1]);
    return {
      ...{ question, software: kinds.map((one) => one.title), model: model.key, limit, ties, counts, settings: tried, share, codes: schedules },
      interval: best.length ? interval(best[0]) : null,
      best: best.slice(0, Math.max(most, ties)).map(told),
      front: (alone ? likely : front.list()).map(told),
      unsure: alone ? chances.chance : null,
      cloud: packed(best.length ? cloud.list(SLOWEST * best[0].seconds).map(told) : []),
      dropped: byCount,
      leanest: best.length || !leanest ? null : told(leanest),
    };
  }
  return { rows, result, counts };
}
