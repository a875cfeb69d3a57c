/** What a search keeps of all layouts: the fastest, the front, and a picture of the rest. */

/** Slower layouts than so many times the best are counted, not drawn. */
export const SLOWEST = 4;

/** Whole numbers of a row and its switches, in the order that decides between equals. */
const compareLists = (a, b) => {
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return a[at] - b[at];
  return 0;
};

/** The order of Python: by time, then memory, then the layout itself. */
export const compare = (a, b) =>
  a.seconds - b.seconds || a.bytes - b.bytes || compareLists(a.layout, b.layout);

/** The `most` fastest: `limit()` is the time that none may exceed. */
export function makeFastest(most) {
  let kept = [];
  let limit = Infinity;
  function settle() {
    kept.sort(compare);
    kept.length = Math.min(kept.length, most);
    if (kept.length === most) limit = kept[most - 1].seconds;
  }
  function add(one) {
    kept.push(one);
    if (kept.length >= 3 * most) settle();
  }
  const list = () => {
    settle();
    return kept;
  };
  return { add, list, limit: () => limit };
}

/** The layouts that no other beats in both time and memory, fastest first. */
export function makeFront() {
  const front = [];
  /** The place of the first entry that is slower than `seconds`. */
  function after(seconds) {
    let low = 0;
    let high = front.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (front[middle].seconds > seconds) high = middle;
      else low = middle + 1;
    }
    return low;
  }
  /** Whether a layout may belong to the front; equals are settled by `add`. */
  function wants(seconds, bytes) {
    const before = front[after(seconds) - 1];
    return !before || bytes < before.bytes || (bytes === before.bytes && seconds === before.seconds);
  }
  function add(one) {
    let at = after(one.seconds);
    const before = front[at - 1];
    if (before?.seconds === one.seconds) {
      if (before.bytes === one.bytes && compareLists(before.layout, one.layout) < 0) return;
      at -= 1;
    }
    let end = at;
    while (end < front.length && front[end].bytes >= one.bytes) end += 1;
    front.splice(at, end - at, one);
  }
  return { add, wants, list: () => front };
}

/** Numbers of a layout before its own: time, memory, chance. */
export const HEAD = 3;

/** Return layouts as one list of numbers: thousands of records would stop the page to be read. */
export function packed(list) {
  const wide = list.length ? HEAD + list[0].layout.length : 1;
  const values = new Float64Array(wide * list.length);
  list.forEach((one, at) => values.set([one.seconds, one.bytes, one.chance ?? NaN, ...one.layout], at * wide));
  return { values, wide, length: list.length };
}

/** Return one of them as a record again. */
export function unpacked({ values, wide }, at) {
  const [seconds, bytes, chance, ...layout] = values.subarray(at * wide, (at + 1) * wide);
  return { seconds, bytes, chance: Number.isNaN(chance) ? null : chance, layout };
}

/** The fastest layout of each cell of a picture: times by their ratio, memory by its share. */
export function makeCloud(limitBytes) {
  const cells = new Map();
  const key = (seconds, bytes) =>
    Math.floor(Math.log2(seconds) * 40) * 128 + Math.floor((bytes / limitBytes) * 90);
  const wants = (at, seconds) => !(cells.get(at)?.seconds <= seconds);
  const list = (slowest) => [...cells.values()].filter((one) => one.seconds <= slowest);
  return { add: (at, one) => cells.set(at, one), key, wants, list };
}
