/** What every number on the page rests on, in words. */

import { digits, percent } from "./format.js";

/** The words under an answer: what was assumed, how far it may be off, and where sizes were read. */
export function restsOn(answer, data) {
  return `${assumed(answer)} ${memoryError(data.memory, answer.state)} ${sources(answer.state, data)}`;
}

/** What every number rests on, in words. */
function assumed(answer) {
  const { model } = answer.chosen;
  const { facts, unshared } = answer.memory;
  const [weights, gradients, all] = [facts.weight_bytes, facts.gradient_bytes, unshared].map(digits);
  const held = `weights of ${weights} bytes, gradients of ${gradients}, with Adam's states ${all} bytes a parameter before sharding`;
  return (
    `An estimate, not a measurement. Assumed: ${answer.software.title}; ${held}; ${facts.flash ? "flash attention" : "stored scores"}; no stops. ` +
    `Step by the ${model.name.toLowerCase()} model: ${model.says}. ${errorWords(answer.chosen)}`
  );
}

function memoryError({ rows, mean }, state) {
  const taken = state.stack ? "" : "; the page takes the usual software";
  return `Memory: ${rows} published peaks were ${percent(mean)} away on average, each with its own software's facts${taken}.`;
}

/** Where the sizes of the model and of the accelerator were read. */
function sources(state, data) {
  const model = data.models.find((one) => one.key === state.model);
  const gpu = data.accelerators.find((one) => one.key === state.gpu);
  const ran = model?.published ? ` Published layout: ${model.published.id} (${model.published.source}) in published_runs.csv.` : "";
  return `Sizes: ${model ? model.source : "yours"}; ${gpu.source}.${ran}`;
}

/** How far the model was from published runs, in words. */
function errorWords({ model, low, high, total }) {
  if (!model.widths) {
    return `It has no interval; on ${model.rows} published runs, asked as in §11, it was ${percent(model.mean)} away on average.`;
  }
  if (low === null) return "No published run is like this one.";
  const fast = Math.round((1 - low / total) * 100);
  const slow = Math.round((high / total - 1) * 100);
  return `Nine in ten published runs that were left out of its fit lay within ${fast} % less and ${slow} % more time.`;
}
