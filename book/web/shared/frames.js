/** A figure in frames: Play or step; tiles go where Python has put them. */

import { text } from "./dom.js";

/** Seconds that a frame is held while it plays. */
const HOLD = 2.6;

/** Take over an element; return what a test may ask for. */
export function frames(root, data) {
  const find = (name) => root.querySelector(name);
  const [told, play, back, next] = [".told", "[data-play]", "[data-back]", "[data-next]"].map(find);
  const tiles = [...root.querySelectorAll("[data-tile]")];
  const last = data.frames.length - 1;
  let at = 0;
  let timer = 0;

  function show() {
    const { says, places } = data.frames[at];
    for (const tile of tiles) {
      const place = places[tile.dataset.tile];
      tile.classList.toggle("gone", !place);
      if (place) tile.style.transform = `translate(${place[0]}px,${place[1]}px)`;
    }
    text(told, `${at + 1} of ${last + 1}: ${says}`);
    back.disabled = at === 0;
    next.disabled = at === last;
    text(play, timer ? "❚❚ Pause" : at === last ? "↻ Again" : "▶ Play");
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
  }

  function go(to) {
    stop();
    at = Math.max(0, Math.min(last, to));
    show();
  }

  function onward() {
    at += 1;
    if (at === last) stop();
    show();
  }

  function toggle() {
    if (timer) return go(at);
    at = at === last ? 0 : at + 1;
    if (at < last) timer = setInterval(onward, HOLD * 1000);
    return show();
  }

  play.addEventListener("click", toggle);
  back.addEventListener("click", () => go(at - 1));
  next.addEventListener("click", () => go(at + 1));
  new IntersectionObserver(([entry]) => {
    // Nobody looks: it waits where it is.
    if (entry.isIntersecting || !timer) return;
    go(at);
  }).observe(root);
  show();
  return { go, last };
}
