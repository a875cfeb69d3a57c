/** The verdict: does it fit, what is in the way, and the smallest way out. */

import { fill, h, text } from "./dom.js";
import { digits, gb, group, likely } from "./format.js";
import { MEMORY_PARTS } from "./outs.js";

const MARKS = { fits: "✓", tight: "≈", unlikely: "?", over: "✕", never: "⊘" };
const WORDS = {
  fits: "Fits",
  tight: "Fits tightly",
  unlikely: "Likely does not fit",
  over: "Does not fit",
  never: "Not possible",
};

/** The kind of verdict that a sentence of the model is: it is worded alike wherever it is asked. */
const kindOf = (outlook) => Object.keys(WORDS).find((kind) => WORDS[kind].toLowerCase() === outlook);

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

/** Make the verdict; `show` writes it, `note` adds a remark, `words` says it. */
export function makeVerdict(actions, data) {
  const mark = h("span", { class: "sign", "aria-hidden": "true" });
  const head = h("strong", { "data-out": "verdict" });
  const rest = h("span", { class: "verdict-rest", "data-out": "verdict-rest" });
  const detail = h("span", { "data-out": "detail" });
  const button = h("button", { type: "button", class: "way", "data-out": "way", hidden: true });
  const change = h("p", { class: "change", "data-out": "change" });
  const remark = h("p", { class: "remark", "data-out": "note", hidden: true });
  const gauge = h("span", { class: "gauge", "aria-hidden": "true" }, h("i"));
  const element = h(
    "div",
    { class: "verdict" },
    h("p", { class: "verdict-line" }, mark, head, " ", rest),
    gauge,
    h("p", { class: "verdict-detail" }, detail, " ", button),
    change,
    remark,
  );
  // The same in a line, for when the whole is too tall to stay in view.
  const sign = h("span", { class: "sign" });
  const short = h("strong", {});
  const size = h("span", {});
  const bar = h("div", { class: "verdict-bar", "aria-hidden": "true" }, h("p", {}, sign, short, " ", size));
  let target = null;
  button.addEventListener("click", () => target && actions.take(target, "way"));

  function show({ answer, way, numbers, change: moved, pinned }) {
    const kind = answer.refused ? "never" : kindOf(answer.memory.outlook);
    element.dataset.verdict = kind;
    text(mark, MARKS[kind]);
    text(head, WORDS[kind]);
    remark.hidden = true;
    if (answer.refused) {
      text(rest, "");
      text(detail, `${inLabels(answer.refused.text, data)}.`);
    } else {
      writeFit(answer, numbers, kind);
    }
    offer(way);
    text(change, moved ? `${pinned ? "Against the outline: " : "Changed: "}${moved}` : "");
    bar.dataset.verdict = kind;
    text(sign, MARKS[kind]);
    text(short, WORDS[kind]);
    text(size, answer.refused ? "" : `${gb(answer.memory.total)} of ${gb(answer.memory.limit)} GB`);
    gauge.firstChild.style.width = `${Math.min(100, (answer.memory?.share ?? 0) * 80)}%`;
  }

  function offer(way) {
    target = way?.to ?? null;
    button.hidden = !way;
    if (!way) return;
    const then = way.memory ? ` (${gb(way.memory.total)} GB)` : "";
    text(button, `Try ${way.text}${then}`);
  }

  /** Offer what a longer search found, or say that it found nothing. */
  function showWay(way) {
    offer(way);
    if (!way) detail.append(" No change of one or two inputs makes it fit.");
  }

  function writeFit(answer, numbers, kind) {
    const { memory, job } = answer;
    const times = kind === "over" ? ` (${digits(memory.share)}×)` : "";
    const chance = kind === "over" ? "" : `; chance that it fits: ${likely(memory.chance)}`;
    text(rest, `${gb(memory.total)} of ${gb(memory.limit)} GB on the fullest GPU${times}${chance}`);
    const full = memory.stages[memory.worst];
    const [key, word] = MEMORY_PARTS.reduce((most, one) => (full[one[0]] > full[most[0]] ? one : most));
    const shape = ` GPUs = t ${job.tp} × c ${job.cp} × p ${job.pp} × d ${job.dp}`;
    const time = `${kind === "over" ? "If it fitted, a" : "A"} step of ${numbers.step.text}, ${numbers.mfu.text} MFU (16-bit peak, attention in full), ${numbers.idle.text} idle.`;
    fill(
      detail,
      kind === "over" ? `Biggest part: ${word} ${numbers[key].text}. ` : `${time} `,
      h("span", { class: "shape" }, h("span", { "data-out": "gpus" }, numbers.gpus.text), shape),
    );
  }

  return {
    element,
    bar,
    show,
    showWay,
    note: (words) => {
      remark.hidden = false;
      text(remark, words);
    },
    words: () => `${head.textContent} ${rest.textContent}. ${detail.textContent}`,
  };
}
