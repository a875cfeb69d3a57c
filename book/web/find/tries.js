/** What is tried: the same of all software that nobody names; named software cuts some of it. */

import { saysHow } from "../explorer/state.js";

/** The fields that a limit beside a size may be of, by the name of what is tried of them. */
const TRIED = { zero_stage: "zero", sequence_parallel: "sequence" };

/** Return what a search tries, with `sizes`: those that a size may have where it is not free. */
export function triesOf(state, data, named) {
  if (!saysHow(state)) return { ...data.search, sizes: {}, beside: [] };
  const { tried, tables, software } = named.tries;
  const values = { name: state.stack, date: state.date, generation: tables.devices[state.gpu].generation };
  const own = tried[software.ask("runs", values).tried];
  const all = { ...data.search, ...own, zero: software.ask("zero", values).zero };
  // Of a limit that everything breaks nothing is left to try: it was asked for by name.
  const beside = own.beside.filter((limit) => limit.counts || all[TRIED[limit.of]]?.some((value) => inside(limit, value)));
  return { ...all, beside };
}

const inside = ({ least, most }, value) => (least === null || value >= least) && (most === null || value <= most);

/** Whether it is counted for each row, and not for each way to share and to cut the sequence. */
const ofRows = ({ counts, switched }) => counts && !switched;

/** Whether the software runs a layout beside its sizes. */
export const runsBeside = (beside, job, formulas) =>
  beside.every((limit) => {
    if (ofRows(limit)) return true;
    const free = Object.entries(limit.above).some(([name, above]) => job[name] <= above);
    return free || inside(limit, limit.counts ? formulas[limit.of](job) : job[limit.of]);
  });

/** The number of the rule that a count of a row breaks with the software, or 0: the last of several. */
export const countsRule = (beside, job, formulas) =>
  beside.reduce((found, limit) => (ofRows(limit) && formulas[limit.of](job) > 0 ? limit.rule : found), 0);

/** Return the ways to cut that may be tried, from the package's own lists. */
export function makeCuts({ sizes }, formulas) {
  const allows = (name, size) => sizes[name]?.includes(size) ?? true;

  /** Pairs of expert ranks and the tensor ranks inside an expert. */
  function splits(experts, tp, ranks) {
    const every = formulas.expert_splits(experts, tp, ranks).filter(([ep]) => allows("ep", ep));
    if (!sizes.etp || !experts) return every;
    return [...new Set(every.map(([ep]) => ep))].flatMap((ep) => sizes.etp.map((etp) => [ep, etp]));
  }

  /** Chunks, schedule and micro-batch on some stages. */
  function runs(layers, pp, schedules, micro) {
    if (!sizes.vpp || pp > layers) return formulas.runs_for(layers, pp, schedules, micro);
    const chunks = sizes.vpp.filter((size) => (pp === 1 ? size === 1 : size * pp < layers + pp));
    return chunks.flatMap((size) =>
      formulas.schedules_for(schedules, pp, size, true).flatMap((one) => micro.map((batch) => [size, one, batch])),
    );
  }

  const stages = (n) => formulas.divisors(n).filter((pp) => allows("pp", pp));
  const tensors = (n) => formulas.divisors(n).filter((tp) => allows("tp", tp));
  const sizesOf = (ranks, pp, tp, copies, found) =>
    formulas.sizes_of(ranks, pp, tp, sizes.dp_replicate ?? copies, found).filter((one) => allows("cp", one[1]) && allows("dp", one[3]));
  return { stages, tensors, splits, runs, sizesOf };
}
