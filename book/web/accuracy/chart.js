/** The picture: predicted over published above, the error of the same runs below. */

import { h } from "../shared/dom.js";
import { errorOf, RUNS } from "./model.js";
import { signed } from "./words.js";

const SECONDS = [0.1, 5000];
const TICKS = [1, 10, 100, 1000];
const MOST = 0.7;
const BAND = 0.1;
const LEFT = 44;
const RIGHT = 8;
const TOP = 20;
const GAP = 32;
const NEAR = 28;
const SHAPES = [
  "m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z",
  "m-2.8-2.8h5.6v5.6h-5.6z",
  "m0-3.9l3.7 6.4h-7.4z",
];

/** The mark of a kind of run: a circle, a square or a triangle. */
export const mark = (kind, x = 0, y = 0) => `M${x.toFixed(1)} ${y.toFixed(1)}${SHAPES[kind]}`;

const [LOW, HIGH] = SECONDS.map(Math.log);
const held = (value, low, high) => Math.min(high, Math.max(low, value));

/** Where things stand in a picture of this width. */
function scales(width) {
  const main = width < 560 ? 290 : 320;
  const low = width < 560 ? 110 : 120;
  const wide = width - LEFT - RIGHT;
  const split = TOP + main + GAP;
  return {
    width, main, split, bottom: split + low, right: width - RIGHT,
    x: (seconds) => LEFT + (wide * (Math.log(seconds) - LOW)) / (HIGH - LOW),
    y: (seconds) => TOP + (main * (HIGH - Math.log(seconds))) / (HIGH - LOW),
    e: (error) => split + (low * (MOST - held(error, -MOST, MOST))) / (2 * MOST),
  };
}

/** Lines, ticks and the band within ten percent. */
function ground(at) {
  const { x, y, e, right, bottom, main, split } = at;
  const [low, high] = SECONDS;
  const by = Math.exp(BAND);
  const corner = [[low, low * by], [high / by, high], [high, high], [high, high / by], [low * by, low], [low, low]];
  const parts = [
    h("path", { class: "band", d: `M${corner.map(([a, b]) => [x(a), y(b)].join(" ")).join("L")}z` }),
    h("path", { class: "band", d: `M${LEFT} ${e(BAND)}H${right}V${e(-BAND)}H${LEFT}z` }),
  ];
  const label = (text, left, top, side) => h("text", { x: left, y: top, class: side }, text);
  for (const tick of TICKS) {
    parts.push(
      h("path", { class: "grid", d: `M${x(tick)} ${TOP}V${TOP + main}M${x(tick)} ${split}V${bottom}M${LEFT} ${y(tick)}H${right}` }),
      label(`${tick} s`, LEFT - 5, y(tick) + 4, "end"), label(`${tick} s`, x(tick), bottom + 15, "mid"),
    );
  }
  for (const error of [-0.5, 0, 0.5]) {
    if (error) parts.push(h("path", { class: "grid", d: `M${LEFT} ${e(error)}H${right}` }));
    parts.push(label(signed(error).replace(".0", ""), LEFT - 5, e(error) + 4, "end"));
  }
  parts.push(
    h("path", { class: "equal", d: `M${x(low)} ${y(low)}L${x(high)} ${y(high)}M${LEFT} ${e(0)}H${right}` }),
    label("predicted step time", 0, 12), label("error, ln(predicted / published)", 0, split - 9),
    label("too slow", right, split - 9, "end"), label("too fast", right - 3, bottom - 4, "end"),
    label("published step time", right, bottom + 31, "end"),
  );
  return parts;
}

/** Make the chart. `events.point(run, click)` and `events.key(event)` are told what happens. */
export function chart(events) {
  const svg = h("svg", { class: "plot", role: "img" });
  const element = h("div", { class: "chart", tabindex: 0, role: "application", "aria-roledescription": "chart" }, svg);
  const ring = h("g", { class: "ring" });
  let at = scales(600);
  let places = [];
  let placeOf = new Map();

  function nearest(event) {
    const box = svg.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    const below = top > at.split - GAP / 2;
    let best = null;
    let least = NEAR ** 2;
    for (const place of places) {
      const far = (place.x - left) ** 2 + ((below ? place.e : place.y) - top) ** 2;
      if (far < least) [best, least] = [place.run, far];
    }
    return best;
  }

  svg.addEventListener("pointermove", (event) => events.point(nearest(event), false));
  svg.addEventListener("pointerleave", () => events.point(null, false));
  svg.addEventListener("click", (event) => events.point(nearest(event), true));
  element.addEventListener("keydown", (event) => events.key(event));

  function placed(run, model) {
    const error = errorOf(run, model);
    const y = at.y(run.published * Math.exp(error));
    return {
      run, x: at.x(run.published), y: held(y, TOP, TOP + at.main), e: at.e(error),
      out: Math.abs(error) > MOST || y < TOP || y > TOP + at.main,
    };
  }

  return {
    element,
    /** Draw runs by a model; the other runs that it can predict stay as faint dots. */
    show(shown, model, width, says) {
      at = scales(width);
      places = shown.map((run) => placed(run, model));
      placeOf = new Map(places.map((place) => [place.run, place]));
      const rest = RUNS.filter((run) => !placeOf.has(run) && errorOf(run, model) !== null).map((run) => placed(run, model));
      const dots = rest.map((place) => `M${place.x.toFixed(1)} ${place.y.toFixed(1)}h0M${place.x.toFixed(1)} ${place.e.toFixed(1)}h0`);
      const marks = places.map((place) => {
        const kind = `k${place.run.kind}${place.out ? " out" : ""}`;
        return [
          h("path", { class: kind, d: mark(place.run.kind, place.x, place.y), "data-run": place.run.id }),
          h("path", { class: kind, d: mark(place.run.kind, place.x, place.e), "data-error": place.run.id }),
        ];
      });
      svg.setAttribute("width", width);
      svg.setAttribute("height", at.bottom + 36);
      svg.setAttribute("viewBox", `0 0 ${width} ${at.bottom + 36}`);
      svg.setAttribute("aria-label", says);
      element.setAttribute("aria-label", `${says} Left and right go through the runs by step time, up and down by error.`);
      svg.replaceChildren(h("g", { "aria-hidden": "true" }, ground(at)), h("path", { class: "rest", d: dots.join("") }),
        h("g", { class: "marks" }, marks), ring);
    },
    /** Put a ring round a run in both panels, and a line between them. */
    select(run, strong) {
      const place = placeOf.get(run);
      ring.replaceChildren();
      ring.setAttribute("class", strong ? "ring strong" : "ring");
      if (!place) return;
      const circle = (top) => h("path", { d: `M${place.x - 8} ${top}a8 8 0 1 0 16 0a8 8 0 1 0-16 0z` });
      ring.append(h("path", { class: "tie", d: `M${place.x} ${Math.min(place.y + 8, at.bottom)}V${at.bottom}` }),
        circle(place.y), circle(place.e));
    },
  };
}
