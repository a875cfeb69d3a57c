/** Why a layout is refused, in the words of the form. */

import { group } from "./format.js";

/** What the form calls a field that a refusal names. */
const LABELS = {
  global_batch_size: "batch B",
  micro_batch_size: "micro-batch b",
  num_layers: "layers",
  seq_length: "sequence s",
  num_experts: "experts",
  vpp: "chunks v",
  tp: "t",
  pp: "p",
  cp: "c",
  ep: "e",
  etp: "expert tensor parallel",
  dp: "d",
};
const AT_THE_START = { tp: "Tensor parallel t", pp: "Pipeline stages p", cp: "Context parallel c", ep: "Expert parallel e" };

/** A refusal, which names fields and schedules as Python does, in the words of the form. */
export function inLabels(sentence, data) {
  const titles = Object.fromEntries(data.schedules.map((one) => [one.key, one.title]));
  const names = new RegExp(`(?<![\\w-])(${Object.keys(titles).join("|")})(?![\\w-])`, "g");
  const fields = new RegExp(`\\b(${Object.keys(LABELS).join("|")})\\b( ?<?=)?`, "g");
  const signs = { "=": " = ", " <=": " ≤" };
  const said = sentence
    .replace(/^precision='(\w+)'/, "Matrix products in $1")
    .replace(/^schedule='([\w-]+)'/, "$1")
    .replace(names, (name) => titles[name])
    .replace(/ x etp=1\b/, "")
    .replace(/ x /g, " × ")
    .replace(/\b\d{4,}\b/g, group)
    .replace(fields, (_, name, sign = "", at) => ((at === 0 && AT_THE_START[name]) || LABELS[name]) + (signs[sign] ?? sign));
  return said[0].toUpperCase() + said.slice(1);
}
