/** From inputs to one finished timeline. All arithmetic is the generated pipeline.js. */

import { SCHEDULES } from "./data.js";
import * as pipeline from "./pipeline.js";

export const LETTERS = "FBIW";
// 64 stages, 512 micro-batches and 2 chunks, with the backward in two.
const MOST_ACTIONS = 64 * 512 * 2 * 3;

/** Return the chunks a schedule needs, or 0 where there is a choice. */
export const fixedChunks = pipeline.fixed_chunks;

/** Return the chunks a GPU holds: the schedule's own number, one alone on one GPU, else the chosen. */
export function chunksOf(state, name) {
  const own = fixedChunks(name);
  return own && state.p === 1 ? 1 : own || state.v;
}

/** Return why a schedule cannot run at these sizes, or cannot be drawn here, or "". */
export function refusal(state, name) {
  const v = chunksOf(state, name);
  const reason = pipeline.refusal(name, state.p, state.m, v);
  if (reason || 3 * state.p * state.m * v <= MOST_ACTIONS) return reason;
  return `${name} with stages=${state.p}, micro_batches=${state.m} and chunks=${v} has more actions than this page draws`;
}

/** Return the timeline of one schedule, which must not be refused. */
export function simulate(state, name) {
  const v = chunksOf(state, name);
  const { p, m } = state;
  const stages = p * v;
  const each = (time) =>
    Array.from({ length: stages }, (_, s) => (time / v) * (s === stages - 1 ? state.tl : 1));
  const parts = {
    forward: each(state.tf),
    backward: each(state.ti + state.tw),
    backward_input: each(state.ti),
    backward_weight: each(state.tw),
  };
  const send = { latency: state.ts, transfer: 0, blocking: false };
  // The F and the backward that DualPipe pairs hand on their results together.
  const pair = { paired: true, hidden: state.th / v };
  const [f, i, w] = [parts.forward, parts.backward_input, parts.backward_weight];
  const lengths = f.map((_, s) => [f[s], i[s], w[s]]);
  const tried = pipeline.tried_orders(name, p, m, v, lengths, state.ts).map((orders) => {
    const times = pipeline.stage_times(orders, stages, m, parts, send, pair);
    const result = pipeline.execute(orders, stages, m, times);
    return { orders, times, result, length: pipeline.bubble(orders, result).makespan };
  });
  // One order, but where a search makes it.
  const { orders, times, result } = tried.reduce((a, b) => (b.length < a.length ? b : a));
  const both = SCHEDULES.find((one) => one.name === name).copies;
  const run = { name, p, m, v, both, stages, orders, times, result, lastly: {} };
  Object.assign(run, pipeline.bubble(orders, result));
  run.rows = orders.map((_, rank) => row(run, rank));
  run.boxes = run.rows.reduce((count, one) => count + one.length, 0);
  run.held = orders.map((order, rank) => held(run, rank));
  run.peak = run.held.reduce((most, one) => Math.max(most, one.peak), 0);
  return run;
}

/** Return a GPU's actions in order of time: what they are, when, and their place in the order. */
function row(run, rank) {
  const { stages, m } = run;
  const [starts, ends] = [run.result.starts[rank], run.result.ends[rank]];
  const found = [];
  let busy = 0;
  let half = 2;
  run.orders[rank].forEach((code, at) => {
    const kind = pipeline.kind_of(code, stages, m);
    if (kind > 3) half = run.times.paired ? 0 : 2;
    if (kind > 3) return;
    const [start, end] = [starts[at], ends[at]];
    const stage = pipeline.stage_of(code, stages, m);
    const mb = code % m;
    // A second direction is told apart as a second chunk is.
    const side = run.both ? +(mb >= m / 2) : Math.floor(stage / run.p);
    found.push({ code, kind, mb, stage, side, start, end, at, rank, i: found.length, busy, half });
    // The halves of a pair share their time: it counts once, after both.
    if (half > 0) busy += end - start;
    half = Math.min(2, half + 1);
  });
  return found;
}

/** Return what a GPU keeps over time, in whole micro-batches' worth of its activations. */
function held(run, rank) {
  const share = Array.from({ length: run.stages }, () => 1 / run.v);
  const { starts, ends } = run.result;
  const { orders, stages, m } = run;
  const found = pipeline.held_over_time(
    orders[rank],
    starts[rank],
    ends[rank],
    stages,
    m,
    share,
    1,
  );
  found.peak = pipeline.peak_in_flight(orders[rank], stages, m) / run.v;
  return found;
}

/** Return the value of a key, worked out when first asked for. */
function once(run, key, make) {
  run.lastly[key] ??= make();
  return run.lastly[key];
}

const places = (run) => once(run, "place", () => pipeline.positions(run.orders, run.stages, run.m));

/** Return the box that an action waits for, or null for the first stage's forward. */
export function needed(run, box) {
  const place = places(run);
  const code = pipeline.producer(box.code, run.stages, run.m, place);
  return code < 0 ? null : boxAt(run, place.rank[code], place.index[code]);
}

function boxAt(run, rank, at) {
  const order = once(run, `at${rank}`, () => new Map(run.rows[rank].map((box) => [box.at, box])));
  return order.get(at) ?? null;
}

/** Return the boxes of the chain that sets the length of the step, first to last. */
export const critical = (run) =>
  once(run, "critical", () =>
    pipeline
      .critical_path(run.orders, run.stages, run.m, run.result)
      .map(([rank, at]) => boxAt(run, rank, at))
      .filter(Boolean),
  );

/** Return all boxes of one micro-batch, in order of time. */
export const chain = (run, mb) =>
  run.rows
    .flatMap((boxes) => boxes.filter((box) => box.mb === mb))
    .sort((a, b) => a.start - b.start || a.rank - b.rank);

/** Return idle time over all GPUs by cause: fill, drain, send, imbalance. */
export const causes = (run) =>
  once(run, "causes", () => {
    const { orders, stages, m, result, times } = run;
    const total = { fill: 0, drain: 0, send: 0, imbalance: 0 };
    for (const one of pipeline.idle_by_cause(orders, stages, m, result, times)) {
      for (const key of Object.keys(total)) total[key] += one[key];
    }
    return total;
  });

/** Return the messages between GPUs in a step. */
export const messages = (run) =>
  once(run, "messages", () => {
    const crossing = pipeline.crossing_rows(run.orders, run.stages, run.m);
    return pipeline.sends(run.orders, run.stages, run.m, crossing).reduce((a, b) => a + b, 0);
  });

function lastBefore(list, time, timeOf) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeOf(list[middle]) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Return the index of the last box that has started at a time, or -1. */
export const lastStarted = (boxes, time) => lastBefore(boxes, time, (box) => box.start);

/** Return the box at a time on a GPU (`low`: the first of a pair), or the gap as { from, to, next }. */
export function at(run, rank, time, low = false) {
  const boxes = run.rows[rank];
  let i = lastStarted(boxes, time);
  if (low && boxes[i]?.half === 1) i -= 1;
  if (i >= 0 && time < boxes[i].end) return { box: boxes[i] };
  const next = boxes[i + 1] ?? null;
  return {
    gap: { rank, from: i < 0 ? 0 : boxes[i].end, to: next ? next.start : run.makespan, next },
  };
}

/** Return the idle time of all GPUs up to a time, and the time itself over all GPUs. */
export function idleUntil(run, time) {
  let busy = 0;
  for (const boxes of run.rows) {
    const i = lastStarted(boxes, time);
    if (i >= 0) busy += boxes[i].busy + Math.min(time, boxes[i].end) - boxes[i].start;
  }
  return { idle: run.p * time - busy, total: run.p * time };
}

/** Return what a GPU holds at a time. */
export function heldAt(run, rank, time) {
  const { time: when, held: amount } = run.held[rank];
  const i = lastBefore(when, time, (value) => value);
  return i < 0 || time >= run.makespan ? 0 : amount[i];
}

/** Return the next time after (or the last before) one at which something starts or ends. */
export function neighbour(run, time, forward) {
  let best = forward ? run.makespan : 0;
  for (const boxes of run.rows) {
    const i = lastStarted(boxes, time);
    for (const box of boxes.slice(Math.max(0, i - 1), i + 3)) {
      for (const edge of [box.start, box.end]) {
        if (forward && edge > time + 1e-9 && edge < best) best = edge;
        if (!forward && edge < time - 1e-9 && edge > best) best = edge;
      }
    }
  }
  return best;
}
