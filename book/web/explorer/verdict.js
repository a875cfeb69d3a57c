/** The verdict: does it fit, what is in the way, and the smallest way out. */

import { fill, h, text } from "./dom.js";
import { digits, gb, likely } from "./format.js";
import { MEMORY_PARTS } from "./outs.js";

const MARKS = { fits: "✓", tight: "≈", unlikely: "?", over: "✕", never: "⊘" };
const VERDICT_WORDS = {
  fits: "Fits",
  tight: "Fits tightly",
  unlikely: "Likely does not fit",
  over: "Does not fit",
  never: "Not possible",
};

/** The kind of verdict that a sentence of the model is: it is worded alike wherever it is asked. */
const verdictKind = (outlook) => Object.keys(VERDICT_WORDS).find((kind) => VERDICT_WORDS[kind].toLowerCase() === outlook);

/** Make the verdict; `show` writes it, `note` adds a remark, `words` says it. */
export function makeVerdict(actions) {
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

  function show({ answer, why, way, numbers, change: moved, pinned }) {
    const kind = answer.refused ? "never" : verdictKind(answer.memory.outlook);
    element.dataset.verdict = kind;
    text(mark, MARKS[kind]);
    text(head, VERDICT_WORDS[kind]);
    remark.hidden = true;
    if (answer.refused) {
      text(rest, "");
      text(detail, `${why}.`);
    } else {
      writeFit(answer, numbers, kind);
    }
    offer(way);
    text(change, moved ? `${pinned ? "Against the outline: " : "Changed: "}${moved}` : "");
    bar.dataset.verdict = kind;
    text(sign, MARKS[kind]);
    text(short, VERDICT_WORDS[kind]);
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
