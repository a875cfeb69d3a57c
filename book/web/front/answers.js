/** The answer beside the picture: every text was made by Python, and is only put in its place. */

import { text } from "../shared/dom.js";

/** Follow the two lists. */
export function answers(root, data, say) {
  const out = (name) => root.querySelector(`[data-out="${name}"]`);
  const card = root.querySelector(".yours");
  const [model, cluster] = card.querySelectorAll("select");
  const bars = [...card.querySelectorAll(".bar i")];

  const [explorer] = out("link").getAttribute("href").split("?");

  function show() {
    const told = data.answers[model.value][cluster.value];
    const fits = told.step !== undefined;
    card.classList.toggle("no", !fits);
    text(out("step"), fits ? told.step : "Does not fit");
    text(out("unit"), fits ? "a step" : "");
    text(out("range"), fits ? `likely ${told.range}` : `needs ${told.least}, a GPU has ${told.limit}`);
    const mark = document.createElement("b");
    mark.textContent = fits ? "Fits:" : "In any layout:";
    const words = fits ? ` ${told.memory} of ${told.limit} a GPU` : " take more GPUs, or a smaller model";
    out("fit").replaceChildren(mark, words);
    const shares = fits ? told.shares : data.groups.map(() => 0);
    shares.forEach((share, at) => {
      bars[at].style.width = `${(100 * share).toFixed(2)}%`;
      text(card.querySelector(`[data-share="${data.groups[at]}"]`), fits ? `${(100 * share).toFixed(0)} %` : "–");
    });
    const useful = `Useful: ${told.mfu} of the 16-bit peak (MFU, attention in full).`;
    const fastest = `Fastest of ${told.tried} layouts: ${told.layout || "no cut"}. ${useful}`;
    text(out("how"), fits ? fastest : `That is the leanest of ${told.tried} layouts.`);
    const size = `l.model=${model.value}&l.gpu=${data.devices[cluster.value]}`;
    out("link").href = `${explorer}?${size}&${told.ask}`;
    say(`${out("step").textContent} ${out("unit").textContent}. ${out("fit").textContent}.`);
  }

  model.addEventListener("change", show);
  cluster.addEventListener("change", show);
  // A browser may bring back what was chosen before.
  if (!model.selectedOptions[0].defaultSelected || !cluster.selectedOptions[0].defaultSelected) show();
}
