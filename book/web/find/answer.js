/** The words and tables under the picture. */

import { h, text } from "../shared/dom.js";
import { gb, group, likely, seconds } from "../explorer/format.js";
import { explorerLink, inNumbers, inWords, named, percent } from "./layouts.js";

const SHOWN = 10;
/** A reason names fields as the package does; the page has words for them. */
const inPlainWords = (reason, { words }) =>
  reason.replace(/\b[a-z_]+\b/g, (word) => (Object.hasOwn(words, word) ? words[word] : word));

/** The sentence over the picture: the best, how sure, what ties with it. */
export function verdict(result) {
  const [best] = result.best;
  if (!best) return nothing(result);
  const ends = result.interval;
  const sure = ends ? ` (nine in ten: ${seconds(ends.low_s)} to ${seconds(ends.high_s)})` : "";
  return [
    h("strong", { "data-out": "best" }, `${seconds(best.seconds)} a step`),
    `${sure} with ${inWords(best, result.settings)}: ${gb(best.bytes)} of ${gb(result.limit)} GB`,
    best.chance === null ? "." : `, which fits with a chance of ${likely(best.chance)}.`,
    result.unsure ? ` No layout fits with ${percent(result.unsure)}, none is sure: of the most likely this one is the fastest and stands alone.` : "",
  ];
}

function nothing({ leanest, limit, settings, dropped }) {
  if (!leanest) {
    const why = dropped[0] ? `Most fell out by ${inPlainWords(dropped[0][0], settings)}.` : "";
    return [h("strong", {}, "No layout can be cut."), ` ${why} Try another count of GPUs or batch.`];
  }
  const times = (leanest.bytes / limit).toFixed(1);
  return [
    h("strong", {}, "Nothing fits."),
    ` The leanest layout needs ${gb(leanest.bytes)} of ${gb(limit)} GB (${times} times): ${inWords(leanest, settings)}.`,
  ];
}

/** What ties with the best, and which of them has the most room. */
export function tieSentence(result) {
  const ties = result.best.slice(0, result.ties);
  if (ties.length < 2) return "No other layout comes within the error of the model.";
  const roomy = ties.reduce((a, b) => (b.bytes < a.bytes ? b : a));
  const many = ties.length >= result.best.length ? `${group(ties.length)} or more` : group(ties.length);
  const within = `within ${percent(result.share)}, which the model cannot tell apart`;
  const room = `The roomiest of them: ${inNumbers(roomy, result.limit)} (${inWords(roomy, result.settings)}).`;
  return `${many} layouts tie (${within}). ${room}`;
}

/** Return the table of the fastest, each with its link to the explorer. */
export function makeTable(page) {
  const head = h("tr", {});
  const body = h("tbody", {});
  const caption = h("caption", {});
  const element = h(
    "div",
    { class: "sf-scroll", tabindex: 0, role: "group", "aria-label": "The fastest layouts, scrolls sideways" },
    h("table", { class: "sf-table" }, caption, h("thead", {}, head), body),
  );
  const th = (word) => h("th", { scope: "col" }, word);

  function show(result) {
    const list = result.best.slice(0, SHOWN);
    const all = list.map((one) => named(one, result.settings));
    const used = result.settings.columns.filter(([key]) => key === "tp" || all.some((one) => one[key] !== all[0][key] || one[key] > 1));
    text(caption, list.length ? `The ${list.length} fastest; = ties with the first` : "No layout fits");
    head.replaceChildren(...["step", "GB", "fits", ...used.map(([, word]) => word), "redone"].map(th));
    body.replaceChildren(
      ...list.map((one, at) => {
        const cut = all[at];
        const mark = at && at < result.ties ? "= " : "";
        const again = cut.recompute === "none" ? "no" : cut.recompute;
        const link = h("a", { href: explorerLink(page, one, result) }, seconds(one.seconds));
        return h(
          "tr",
          {},
          h("th", { scope: "row" }, mark, link),
          h("td", {}, gb(one.bytes)),
          h("td", {}, one.chance === null ? "–" : likely(one.chance)),
          used.map(([key]) => h("td", {}, `${group(cut[key])}${key === "tp" && cut.sp ? " + SP" : ""}`)),
          h("td", {}, again),
        );
      }),
    );
  }
  return { element, show };
}

/** Return the list of why layouts fell out, each with its share. */
export function makeDropped() {
  const list = h("ul", { class: "sf-dropped" });
  const total = h("p", { class: "sf-total", "data-out": "total" });
  const element = h("details", { open: true }, h("summary", {}, "Why the rest fell out"), total, list);

  function show({ dropped, counts, question, settings, elapsed_ms, done }) {
    const chance = Number(question.fits);
    const fitting = chance ? `fit with ${percent(chance)} and more` : "fit in memory";
    const fits = `${group(counts.fitting)} ${fitting}`;
    const timed = done ? ` in ${seconds(elapsed_ms / 1000)}` : "";
    text(total, `${group(counts.evaluated)} layouts timed${timed}; ${fits}.`);
    const most = Math.max(...dropped.map(([, count]) => count), 1);
    list.replaceChildren(
      ...dropped.map(([reason, count]) => {
        const bar = h("i", { "aria-hidden": "true" });
        bar.style.inlineSize = `${Math.max((100 * count) / most, 0.5)}%`;
        return h("li", {}, h("span", {}, `${group(count)} `, inPlainWords(reason, settings)), bar);
      }),
    );
  }
  return { element, show };
}

/** The command that searches the same. */
export function command({ model, gpu, n, batch, seq, precision, fits, stack, date, net }, usual) {
  const words = ["steptime search", `--model ${model === "own" ? "config.json" : model}`];
  words.push(`--accelerator ${gpu} --gpus ${n}`, `--global-batch-size ${batch} --seq-length ${seq}`);
  if (precision !== "bf16") words.push(`--precision ${precision}`);
  if (stack) words.push(`--stack ${stack}`);
  if (date) words.push(`--date ${date}`);
  if (net) words.push(`--network-gbit ${net}`);
  if (fits !== usual) words.push(`--fits-with ${fits}`);
  return words.join(" ");
}
