/**
 * What the reader has chosen: one flat object of inputs, never of results.
 * It is read from and written to the address, and kept for undo.
 */

import { asked } from "./asked.js";

export const PREFIX = "l.";
const WAS = "was.";

export const CHOICES = {
  ...asked.offered,
  zero: [0, 1, 2, 3],
  recompute: ["none", "selective", "full"],
  sp: [0, 1],
  precision: ["bf16", "fp8", "mxfp8", "nvfp4"],
  schedule: ["gpipe", "1f1b", "interleaved-1f1b", "zb-h1"],
  by: ["roofline", "baseline"],
};

/** Every size where nothing is cut. */
export const UNCUT = Object.fromEntries(asked.sizes.map((key) => [key, 1]));

export const DEFAULTS = {
  model: "gpt3-175b",
  gpu: "a100-80gb",
  n: 8,
  ...UNCUT,
  tp: 8,
  zero: 0,
  recompute: "full",
  seq: 2048,
  batch: 1536,
  mb: 1,
  schedule: "1f1b",
  sp: 0,
  precision: "bf16",
  domain: 0,
  net: 0,
  tokens: 300e9,
  by: "roofline",
  own: "",
  stack: "",
  date: "",
  facts: "",
};

/** Whether a state says anything of the software, and not what is usual. */
export const saysHow = (state) => Boolean(state.stack || state.date || state.facts);

/** The single facts that a state states, by name: "overlap_dp=0,kernel=flash-2". */
export function factsOf(state) {
  const pairs = state.facts ? state.facts.split(",").map((one) => one.split("=")) : [];
  return Object.fromEntries(pairs.map(([name, value]) => [name, Number.isNaN(Number(value)) ? value : Number(value)]));
}

/** Inputs where 0 stands for the accelerator as it is built. */
const AS_BUILT = ["domain", "net"];

/** Bounds of the numbers that are typed, and that an address may hold. */
export const BOUNDS = {
  n: [1, 1048576],
  ...Object.fromEntries(
    Object.entries(asked.most).map(([key, most]) => [key, [AS_BUILT.includes(key) ? 0 : 1, most]]),
  ),
  tokens: [1e6, 1e18],
};

/** How a stack, a month and single facts are written; the tables say later which there are. */
const WRITTEN = {
  stack: /^[a-z][a-z0-9-]{1,40}$/,
  date: /^(19|20)\d\d-(0[1-9]|1[0-2])$/,
  facts: /^\w+=[\w.+-]+(,\w+=[\w.+-]+){0,60}$/,
};

const CLOSED = ["zero", "recompute", "sp", "precision"];
const NAMED = { gpu: "accelerators", by: "step_models", schedule: "schedules" };

/** The sizes of a model of one's own, in the order the address lists them. */
export const OWN_FIELDS = [
  "num_layers",
  "hidden_size",
  "ffn_hidden_size",
  "num_attention_heads",
  "num_query_groups",
  "vocab_size",
  "gated",
  "tied",
  "num_experts",
  "top_k",
  "expert_ffn_hidden_size",
  "num_shared_experts",
];

/** What a whole file of a model may say beyond them, in the order the address lists it. */
export const OWN_MORE = [
  "head_dim",
  "learned_positions",
  "window_size",
  "windowed_layers",
  "num_dense_layers",
  "expert_groups",
  "max_groups",
  "q_lora_rank",
  "kv_lora_rank",
  "qk_nope_head_dim",
  "qk_rope_head_dim",
  "v_head_dim",
];

/** What follows from the sizes where no file says otherwise. */
function usual(shape) {
  const more = Object.fromEntries(OWN_MORE.map((name) => [name, 0]));
  more.head_dim = shape.hidden_size / shape.num_attention_heads;
  more.num_dense_layers = shape.num_experts > 0 ? 0 : shape.num_layers;
  more.expert_groups = shape.num_experts > 0 ? 1 : 0;
  return { ...shape, ...more };
}

/** Return the sizes in an `own` value, or null where it is no list of whole numbers. */
export function ownShape(own) {
  const parts = String(own).split("-").map(Number);
  const names = parts.length > OWN_FIELDS.length ? [...OWN_FIELDS, ...OWN_MORE] : OWN_FIELDS;
  const whole = (value) => Number.isInteger(value) && value >= 0 && value <= 1e8;
  if (parts.length !== names.length || !parts.every(whole)) return null;
  const given = Object.fromEntries(names.map((name, index) => [name, parts[index]]));
  const shape = names === OWN_FIELDS ? usual(given) : given;
  // Latent attention has widths of its own, as in inputs/model.py.
  if (shape.v_head_dim) shape.head_dim = shape.v_head_dim;
  const needed = [...OWN_FIELDS.slice(0, 6), "head_dim"];
  const good =
    needed.every((name) => Number.isInteger(shape[name]) && shape[name] >= 1) &&
    shape.gated <= 1 &&
    shape.tied <= 1 &&
    shape.num_attention_heads % shape.num_query_groups === 0 &&
    shape.windowed_layers <= shape.num_layers &&
    shape.num_dense_layers <= shape.num_layers &&
    shape.max_groups <= shape.expert_groups &&
    shape.top_k <= shape.num_experts &&
    (shape.num_experts === 0) === (shape.top_k === 0) &&
    (shape.num_experts === 0 || shape.expert_ffn_hidden_size >= 1) &&
    (shape.kv_lora_rank === 0) === (shape.v_head_dim === 0);
  return good ? shape : null;
}

/**
 * The address part of a state: only what differs from the default. A state that is refused keeps
 * the one before it on the page: `shown`, of which the address says what differs.
 */
export function toQuery(state, query = "", shown = null) {
  const kept = [...new URLSearchParams(query)].filter(([key]) => !key.startsWith(PREFIX));
  const ours = Object.keys(DEFAULTS)
    .filter((key) => state[key] !== DEFAULTS[key])
    .map((key) => [PREFIX + key, String(state[key])]);
  const before = Object.keys(DEFAULTS)
    .filter((key) => shown && shown[key] !== state[key])
    .map((key) => [PREFIX + WAS + key, String(shown[key])]);
  const text = String(new URLSearchParams([...kept, ...ours, ...before]));
  return text ? `?${text}` : "";
}

/**
 * Read a state from an address.
 * Returns the state, the one that was on the page where this one is refused, or null, and the
 * values that could not be read (they keep their default).
 */
export function fromQuery(query, data) {
  const state = { ...DEFAULTS };
  const bad = [];
  const was = {};
  for (const [name, value] of new URLSearchParams(query)) {
    if (!name.startsWith(PREFIX)) continue;
    const said = name.slice(PREFIX.length);
    const key = said.startsWith(WAS) ? said.slice(WAS.length) : said;
    const read = Object.hasOwn(DEFAULTS, key) ? parse(key, value, data) : undefined;
    if (read === undefined) bad.push(`${said}=${value}`.slice(0, 40));
    else (key === said ? state : was)[key] = read;
  }
  // An address may name chunks or a schedule alone; both together are taken as they are.
  const given = (key) => new URLSearchParams(query).has(PREFIX + key);
  if (given("vpp") !== given("schedule")) {
    const key = given("vpp") ? "vpp" : "schedule";
    Object.assign(state, settled(state, key, data, () => true));
  }
  if (state.model === "own" && !ownShape(state.own)) {
    bad.push("own");
    state.model = DEFAULTS.model;
    state.own = "";
  }
  const shown = Object.keys(was).length ? { ...state, ...was } : null;
  return { state, shown, bad };
}

function parse(key, value, data) {
  if (key === "model") {
    return value === "own" || data.models.some((one) => one.key === value) ? value : undefined;
  }
  if (key in NAMED) return data[NAMED[key]].some((one) => one.key === value) ? value : undefined;
  if (key === "own") return ownShape(value) ? value : undefined;
  if (key in WRITTEN) return WRITTEN[key].test(value) ? value : undefined;
  const typed = typeof DEFAULTS[key] === "number" ? Number(value) : value;
  if (CLOSED.includes(key)) return CHOICES[key].includes(typed) ? typed : undefined;
  return inBounds(key, typed) ? typed : undefined;
}

/** Whether a number may be used for a key. */
export function inBounds(key, value) {
  const [least, most] = BOUNDS[key];
  return Number.isInteger(value) && value >= least && value <= most;
}

/** States that undo walks back through. */
export class Undo {
  constructor() {
    this.past = [];
  }

  /** Remember a state; a run of changes of one key within a second is one step. */
  push(state, key) {
    const now = performance.now();
    const last = this.past[this.past.length - 1];
    const same = last && key && last.key === key && now - last.when < 1000;
    if (same) last.when = now;
    else this.past.push({ state, key, when: now });
    if (this.past.length > 200) this.past.shift();
  }

  pop() {
    return this.past.pop()?.state ?? null;
  }

  get empty() {
    return this.past.length === 0;
  }
}

/** Chunks that a schedule's name fixes, 0 where it leaves them open. */
export function chunksOf(schedule, data) {
  return data.schedules.find((one) => one.key === schedule).chunks;
}

/** Make a change consistent: chunks and schedule go together, experts need a mixture. */
export function settled(state, key, data, hasExperts) {
  const next = { ...state };
  const fixed = chunksOf(next.schedule, data);
  const agree = fixed ? next.vpp === fixed : next.vpp > 1;
  if (!agree && key === "vpp") next.schedule = next.vpp > 1 ? "interleaved-1f1b" : "1f1b";
  else if (!agree) next.vpp = fixed || 2;
  if (!hasExperts(next)) next.ep = next.etp = 1;
  return next;
}
