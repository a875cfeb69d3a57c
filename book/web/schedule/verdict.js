/** The sentences round the picture: verdict, facts, key, story. All come from one run. */

import { h, text } from "../shared/dom.js";
import { samePicture, STORIES } from "./state.js";
import * as words from "./words.js";

const bold = (name, value) => `<b data-out="${name}">${value}</b>`;
const plain = (name, value) => `<span data-out="${name}">${value}</span>`;

/** Make the sentences; `reset()` goes back to the story that was changed. */
export function verdict(reset) {
  const first = h("p", { class: "verdict" });
  const second = h("p", { class: "verdict second", hidden: true });
  const info = h("p", { class: "info" });
  const told = h("p", { class: "told" });
  const legend = h("p", { class: "legend" });
  const command = h("code", {});

  /** Show runs; `named` where the reader could take the first for another schedule. */
  function show(state, runs, named, asked, narrow) {
    const found = words.outputs(runs[0]);
    const name = words.title(runs[0].name);
    const idle = bold("idle", found.idle);
    first.innerHTML =
      `<span>${named ? name : "Idle"}: ${idle} ${named ? "idle" : "of GPU time"}</span> ` +
      `<span>step ${bold("step", found.step)}</span>` +
      (state.h ? ` <span>peak ${bold("peak", found.peak)}</span>` : "");
    info.innerHTML =
      `${narrow ? "Columns are GPUs, time runs down" : "Rows are GPUs, time runs right"}. ${name}, ${words.sizes(runs[0])}: ${plain("idle-units", found["idle-units"])} of ` +
      `${plain("all-units", found["all-units"])} GPU-units idle. ` +
      `Papers often quote idle over ideal time: ${plain("overhead", found.overhead)}. ` +
      `${plain("sends", found.sends)} messages a step.` +
      (state.h ? "" : ` A GPU holds ${plain("peak", found.peak)} at most.`) +
      (words.about(runs[0].name).copies ? " Two copies of the weights." : "");
    second.hidden = !runs[1];
    if (runs[1]) {
      const other = words.outputs(runs[1]);
      second.innerHTML =
        `<span>${words.title(runs[1].name)}: ${bold("idle2", other.idle)} idle</span> ` +
        `<span>step ${bold("step2", other.step)}</span> <span>peak ${bold("peak2", other.peak)}</span>`;
    }
    legend.innerHTML = words.legend(runs, state);
    text(command, words.command(asked, runs[0]));
    told.replaceChildren(...story(state, runs[0], found));
  }

  function story(state, run, found) {
    const chosen = STORIES[state.st - 1];
    if (!chosen) return [words.about(run.name).idea];
    if (!samePicture(chosen, state)) {
      const button = h("button", { type: "button", class: "reset", onclick: reset }, "Reset");
      return [`Story ${state.st}, changed. `, button];
    }
    const pieces = words.TELL[state.st - 1][1].split(/[[\]]/);
    return pieces.map((one, i) => (i % 2 ? h("b", { "data-says": one }, found[one]) : one));
  }

  return { first, second, info, told, legend, command, show };
}
