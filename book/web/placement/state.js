/** What is placed: choices, stories, and their form in the address bar. */

export const CHOICES = {
  t: [1, 2, 4, 8, 16],
  c: [1, 2, 4],
  p: [1, 2, 4, 8, 9, 16],
  d: [1, 2, 4, 8, 9, 16, 64],
  e: [1, 8, 64],
  n: [8, 72],
  o: ["megatron", "llama3"],
};

export const NAMES = {
  t: "Tensor parallel",
  c: "Context parallel",
  p: "Pipeline stages",
  d: "Data parallel",
  e: "Expert ranks",
  n: "GPUs in a domain",
  o: "Rank order",
};

export const ORDERS = {
  megatron: ["tp", "cp", "dp", "pp"],
  llama3: ["tp", "cp", "pp", "dp"],
};

/** A story holds inputs, never outputs. */
export const STORIES = [
  {
    name: "Eight by sixteen on racks",
    see: "After every ninth stage the pipeline leaves its rack.",
    state: { t: 8, c: 1, p: 16, d: 9, e: 1, n: 72, o: "llama3" },
  },
  {
    name: "The same on servers",
    see: "A tensor group fills a server, so every hop goes over the network.",
    state: { t: 8, c: 1, p: 16, d: 9, e: 1, n: 8, o: "llama3" },
  },
  {
    name: "Nine stages divide the rack",
    see: "Eight times nine is 72: each pipeline has a rack of its own.",
    state: { t: 8, c: 1, p: 9, d: 16, e: 1, n: 72, o: "llama3" },
  },
  {
    name: "Tensor groups of 16",
    see: "Four groups fill 64 GPUs of a rack; the dashed eight are left over.",
    state: { t: 16, c: 1, p: 4, d: 9, e: 1, n: 72, o: "llama3" },
  },
  {
    name: "64 expert ranks",
    see: "With data-parallel ranks as neighbours an expert group fits into one rack.",
    state: { t: 1, c: 1, p: 16, d: 64, e: 64, n: 72, o: "megatron" },
  },
];

export const FIRST = STORIES[0].state;
const PREFIX = "rk_";

/** Return the state that the address bar asks for, and whether part of it made no sense. */
export function fromAddress(search) {
  const asked = new URLSearchParams(search);
  const state = { ...FIRST };
  let odd = false;
  for (const key of Object.keys(CHOICES)) {
    const value = asked.get(PREFIX + key);
    if (value === null) continue;
    const found = CHOICES[key].find((choice) => String(choice) === value);
    if (found === undefined) odd = true;
    else state[key] = found;
  }
  return { state, odd };
}

/** Return the address for a state: only what differs from the first story is written. */
export function toAddress(state, href) {
  const address = new URL(href);
  for (const key of Object.keys(CHOICES)) {
    if (state[key] === FIRST[key]) address.searchParams.delete(PREFIX + key);
    else address.searchParams.set(PREFIX + key, state[key]);
  }
  return address;
}
