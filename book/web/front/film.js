/** The picture's clock: it moves the playhead, the veil over what is to come, and one sentence. */

import { text } from "../shared/dom.js";
import { calm } from "../shared/theme.js";

const UNITS_A_SECOND = 2.6;
/** Seconds that each moment is held where motion is not wanted. */
const HOLD = 2;

/** Play `data.moments` in every picture of `root`; return what a test may ask for. */
export function film(root, data, say) {
  const pictures = [...root.querySelectorAll(".play svg")].map(parts);
  const button = root.querySelector("[data-play]");
  let time = data.stop;
  let frame = 0;
  let last = 0;
  let seen = true;
  let playing = false;

  const done = () => time >= data.span;
  const moment = () => data.moments.find((one) => time < one.to) ?? null;

  function draw() {
    const now = moment();
    for (const one of pictures) one.draw(time, now, data);
    text(button, playing ? "❚❚ Pause" : done() ? "↻ Again" : "▶ Play");
  }

  function step(now) {
    const passed = (now - last) / 1000;
    if (calm()) {
      // No motion: each moment as it ends, one after the other.
      if (passed < HOLD) return ask();
      const next = moment();
      const after = data.moments[data.moments.indexOf(next) + 1];
      time = after ? Math.min(after.to - 0.5, data.span) : data.span;
    } else time = Math.min(data.span, time + Math.min(0.1, passed) * UNITS_A_SECOND);
    last = now;
    if (done()) playing = false;
    draw();
    if (done()) say("Played to the end.");
    else ask();
    return undefined;
  }

  function ask() {
    frame = playing && seen && !document.hidden ? requestAnimationFrame(step) : 0;
  }

  function toggle() {
    playing = !playing;
    if (playing && done()) time = 0;
    last = performance.now();
    cancelAnimationFrame(frame);
    draw();
    if (playing) ask();
    else say(moment()?.says ?? "");
  }

  const wake = () => {
    if (!playing || frame) return;
    last = performance.now();
    ask();
  };
  button.addEventListener("click", toggle);
  document.addEventListener("visibilitychange", wake);
  new IntersectionObserver(([entry]) => {
    seen = entry.isIntersecting;
    if (seen) return wake();
    cancelAnimationFrame(frame);
    frame = 0;
    return undefined;
  }).observe(pictures[0].svg.parentElement);
  return {
    get time() {
      return time;
    },
    get playing() {
      return playing;
    },
    go(to) {
      time = to;
      draw();
    },
  };
}

/** Return one picture and what draws it at a time. */
function parts(svg) {
  const unit = Number(svg.dataset.unit);
  const left = Number(svg.dataset.left);
  const find = (name) => svg.querySelector(name);
  const [veil, wait, head, says] = [".veil", ".wait", ".head", ".says"].map(find);
  const first = Number(wait.getAttribute("y"));
  const rows = [...svg.querySelectorAll(".idle")].map((row) => row.getAttribute("y"));
  const width = svg.viewBox.baseVal.width;

  function draw(time, now, data) {
    const x = left + unit * time;
    veil.setAttribute("x", x);
    veil.setAttribute("width", Math.max(0, width - x));
    head.setAttribute("transform", `translate(${x} 0)`);
    const over = time >= data.span;
    head.style.visibility = over ? "hidden" : "visible";
    const gap = now?.wait;
    wait.setAttribute("y", gap ? rows[gap[0]] : first);
    wait.setAttribute("x", gap ? left + unit * gap[1] : left);
    wait.setAttribute("width", gap ? Math.max(0, unit * (Math.min(gap[2], time) - gap[1])) : 0);
    text(says, over ? "" : (now?.says ?? ""));
    // Under the playhead where there is room, and never out of the picture.
    const room = width - says.getComputedTextLength();
    says.setAttribute("x", Math.max(0, Math.min(x - 3, room)));
  }
  return { svg, draw };
}
