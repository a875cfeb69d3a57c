/** From a state to counts: all arithmetic is Python's, in ranks.js. */

import {
  axis_strides,
  expert_counts,
  group_counts,
  hop_counts,
  used_per_domain,
} from "./ranks.js";
import { ORDERS } from "./state.js";

const KINDS = [
  ["tensor", ["tp"]],
  ["context", ["cp"]],
  ["pipeline", ["pp"]],
  ["data", ["cp", "dp"]],
];

/** Return everything that is drawn and said about a state. */
export function placed(state) {
  const order = ORDERS[state.o];
  const sizes = { tp: state.t, cp: state.c, pp: state.p, dp: state.d };
  const places = state.t * state.c * state.d;
  // As in the package: experts are cut from the ranks of a stage.
  const experts = places % state.e === 0 ? state.e : 1;
  const inside = order.indexOf("dp") < order.indexOf("pp") ? 1 : 0;
  const used = used_per_domain(state.n, state.t, state.c, experts, inside);
  const devices = places * state.p;
  const groups = [];
  for (const [kind, along] of KINDS) {
    const size = along.reduce((product, axis) => product * sizes[axis], 1);
    if (size === 1) continue;
    const [stay, cross] = group_counts(order, sizes, along, used);
    groups.push({ kind, size, stay, cross });
  }
  if (experts > 1) {
    const [stay, cross] = expert_counts(order, sizes, 1, experts, used);
    groups.push({ kind: "expert", size: experts, stay, cross });
  }
  const [near, far] = hop_counts(order, sizes, 1, used);
  return {
    state,
    order,
    sizes,
    experts,
    strides: axis_strides(order, sizes),
    used,
    devices,
    domains: Math.ceil(devices / used),
    groups,
    near,
    far,
  };
}

/** Return where a rank stands on each axis. */
export function coordinates(job, rank) {
  const found = {};
  for (const axis of job.order) found[axis] = Math.floor(rank / job.strides[axis]) % job.sizes[axis];
  return found;
}

/** Return the next stage's rank, or -1 for the last stage. */
export function next(job, rank) {
  return coordinates(job, rank).pp + 1 < job.sizes.pp ? rank + job.strides.pp : -1;
}

/** Return one sentence about what crosses. */
export function verdict(job) {
  const words = [];
  const all = job.near + job.far;
  const share = job.near.toLocaleString("en") + " of " + all.toLocaleString("en");
  if (all) words.push("Pipeline hops inside a domain: " + share + ".");
  const inside = job.groups.filter((group) => !group.cross).map((group) => group.kind);
  const across = job.groups.filter((group) => group.cross).map((group) => group.kind);
  if (inside.length) words.push("Inside: all " + inside.join(", ") + " groups.");
  if (across.length) words.push("Over the network: " + across.join(", ") + " groups.");
  if (!words.length) words.push("One GPU: nothing to send.");
  const idle = job.domains * job.state.n - job.devices;
  if (idle) words.push(idle.toLocaleString("en") + " GPUs left over.");
  return words.join(" ");
}

/** Return one sentence about a rank. */
export function story(job, rank) {
  const at = coordinates(job, rank);
  const domain = Math.floor(rank / job.used) + 1;
  const words = [
    "GPU " + rank + " in domain " + domain + ": tensor rank " + at.tp + ", stage " + letter(at.pp),
  ];
  if (job.sizes.cp > 1) words.push("context rank " + at.cp);
  words.push("replica " + at.dp);
  const after = next(job, rank);
  const there = Math.floor(after / job.used) + 1;
  if (after < 0) return words.join(", ") + ". Last stage: sends no activations on.";
  const way = there === domain ? "inside its domain" : "over the network, to domain " + there;
  return words.join(", ") + ". Sends to GPU " + after + ", " + way + ".";
}

/** Return the letter of a stage. */
export const letter = (stage) => String.fromCharCode(65 + (stage % 26));
