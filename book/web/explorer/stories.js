/** The stories: inputs and a sentence each. Numbers in a sentence come from the answer. */

import { DEFAULTS } from "./state.js";

const GPT3 = {};
const LONG = {
  model: "llama3-8b",
  gpu: "h100",
  tp: 8,
  seq: 131072,
  batch: 64,
  recompute: "none",
  sp: 1,
};
const EXPERTS = {
  model: "deepseek-v3",
  gpu: "h100",
  tp: 1,
  pp: 16,
  n: 2048,
  seq: 4096,
  batch: 4096,
  recompute: "full",
  zero: 1,
};

/**
 * Title, inputs, the layout to compare with, and what to see. In a sentence {name} is a
 * number of the layout, {pin.name} one of the layout it is compared with.
 */
export const STORIES = [
  {
    key: "one-server",
    title: "GPT-3 on one server",
    change: GPT3,
    pin: null,
    say: "All {parameters} parameters on {gpus} GPUs. Look at the dashed line: the optimizer's {optimizer} alone pass the {limit} of a GPU.",
  },
  {
    key: "stages",
    title: "Cut it into 8 stages",
    change: { pp: 8, n: 64 },
    pin: GPT3,
    say: "Eight pipeline stages on {gpus} GPUs: every part shrinks, {pin.memory} become {memory}, and {idle} of the step is now bubble.",
  },
  {
    key: "keep",
    title: "Keep the activations",
    change: { pp: 8, n: 64, recompute: "none" },
    pin: { pp: 8, n: 64 },
    say: "Without recomputation the step takes {step}, not {pin.step}, but activations grow from {pin.activations} to {activations}.",
  },
  {
    key: "few",
    title: "Few micro-batches",
    change: { pp: 8, n: 64, batch: 10 },
    pin: { pp: 8, n: 64, batch: 64 },
    say: "With {m} micro-batches the bubble eats {idle} of the step; with {pin.m} it was {pin.idle}. Memory hardly moves.",
  },
  {
    key: "far",
    title: "Tensor parallel across servers",
    change: { tp: 16, pp: 4, n: 64, by: "roofline" },
    pin: { tp: 8, pp: 8, n: 64, by: "roofline" },
    say: "Sixteen-way tensor parallelism spends {tensor_parallel_share} of the step in its messages, eight-way {pin.tensor_parallel_share}.",
  },
  {
    key: "long",
    title: "128k tokens",
    change: { ...LONG, cp: 4, n: 32 },
    pin: { ...LONG, cp: 1, n: 32 },
    say: "Cutting each sequence in four brings activations from {pin.activations} to {activations}; gathering keys and values costs {context_parallel_share} of the step. Full recomputation would fit too, in more time.",
  },
  {
    key: "experts",
    title: "Experts far apart",
    change: { ...EXPERTS, ep: 64 },
    pin: { ...EXPERTS, ep: 8 },
    say: "Experts over 64 GPUs fit in {memory} instead of {pin.memory}, but their all-to-alls leave the server: {expert_parallel_share} of the step, not {pin.expert_parallel_share}.",
  },
];

/** The whole state of a story. */
export function storyState(story) {
  return { ...DEFAULTS, ...story.change };
}

/** The state a story is compared with, or null. */
export function pinState(story) {
  return story.pin && { ...DEFAULTS, ...story.pin };
}

/** The story that a state is, or null. */
export function storyOf(state) {
  const same = (one) => Object.keys(DEFAULTS).every((key) => one[key] === state[key]);
  return STORIES.find((story) => same(storyState(story))) ?? null;
}

/** Split a sentence into words and numbers: [["text"], ["name", "pin"?], …]. */
export function pieces(sentence) {
  return sentence.split(/(\{[\w.]+\})/).map((piece) => {
    const match = /^\{(pin\.)?(\w+)\}$/.exec(piece);
    return match ? { name: match[2], pinned: Boolean(match[1]) } : piece;
  });
}
