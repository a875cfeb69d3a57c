/** Numbers as readers want them: few digits, a unit, no exponent where a word will do. */

/** Three significant digits, thousands set apart, no trailing noise. */
export function digits(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e15 || size < 1e-3) {
    const [head, tail] = value.toExponential(2).split("e");
    return `${Number(head)}e${Number(tail)}`;
  }
  if (size >= 100) return group(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

/** A whole number with its thousands set apart. */
export function group(value) {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** Gigabytes (1e9): 403, 59.1, 0.2. */
export function gb(bytes) {
  const value = bytes / 1e9;
  if (value >= 99.95) return group(Math.round(value));
  if (Number.isInteger(value)) return String(value);
  return value >= 0.05 ? value.toFixed(1) : "<0.1";
}

/** A time with the unit that keeps it short. */
export function seconds(value) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0 s";
  if (value < 1e-3) return `${digits(value * 1e6)} µs`;
  if (value < 1) return `${digits(value * 1e3)} ms`;
  if (value < 600) return `${digits(value)} s`;
  if (value < 36000) return `${digits(value / 60)} min`;
  return value < 172800 ? `${digits(value / 3600)} h` : `${digits(value / 86400)} days`;
}

/** A share as a percentage: 43 %, 8.6 %. */
export function percent(share) {
  if (!Number.isFinite(share)) return "–";
  const value = share * 100;
  if (value === 0) return "0 %";
  if (value > 0 && value < 0.05) return "<0.1 %";
  return `${value >= 99.95 ? Math.round(value) : value.toFixed(1)} %`;
}

/** A chance in words: none is certain. */
export function likely(chance) {
  if (chance === null) return "not known";
  if (chance >= 0.995) return "over 99 %";
  return chance < 0.005 ? "under 1 %" : `${Math.round(100 * chance)} %`;
}

/** A count with a word for its size: 1.2 M, 300 B, 15 T. */
export function count(value) {
  if (!Number.isFinite(value)) return "–";
  for (const [size, word] of [[1e12, "T"], [1e9, "B"], [1e6, "M"]]) {
    if (value >= size) return `${digits(value / size)} ${word}`;
  }
  return digits(value);
}

/** A power of two as people write it: 2k, 128k. */
export function short(value) {
  if (value >= 1048576 && value % 1048576 === 0) return `${value / 1048576}M`;
  if (value >= 1024 && value % 1024 === 0) return `${value / 1024}k`;
  return String(value);
}

function size(bytes) {
  if (bytes >= 1e8) return `${gb(bytes)} GB`;
  return bytes >= 1e5 ? `${digits(bytes / 1e6)} MB` : `${digits(bytes)} bytes`;
}

/** Any number of a formula with the unit that the end of its name tells. */
export function named(name, value) {
  if (typeof value !== "number") return "";
  if (/(^|_)bytes_per_s$/.test(name)) return `${digits(value / 1e9)} GB/s`;
  if (/(^|_)flop_per_s$/.test(name)) return `${digits(value / 1e12)} TFLOP/s`;
  if (/_bytes$/.test(name)) return size(value);
  if (/tokens_per_s$/.test(name)) return `${digits(value)} tokens/s`;
  if (/(^|_)days$/.test(name)) return `${digits(value)} days`;
  if (/_s$/.test(name)) return seconds(value);
  if (/_fraction$|_share$/.test(name)) return percent(value);
  if (/flop/.test(name)) return `${digits(value)} FLOP`;
  return digits(value);
}
