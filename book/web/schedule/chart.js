/** One chart: names of GPUs, the timeline, what each holds, and what is pointed at. */

import { COLOURS, tiles } from "./canvas.js";
import { h, text } from "../shared/dom.js";
import { colours } from "../shared/theme.js";
import { across, axis, drawing } from "./draw.js";
import { geometry } from "./geometry.js";
import { at, chain, critical, heldAt, needed } from "./model.js";
import { num, summary } from "./words.js";

const MOST_SVG = 4000;
let serial = 0;

/** Make a chart; `on` has point(hit, click), key(event, down), scroll(x, y). */
export function chart(on) {
  serial += 1;
  const hatch = `hatch${serial}`;
  const heads = h("svg", { class: "heads", "aria-hidden": "true" });
  const side = h("svg", { class: "side", "aria-hidden": "true" });
  const boxes = h("svg", { class: "boxes", role: "img" });
  const over = h("svg", { class: "over", "aria-hidden": "true" });
  const scale = h("svg", { class: "axis", "aria-hidden": "true" });
  const plot = h("div", { class: "plot" }, boxes, over);
  const scroll = h("div", { class: "scroll", tabindex: -1 }, plot, scale);
  const element = h(
    "div",
    { class: "chart", tabindex: 0, role: "application", "aria-roledescription": "schedule chart" },
    heads,
    scroll,
    side,
  );
  let run;
  let g;
  let painted = null;
  let nows = [];

  function show(next, width, span, zoom, narrow, mostHeld) {
    run = next;
    g = { ...geometry(run, width, span, zoom, narrow, mostHeld), mostHeld };
    element.classList.toggle("down", narrow);
    element.setAttribute("aria-label", `${summary(run)} Arrow keys move from action to action.`);
    boxes.setAttribute("aria-label", summary(run));
    size(boxes, ...g.plot);
    size(over, ...g.plot);
    plot.style.cssText = `width:${g.plot[0]}px;height:${g.plot[1]}px`;
    painted?.stop();
    for (const old of plot.querySelectorAll("canvas")) old.remove();
    painted = null;
    if (run.boxes > MOST_SVG) {
      boxes.innerHTML = "";
      paint();
    } else {
      boxes.innerHTML = pattern(hatch) + drawing(run, g);
      boxes.classList.toggle("fine", (run.makespan / run.rows[0].length) * g.unit < 9);
      boxes.style.setProperty("--fill", `url(#${hatch})`);
    }
    frame();
    over.innerHTML =
      '<path class="crit"/><path class="chain"/><path class="need"/><path class="sel"/>' +
      '<rect class="veil"/><path class="head"/>';
    playhead(run.makespan);
    if (narrow) scroll.scrollTop = 0;
    else scroll.scrollLeft = 0;
  }

  /** Draw on bitmaps. */
  function paint() {
    painted = tiles(plot, run, g, colours(element, COLOURS), view);
  }

  /** Return the part of the time axis in view, in pixels. */
  function view() {
    const [start, length] = g.narrow
      ? [scroll.scrollTop, scroll.clientHeight || 480]
      : [scroll.scrollLeft, scroll.clientWidth || 700];
    return [start - 200, start + length + 200];
  }

  function frame() {
    const ranks = run.rows.map((_, rank) => rank);
    const every = Math.max(1, Math.ceil((g.narrow ? 22 : 13) / g.pitch));
    const shown = ranks.filter((rank) => rank % every === 0);
    const told = g.mostHeld ? shown : [];
    const middle = (rank) => rank * g.pitch + g.box / 2;
    const peak = (rank) => num(run.held[rank].peak, 1);
    if (g.narrow) {
      size(heads, g.breadth + 36, 18);
      heads.innerHTML = shown
        .map((r) => label(middle(r) + 34, 13, (g.pitch > 38 ? "GPU " : "") + r))
        .join("");
      if (g.pitch <= 38) heads.innerHTML += '<text x="12" y="13">GPU</text>';
      size(side, g.breadth + 36, 30);
      side.innerHTML =
        told.map((r) => label(middle(r) + 34, 13, peak(r), "now")).join("") +
        `<text x="${g.breadth / 2 + 34}" y="27" class="what"></text>`;
      size(scale, 34, g.length + 8);
      scale.innerHTML = axis(g);
    } else {
      const wide = g.plot[1] + 20;
      size(heads, g.heads, wide);
      heads.innerHTML = shown
        .map((r) => label(g.heads - 6, middle(r) + 4, `GPU ${r}`, "end"))
        .join("");
      size(side, g.side, wide);
      side.innerHTML =
        told.map((r) => label(6, middle(r) + 4, peak(r), "now")).join("") +
        `<text x="2" y="${wide - 5}" class="what"></text>`;
      size(scale, g.length + 1, 20);
      scale.innerHTML = axis(g);
    }
    nows = [...side.querySelectorAll(".now")].map((node, i) => [node, shown[i]]);
  }

  /** Draw the state of things at a time; the end shows peaks instead. */
  function playhead(time) {
    const done = time >= run.makespan - 1e-9;
    const veil = over.querySelector(".veil");
    const [x, y, w, height] = g.rect(0, Math.min(time, g.span), g.span, 0, g.breadth);
    place(veil, done ? [0, 0, 0, 0] : [x, y, w, height]);
    const [ax, ay] = g.point(time, 0);
    const [bx, by] = g.point(time, g.breadth);
    over.querySelector(".head").setAttribute("d", done ? "" : `M${ax} ${ay}L${bx} ${by}`);
    text(side.querySelector(".what"), nows.length ? (done ? "most" : "now") : "");
    for (const [node, rank] of nows) {
      text(node, num(done ? run.held[rank].peak : heldAt(run, rank, time), 1));
    }
  }

  /** Outline what is pointed at: the box, its micro-batch everywhere, what it needs. */
  function select(hit) {
    const box = hit?.box;
    const gap = hit?.gap;
    const source = box ? needed(run, box) : gap?.next ? needed(run, gap.next) : null;
    const own = box ? outline([box]) : gap ? frameOf(gap.rank, gap.from, gap.to) : "";
    set("sel", own);
    set("chain", box ? outline(chain(run, box.mb)) : "");
    set("need", source ? outline([source]) + link(source, box ?? gap.next) : "");
  }

  const set = (name, d) => over.querySelector(`.${name}`).setAttribute("d", d);
  const frameOf = (rank, from, to, span = [0, g.box]) => {
    const [low, high] = span;
    const [x, y, w, height] = g.rect(rank, from, to, low, high);
    return `M${x} ${y}h${w}v${height}h${-w}z`;
  };
  const outline = (list) =>
    list.map((box) => frameOf(box.rank, box.start, box.end, across(box, g))).join("");
  const link = (a, b) => {
    const [ax, ay] = g.point(a.end, a.rank * g.pitch + g.box / 2);
    const [bx, by] = g.point(b.start, b.rank * g.pitch + g.box / 2);
    return `M${ax} ${ay}L${bx} ${by}`;
  };

  function showPath(on) {
    if (!on) return set("crit", "");
    const path = critical(run);
    const links = path
      .slice(1)
      .map((box, i) => (box.rank === path[i].rank ? "" : link(path[i], box)));
    return set("crit", outline(path) + links.join(""));
  }

  /** Bring a time into view where the chart is zoomed. */
  function reveal(time) {
    const along = time * g.unit;
    const [from, to] = [view()[0] + 200, view()[1] - 200];
    const move = along < from + 20 || along > to - 60;
    if (move && g.narrow) scroll.scrollTop = along - (to - from) / 3;
    else if (move) scroll.scrollLeft = along - (to - from) / 3;
  }

  function hit(event) {
    const frame = plot.getBoundingClientRect();
    const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
    const [time, rank] = [g.time(x, y), g.rank(x, y)];
    const inside = rank >= 0 && rank < run.p && time >= 0 && time < run.makespan;
    const low = (g.narrow ? x : y) - rank * g.pitch < g.box / 2;
    return inside ? at(run, rank, time, low) : null;
  }

  plot.addEventListener("pointermove", (event) => on.point(hit(event), false));
  plot.addEventListener("pointerleave", () => on.point(null, false));
  plot.addEventListener("click", (event) => on.point(hit(event), true));
  element.addEventListener("keydown", (event) => on.key(event, g.narrow));
  scroll.addEventListener(
    "scroll",
    () => {
      painted?.show();
      on.scroll(scroll.scrollLeft, scroll.scrollTop);
    },
    { passive: true },
  );
  return {
    element,
    show,
    select,
    playhead,
    showPath,
    reveal,
    scrollTo: (x, y) => {
      if (scroll.scrollLeft !== x || scroll.scrollTop !== y) scroll.scrollTo(x, y);
    },
  };
}

function size(svg, width, height) {
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
}

function place(rect, [x, y, width, height]) {
  for (const [name, value] of Object.entries({ x, y, width, height }))
    rect.setAttribute(name, value);
}

const label = (x, y, words, kind = "") => `<text x="${x}" y="${y}" class="${kind}">${words}</text>`;

const pattern = (id) =>
  `<defs><pattern id="${id}" width="6" height="6" patternUnits="userSpaceOnUse">` +
  '<path class="hatch" d="M-1 1 1-1M0 6 6 0M5 7 7 5"/></pattern></defs>';
