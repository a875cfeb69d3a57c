/**
 * The picture: a dot for each kind of layout that fits, time to the right, memory up, coloured by
 * pipeline stages; a line through those that no other beats in both.
 */

import { h } from "../shared/dom.js";
import { colours, onThemeChange } from "../shared/theme.js";
import { gb, seconds } from "../explorer/format.js";
import { HEAD, SLOWEST, unpacked } from "./kept.js";

const PAD = { left: 46, right: 12, top: 22, bottom: 40 };
const CLASSES = ["1", "2–3", "4–7", "8–15", "16–31", "32–63", "64 and more"];
const REACH = 18;
/** Where the pipeline stages stand among the numbers of a layout of the cloud. */
const STAGES = HEAD + 2;
const NICE = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];

const stageClass = (pp) => Math.min(Math.floor(Math.log2(pp)), CLASSES.length - 1);

/** Round numbers of a range that stand at least `apart` pixels from each other. */
function timeTicks(low, high, x, apart) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power += 1) {
    for (const one of NICE) {
      const value = Number((one * 10 ** power).toPrecision(3));
      const free = !found.length || x(value) - x(found[found.length - 1]) >= apart;
      if (value >= low && value <= high && free) found.push(value);
    }
  }
  return found;
}

/** Steps of memory that are round in GB. */
function memoryTicks(limit) {
  const step = [1, 2, 5, 10, 20, 50, 100].map((one) => one * 1e9).find((one) => limit / one <= 6) ?? limit;
  return Array.from({ length: Math.floor(limit / step) + 1 }, (_, at) => at * step);
}

/** What a picture without layouts says. */
const EMPTY = "Time of a step against memory: no layout found yet";

/** Return the picture; `pick(found, how)` hears of a layout under the pointer or the keys. */
export function makePlot(pick) {
  const canvas = h("canvas", { class: "sf-cloud", "aria-hidden": "true" });
  const svg = h("svg", { class: "sf-front", "aria-hidden": "true" });
  const element = h(
    "div",
    {
      class: "sf-plot",
      role: "img",
      "aria-label": EMPTY,
      tabindex: 0,
      onkeydown: keys,
      onpointermove: (event) => near(event, "look"),
      onpointerleave: () => pick(null, "leave"),
      onclick: (event) => near(event, "take"),
    },
    canvas,
    svg,
  );
  const legend = h(
    "p",
    { class: "sf-legend" },
    "Pipeline stages: ",
    CLASSES.map((word, at) => [h("span", { class: "sf-key" }, h("i", { class: `sf-p${at}` }), word), " "]),
  );
  let shown = null;
  /** Dots of the front, and places of all others in the cloud: x, y, at. */
  let points = [];
  let others = [];
  let fills = null;
  let known = {};
  let chosen = null;
  let waiting = 0;

  /** Draw with the next frame: what comes before it is drawn once. */
  function draw() {
    waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      drawn();
    });
  }

  function scales() {
    const width = Math.max(element.clientWidth, 200);
    const height = Math.max(element.clientHeight, 200);
    /** Where none is as sure as asked, the front begins with what is faster and less likely to fit. */
    const [best, first] = [shown.best[0].seconds, shown.front[0].seconds];
    const low = Math.min(best, first) * 0.97;
    const slowest = Math.max(...shown.front.map((one) => one.seconds), low * 1.5);
    const high = Math.max(Math.min(Math.max(slowest * 1.03, low * 2), low * SLOWEST), best * 1.03);
    const across = width - PAD.left - PAD.right;
    const up = height - PAD.top - PAD.bottom;
    const x = (time) => PAD.left + (across * Math.log(time / low)) / Math.log(high / low);
    const y = (bytes) => height - PAD.bottom - (up * bytes) / shown.limit;
    return { width, height, low, high, x, y };
  }

  function drawn() {
    if (!shown?.best.length) return;
    const { width, height, low, high, x, y } = scales();
    const inside = (one) => one.seconds <= high;
    const place = (one) => ({ found: one, x: x(one.seconds), y: y(one.bytes) });
    const front = shown.front.filter(inside).map(place);
    points = front;
    others = cloudWithin(high, x, y);
    paint(width, height);
    const way = (one, at) => (at ? `H${one.x} V${one.y}` : `M${one.x} ${one.y}`);
    const line = front.map(way).join(" ");
    const tied = Math.min(x(shown.best[0].seconds * (1 + shown.share)), width - PAD.right);
    const first = x(shown.best[0].seconds);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren(
      h("rect", { class: "sf-tie", x: first, y: PAD.top, width: tied - first, height: height - PAD.top - PAD.bottom }),
      h("text", { x: first + 3, y: height - PAD.bottom - 5 }, "tie"),
      ...axes(low, high, x, y, width, height),
      h("path", { class: "sf-line", d: line }),
      ...front.map((one) => dot(one, 5)),
      ...(chosen && inside(chosen) ? [ring(place(chosen))] : []),
    );
  }

  /** Where each layout of the cloud lies that the picture has room for. */
  function cloudWithin(high, x, y) {
    const { values, wide, length } = shown.cloud;
    const found = [];
    for (let at = 0; at < length; at += 1) {
      const [time, bytes] = [values[at * wide], values[at * wide + 1]];
      if (time <= high) found.push({ at, x: x(time), y: y(bytes), of: stageClass(values[at * wide + STAGES]) });
    }
    return found;
  }

  function axes(low, high, x, y, width, height) {
    const base = height - PAD.bottom;
    const times = timeTicks(low, high, x, 54);
    const grid = memoryTicks(shown.limit);
    return [
      h("path", { class: "sf-axis", d: `M${PAD.left} ${PAD.top - 8} V${base} H${width - PAD.right}` }),
      ...times.map((one) => h("text", { x: x(one), y: base + 16, class: "sf-mid" }, seconds(one))),
      ...grid.map((one) => h("text", { x: PAD.left - 6, y: y(one) + 4, class: "sf-end" }, gb(one))),
      ...times.map((one) => h("path", { class: "sf-axis", d: `M${x(one)} ${base} v4` })),
      h("text", { x: width - PAD.right, y: height - 5, class: "sf-end" }, "time of a step →"),
      h("text", { x: 2, y: height - 5 }, "↑ GB a device"),
      h("path", { class: "sf-limit", d: `M${PAD.left} ${y(shown.limit)} H${width - PAD.right}` }),
      h("text", { x: width - PAD.right, y: PAD.top - 6, class: "sf-end" }, `the device has ${gb(shown.limit)} GB`),
    ];
  }

  const dot = (one, size) => {
    const at = `sf-dot sf-p${stageClass(one.found.layout[2])}`;
    return h("rect", { class: at, x: one.x - size, y: one.y - size, width: 2 * size, height: 2 * size, rx: size });
  };
  const ring = (one) => h("rect", { class: "sf-ring", x: one.x - 9, y: one.y - 9, width: 18, height: 18, rx: 9 });

  function paint(width, height) {
    const sharp = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(height * sharp);
    const pen = canvas.getContext("2d");
    pen.scale(sharp, sharp);
    fills ??= colours(element, CLASSES.map((_, at) => `sf-c${at}`));
    pen.globalAlpha = 0.5;
    // One shape a colour: a colour set for each dot takes most of the time.
    const shapes = CLASSES.map(() => new Path2D());
    for (const one of others) shapes[one.of].rect(one.x - 1.5, one.y - 1.5, 3, 3);
    shapes.forEach((shape, at) => {
      pen.fillStyle = fills[`sf-c${at}`];
      pen.fill(shape);
    });
  }

  /** The nearest dot to the pointer; one of the front counts as nearer. */
  function near(event, how) {
    const box = element.getBoundingClientRect();
    let best = null;
    let least = REACH;
    for (const one of [...points, ...others]) {
      const far = Math.hypot(one.x - (event.clientX - box.left), one.y - (event.clientY - box.top));
      const counted = one.found ? far * 0.6 : far;
      if (counted < least) [best, least] = [one, counted];
    }
    if (best || how === "take") pick(best && (best.found ?? recordOf(best.at)), how);
  }

  /** One record a layout, so that the same one is known again. */
  function recordOf(at) {
    known[at] ??= unpacked(shown.cloud, at);
    return known[at];
  }

  function keys(event) {
    const list = shown?.front ?? [];
    const at = list.indexOf(chosen);
    const step = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: list.length - 1 }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const to = list[Math.max(0, Math.min(step, list.length - 1))];
    if (to) pick(to, "take");
  }

  function show(result) {
    shown = result;
    known = {};
    if (!result?.best.length) {
      points = others = [];
      element.setAttribute("aria-label", EMPTY);
      svg.replaceChildren();
      canvas.width = canvas.width;
      return;
    }
    const ends = [result.front[0], result.front[result.front.length - 1]];
    const words = ends.map((one) => `${seconds(one.seconds)} with ${gb(one.bytes)} GB`);
    element.setAttribute(
      "aria-label",
      `Time of a step against memory: ${result.front.length} layouts that no other beats, from ` +
        `${words[0]} to ${words[1]}. Arrow keys go through them; the table below lists the fastest.`,
    );
    draw();
  }
  function choose(found) {
    chosen = found;
    draw();
  }
  new ResizeObserver(draw).observe(element);
  onThemeChange(() => {
    fills = null;
    draw();
  });
  return { element, legend, show, choose };
}
