/**
 * Where things are. Time runs to the right on wide pages and down on narrow ones; the
 * drawing speaks of `along` (time) and `across` (GPUs) and turns into x and y here.
 */

const HEADS = 46;
const SIDE = 40;

/** Return the measures of a chart: `width` pixels, `span` units of time at zoom 1. */
export function geometry(run, width, span, zoom, narrow, most) {
  const sizes = narrow ? down(run, width, span, most) : across(run, width, span, zoom, most);
  const unit = sizes.unit * zoom;
  const length = Math.max(1, unit * span);
  const breadth = run.p * sizes.pitch;
  const rect = narrow
    ? (rank, from, to, low, high) => [
        rank * sizes.pitch + low,
        from * unit,
        high - low,
        (to - from) * unit,
      ]
    : (rank, from, to, low, high) => [
        from * unit,
        rank * sizes.pitch + low,
        (to - from) * unit,
        high - low,
      ];
  const point = narrow ? (time, rank) => [rank, time * unit] : (time, rank) => [time * unit, rank];
  return {
    ...sizes,
    unit,
    length,
    breadth,
    rect,
    point,
    narrow,
    span,
    zoom,
    plot: narrow ? [breadth, length] : [length, breadth],
    heads: narrow ? 20 : HEADS,
    side: narrow ? 26 : SIDE,
    time: (x, y) => (narrow ? y : x) / unit,
    rank: (x, y) => Math.floor((narrow ? x : y) / sizes.pitch),
  };
}

/** Time to the right: a row a GPU, with what it holds drawn under its boxes. */
function across(run, width, span, zoom, most) {
  const steps = [
    [4, 24, 14, 8],
    [8, 20, 11, 6],
    [16, 15, 7, 3],
    [32, 10, 4, 1],
    [64, 7, 0, 1],
  ];
  const unit = (width - HEADS - SIDE - 1) / span;
  let [, box, held, gap] = steps.find(([most]) => run.p <= most);
  // Zoomed in far enough for numbers, rows grow until they hold them.
  if (box < 14 && (run.makespan / run.rows[0].length) * unit * zoom > 16)
    [box, held, gap] = [14, 0, 2];
  // Rows stay where they are when memory comes or goes.
  if (!most) [box, held] = [box + held, 0];
  return { unit, pitch: box + held + gap, box, held };
}

/** Time down: a column a GPU, with what it holds drawn at its right edge. */
function down(run, width, span, most) {
  const pitch = (width - 36) / run.p;
  const held = !most || run.p > 8 ? 0 : run.p > 4 ? 6 : 11;
  const gap = pitch > 12 ? 3 : pitch > 6 ? 1 : 0;
  return { unit: Math.min(14, 462 / span), pitch, box: pitch - held - gap, held };
}

/** Return round times for the axis, at least `room` pixels apart. */
export function ticks(span, unit, room) {
  const base = 10 ** Math.floor(Math.log10(room / unit));
  const step = [1, 2, 5, 10].map((factor) => factor * base).find((one) => one * unit >= room);
  return Array.from({ length: Math.floor(span / step + 1e-9) + 1 }, (_, i) => i * step);
}
