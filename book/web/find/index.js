/** Start the search on a page that has an element with the id "find". */

import { h, text } from "../shared/dom.js";
import { liveRegion } from "../shared/live.js";
import { script } from "../shared/script.js";
import { group } from "../explorer/format.js";
import { command, makeDropped, makeTable, tieSentence, verdict } from "./answer.js";
import { makeClient } from "./client.js";
import { makeForm } from "./form.js";
import { explorerLink, inNumbers, inWords, named } from "./layouts.js";
import { makeOpen } from "./open.js";
import { makePlot } from "./plot.js";

/** A search that is done sooner shows no bar. */
const BAR_AFTER_MS = 250;
const TYPING_MS = 300;

export function mount(element, worker) {
  const page = element.querySelector("[data-explorer]").dataset.explorer;
  const place = element.querySelector(".sf-answer");
  const live = liveRegion();
  const head = h("p", { class: "sf-verdict", "data-out": "verdict" });
  const ties = h("p", { class: "sf-ties", "data-out": "ties" });
  const bar = h("progress", { max: 1, "aria-label": "Searched so far" });
  const stop = h("button", { type: "button", onclick: cancel }, "Stop");
  const work = h("p", { class: "sf-work", hidden: true }, bar, stop);
  const detail = h("p", { class: "sf-detail", "data-out": "detail" });
  const plot = makePlot(pick);
  const table = makeTable(page);
  const fallen = makeDropped();
  const code = h("code", {});
  const says = "On the command line, which also tries other layers at the pipeline's ends: ";
  const told = h("p", { class: "sf-command" }, says, code);
  const form = makeForm(element.querySelector("form"), later);
  const usual = element.querySelector("[name=fits] [selected]").value;
  const client = makeClient(worker, show);
  const open = makeOpen(client.open);
  // What is refused has none of these: those of the question before would pass for its own.
  const ofAnswer = [table.element, fallen.element, told];
  let result = null;
  let chosen = null;
  let waiting = 0;
  let began = 0;

  function later() {
    clearTimeout(waiting);
    waiting = setTimeout(start, TYPING_MS);
  }

  function start() {
    const { question, refused } = form.question();
    client.stop();
    work.hidden = true;
    if (refused) return refuse(refused);
    form.address(question);
    text(code, command(question, usual));
    began = performance.now();
    element.setAttribute("aria-busy", "true");
    return client.ask(question);
  }

  function refuse(why) {
    result = null;
    element.removeAttribute("aria-busy");
    head.replaceChildren(why);
    live.say(why);
    for (const one of [ties, detail]) one.replaceChildren();
    for (const one of ofAnswer) one.hidden = true;
    plot.show(null);
    open.start(null);
  }

  function cancel() {
    client.stop();
    clearTimeout(waiting);
    work.hidden = true;
    element.removeAttribute("aria-busy");
    const { rows, all } = result?.counts ?? { rows: 0, all: 1 };
    text(ties, `Stopped after ${Math.round((100 * rows) / all)} % of the layouts: a better one may be among the rest.`);
  }

  function show(message) {
    if (message.refused) return refuse(message.refused);
    if (message.open !== undefined) return open.show(message.open);
    result = message;
    chosen = null;
    const { rows, all } = message.counts;
    bar.value = all ? rows / all : 1;
    work.hidden = message.done || performance.now() - began < BAR_AFTER_MS;
    head.replaceChildren(...verdict(message).flat());
    const so = `So far: ${group(message.counts.evaluated)} layouts timed.`;
    text(ties, message.done ? (message.best.length ? tieSentence(message) : "") : so);
    plot.choose(null);
    plot.show(message);
    table.show(message);
    fallen.show(message);
    for (const one of ofAnswer) one.hidden = false;
    open.start(message);
    if (message.best.length) describe(message.best[0], "The fastest");
    else detail.replaceChildren();
    if (!message.done) return undefined;
    element.removeAttribute("aria-busy");
    live.say(`${head.textContent} ${ties.textContent}`);
    performance.mark("search-done");
    return undefined;
  }

  function describe(found, word) {
    const link = h("a", { href: explorerLink(page, found, result) }, "Open it in the explorer");
    const { zero, dp, cp, copies } = named(found, result.settings);
    const software = result.software[zero > 2 && dp * cp > copies ? 1 : 0];
    const words = `${inNumbers(found, result.limit)}: ${inWords(found, result.settings)}. ${result.question.stack ? "Software" : "Assumed"}: ${software}. `;
    const more = ": there stands what was assumed.";
    detail.replaceChildren(h("b", {}, `${word}: `), words, link, more);
  }

  /** Look at a layout, or take it; taken twice it opens in the explorer. */
  function pick(found, how) {
    if (!result?.best.length) return;
    if (how === "take") {
      if (found && found === chosen) {
        location.href = explorerLink(page, found, result);
        return;
      }
      chosen = found;
      plot.choose(found);
      if (found) live.say(`${inNumbers(found, result.limit)}: ${inWords(found, result.settings)}`);
    }
    const one = found ?? chosen;
    describe(one ?? result.best[0], one ? "This layout" : "The fastest");
  }

  place.replaceChildren(head, work, ties, plot.element, plot.legend, detail, table.element, open.element, fallen.element, told, live.element);
  start();
  return { result: () => result };
}

const element = document.getElementById("find");
if (element && script) globalThis.stSearch = mount(element, new URL("worker.js", script).href);
