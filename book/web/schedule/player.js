/** The clock: plays, pauses, steps; draws nothing itself and stops where nobody looks. */

import { calm } from "../shared/theme.js";

/** Seconds a whole play takes at most, and a unit of time at least. */
const WHOLE = 20;
const UNIT = 0.3;
const CALM_STEP = 0.8;

/**
 * Make a clock. `span()` is the end, `step(time, forward)` the next moment at which
 * something happens; `tick(time)` is called after each move, `changed()` when it starts or
 * stops, `moved()` when the reader took it elsewhere.
 */
export function player({ element, span, step, tick, changed, moved }) {
  let time = Infinity;
  let speed = 1;
  let frame = 0;
  let last = 0;
  let seen = true;

  const rate = () => Math.max(1 / UNIT, span() / WHOLE) * speed;
  const done = () => time >= span() - 1e-9;

  function go(to) {
    time = Math.max(0, Math.min(to, span()));
    if (time >= span() - 1e-9) time = Infinity;
    tick(Math.min(time, span()));
  }

  function loop(now) {
    const passed = Math.min(0.1, (now - last) / 1000);
    if (calm()) {
      // No motion between moments: hold each one, then show the next.
      if (now - last < (CALM_STEP * 1000) / speed) return ask();
      go(step(time, true));
    } else go(time + passed * rate());
    last = now;
    if (done()) return stop();
    return ask();
  }

  function ask() {
    frame = seen && !document.hidden ? requestAnimationFrame(loop) : 0;
  }

  function play() {
    if (frame || playing) return;
    if (done()) go(0);
    playing = true;
    last = performance.now();
    ask();
    changed();
  }

  function stop() {
    cancelAnimationFrame(frame);
    frame = 0;
    if (!playing) return;
    playing = false;
    changed();
  }

  /** Stop, and go where the reader wants. */
  function seek(to) {
    stop();
    go(to);
    moved();
  }

  let playing = false;
  const wake = () => {
    if (playing && !frame) {
      last = performance.now();
      ask();
    }
  };
  new IntersectionObserver(([entry]) => {
    seen = entry.isIntersecting;
    if (seen) wake();
    else {
      cancelAnimationFrame(frame);
      frame = 0;
    }
  }).observe(element);
  document.addEventListener("visibilitychange", wake);

  return {
    play,
    stop,
    go,
    toggle: () => (playing ? stop() : play()),
    step: (forward) => seek(step(Math.min(time, span()), forward)),
    seek,
    set speed(value) {
      speed = value;
    },
    get playing() {
      return playing;
    },
    get time() {
      return Math.min(time, span());
    },
    get done() {
      return done();
    },
  };
}
