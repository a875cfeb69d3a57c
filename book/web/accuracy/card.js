/** What is known of one run: who, how long, where the time went, from where, what was assumed. */

import { h } from "../shared/dom.js";
import { errorOf, PARTS, predicted } from "./model.js";
import { capital, noted, onWhat, PART_NAMES, percent, seconds, signed } from "./words.js";

/** The parts of a run's step, in order, without those under half a percent. */
function partsOf(run, model) {
  const all = (PARTS[model] ?? []).map((name, i) => [name, run.shares[model][i] / 1000]);
  return all.filter(([, share]) => share >= 0.005);
}

/** A run in one sentence, for those who hear it. */
export function sentence(run, model) {
  return `${run.model} on ${onWhat(run)}, ${run.sourceName}: published ${seconds(run.published)}, ` +
    `predicted ${seconds(predicted(run, model))}, error ${signed(errorOf(run, model))}.`;
}

function bar(run, model) {
  const parts = partsOf(run, model);
  if (!parts.length) return h("p", { class: "soft" }, "This model does not say here where the time goes.");
  const says = parts.map(([name, share]) => `${PART_NAMES[name]} ${percent(share, share < 0.1 ? 1 : 0)}`);
  return [
    h("div", { class: "bar", role: "img", "aria-label": `Where the predicted step goes: ${says.join(", ")}` },
      parts.map(([name, share]) => h("i", { class: `p-${name}`, style: `flex-grow:${1000 * share}`, "data-part": name }))),
    h("ul", { class: "parts", "aria-hidden": "true" },
      parts.map(([name], i) => h("li", {}, h("i", { class: `p-${name}` }), says[i]))),
  ];
}

/** Return the card of a run; `why` says how it came to be shown. */
export function card(run, model, why) {
  if (!run) return [h("p", { class: "soft" }, "No run to show.")];
  const source = run.url ? h("a", { href: run.url }, run.title) : run.title;
  return [
    h("p", { class: "who" }, h("b", { "data-out": "run" }, run.model), ` on ${onWhat(run)}`, why && h("span", { class: "why" }, why)),
    h("p", { class: "nums" },
      h("span", {}, "published ", h("b", { "data-out": "published" }, seconds(run.published))),
      h("span", {}, "predicted ", h("b", { "data-out": "predicted" }, seconds(predicted(run, model)))),
      h("span", {}, "error ", h("b", { "data-out": "error" }, signed(errorOf(run, model))))),
    bar(run, model),
    h("dl", {},
      h("dt", {}, "Layout"), h("dd", {}, `${run.layout}; ${run.batch}`),
      h("dt", {}, "Source"), h("dd", {}, source, `, ${run.place}`),
      h("dt", {}, "Assumed"), h("dd", {}, run.assumed.length ? `${run.assumed.map(noted).join("; ")}.` : "Nothing: the source tells all that the model needs."),
      model === "roofline" && run.cause && [h("dt", {}, "Likely cause"), h("dd", {}, `${capital(run.cause)}.`)]),
  ];
}
